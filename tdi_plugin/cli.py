"""The `tdi` command: each subcommand lives beside what it runs; this file only finds it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from tdi_plugin import __version__
from tdi_plugin.errors import TDIError, choices

COMMANDS = {
    "train": ("tdi_plugin.train", "main", "train on the builtin S4D trainer (Hydra overrides)"),
    "spectrum": ("tdi_plugin.spectrum_cli", "main", "which frequencies do the labels live at?"),
    "s4": ("tdi_plugin.s4.cli", "main", "work with a state-spaces/s4 checkout: doctor, train, patch"),
    "sweep": ("tdi_plugin.sweep.cli", "main_sweep", "paired low-data studies, resumable"),
    "table": ("tdi_plugin.sweep.cli", "main_table", "tables and plots of a sweep's store"),
    "theory": ("tdi_plugin.kernel.cli", "main", "the SSM-induced kernel in numbers and pictures"),
}

HELP = f"""tdi {__version__}: task-dependent initialization for S4/S4D.

Will it help on my data?     tdi spectrum --data FILE.tsv
Train with it                tdi train experiment=tdi/ucr/ecg5000 tdi.train_ratio=0.02
Train without it             ... model.layer.init=diag-lin
Inside an s4 checkout        tdi s4 train PATH experiment=lra/s4-cifar model.layer.init=tdi

Commands (tdi COMMAND --help says more):
""" + "\n".join(f"  {name:<10}{text}" for name, (_, _, text) in COMMANDS.items())


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand; an error raised on purpose becomes one line on stderr and exit status 2."""
    args = list(sys.argv[1:] if argv is None else argv)
    if not args or args[0] in ("-h", "--help", "help"):
        print(HELP)
        return 0
    if args[0] in ("-V", "--version"):
        print(__version__)
        return 0
    name, rest = args[0], args[1:]
    if name not in COMMANDS:
        print(f"tdi: unknown command {name!r}: {choices(name, COMMANDS)}", file=sys.stderr)
        return 2
    module, function, _ = COMMANDS[name]
    try:
        return int(getattr(importlib.import_module(module), function)(rest) or 0)
    except TDIError as error:
        print(f"tdi {name}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"tdi {name}: stopped", file=sys.stderr)
        return 130
