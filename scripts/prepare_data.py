"""Write data sets that need no download.

    python scripts/prepare_data.py listops DATA/listops            # 96,000 / 2,000 / 2,000, some five minutes
    python scripts/prepare_data.py small DATA                      # tiny files in s4's formats, to try things

Neither is the published sample: ListOps is drawn anew from its published grammar, the small sets are made up.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tdi_plugin.data.listops_files import generate, write_listops
from tdi_plugin.data.native import write_small
from tdi_plugin.errors import TDIError


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = parser.add_subparsers(dest="kind", required=True)
    listops = kinds.add_parser("listops", help="basic_{train,val,test}.tsv from the ListOps grammar")
    listops.add_argument("folder", type=Path)
    sizes = (("train", 96000), ("val", 2000), ("test", 2000))
    grammar = (("min-length", 500), ("max-length", 2000), ("max-depth", 10), ("max-args", 10), ("seed", 0))
    for name, default in sizes + grammar:
        listops.add_argument(f"--{name}", type=int, default=default, help=f"default {default}")
    small = kinds.add_parser("small", help="tiny ListOps, CIFAR, AAN, IMDB and path images in s4's formats")
    small.add_argument("folder", type=Path)
    small.add_argument("--n", type=int, default=40, help="training items a set, default 40")
    small.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    try:
        if args.kind == "listops":
            lengths = args.min_length, args.max_length, args.max_depth, args.max_args
            write_listops(args.folder, generate((args.train, args.val, args.test), args.seed, *lengths))
            print(f"Wrote basic_train.tsv, basic_val.tsv and basic_test.tsv to {args.folder}")
        else:
            for folder in write_small(args.folder, args.n, args.seed):
                print(f"Wrote {folder}")
    except (TDIError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
