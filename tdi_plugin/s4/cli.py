"""``tdi s4``: run, check and patch a checkout of state-spaces/s4."""

from __future__ import annotations

import argparse

from tdi_plugin.s4.paths import checkout

_TRAIN = """\
Run PATH/train.py, unchanged, on the packages installed here. Everything after PATH goes to Hydra:

  tdi s4 train PATH experiment=lra/s4-cifar model.layer.init=tdi
  tdi s4 train PATH experiment=tdi/ucr/ecg5000 tdi.train_ratio=0.02 trainer.accelerator=cpu
  tdi s4 train PATH experiment=lra/s4-listops model.layer.init=tdi +tdi.train_ratio=0.02 wandb=null

PATH may be left out where S4_ROOT is set or scripts/setup_s4.py has been run. Output goes to ./outputs.
"""

_PATCH = """\
Insert the registration of init: tdi and the callback into three files of s4, for a checkout that shall
carry the hook itself. With tdi-plugin installed it is not needed. Files that are not the known ones are
refused.
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
    doctor = commands.add_parser("doctor", help="check a checkout and what is installed around it")
    doctor.add_argument("path", nargs="?", metavar="PATH", help="folder of the checkout")
    patch = commands.add_parser(
        "patch",
        help="put the hook into s4's own source",
        description=_PATCH,
        epilog="Exit status of --check: 0 where every file is patched, 1 otherwise.",
    )
    patch.add_argument("path", nargs="?", metavar="PATH", help="folder of the checkout")
    way = patch.add_mutually_exclusive_group()
    way.add_argument("--check", action="store_true", help="only say where the files stand")
    way.add_argument("--reverse", action="store_true", help="take the patches out again")
    return parser


def main(argv: list[str]) -> int:
    """Run ``tdi s4 …``; returns the exit status."""
    if argv[:1] == ["train"] and len(argv) > 1 and argv[1] not in ("-h", "--help"):
        return _train(argv[1:])
    arguments = _parser().parse_args(argv)
    if arguments.command == "train":
        return _train([])
    if arguments.command == "doctor":
        from tdi_plugin.s4.doctor import report

        return report(arguments.path)
    return _patch(arguments.path, arguments.check, arguments.reverse)


def _patch(path: str | None, check: bool, reverse: bool) -> int:
    from tdi_plugin.s4.patch import apply, states

    root = checkout(path)
    written = [] if check else apply(root, reverse)
    for file, state in states(root).items():
        print(f"{state:8} {file}{'  (written)' if file in written else ''}")
    return int(check and set(states(root).values()) != {"patched"})


def _train(arguments: list[str]) -> int:
    from tdi_plugin.s4.launch import run

    path = None
    if arguments and "=" not in arguments[0] and not arguments[0].startswith(("-", "+", "~")):
        path, *arguments = arguments
    run(path, arguments)
    return 0
