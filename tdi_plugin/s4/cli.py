"""``tdi s4``: run, check and patch a checkout of state-spaces/s4."""

from __future__ import annotations

import argparse

_TRAIN = """\
Run PATH/train.py, unchanged, on the packages installed here. Everything after PATH goes to Hydra:

  tdi s4 train PATH experiment=lra/s4-cifar model.layer.init=tdi
  tdi s4 train PATH experiment=tdi/ucr/ecg5000 tdi.train_ratio=0.02 trainer.accelerator=cpu
  tdi s4 train PATH experiment=lra/s4-listops model.layer.init=tdi +tdi.train_ratio=0.02 wandb=null

PATH may be left out where S4_ROOT is set or scripts/setup_s4.py has been run. Output goes to ./outputs.
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tdi s4", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    train = commands.add_parser(
        "train",
        help="run s4's own train.py with Hydra overrides",
        description=_TRAIN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    train.add_argument("path", nargs="?", metavar="PATH", help="folder of the checkout")
    train.add_argument("overrides", nargs=argparse.REMAINDER, help="Hydra overrides, passed on as they are")
    return parser


def main(argv: list[str]) -> int:
    """Run ``tdi s4 …``; returns the exit status."""
    if argv[:1] == ["train"] and len(argv) > 1 and argv[1] not in ("-h", "--help"):
        return _train(argv[1:])
    arguments = _parser().parse_args(argv)
    if arguments.command == "train":
        return _train([])
    return 0


def _train(arguments: list[str]) -> int:
    from tdi_plugin.s4.launch import run

    path = None
    if arguments and "=" not in arguments[0] and not arguments[0].startswith(("-", "+", "~")):
        path, *arguments = arguments
    run(path, arguments)
    return 0
