#!/usr/bin/env python
"""Put a checkout of state-spaces/s4, at the commit that is known to work, where this package looks for it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tdi_plugin.errors import HostError
from tdi_plugin.s4.paths import KNOWN_COMMIT, default_checkout
from tdi_plugin.s4.setup import set_up


def main() -> int:
    """Clone, check, say where."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "source",
        nargs="?",
        default="https://github.com/state-spaces/s4",
        metavar="URL_OR_PATH",
        help="repository to clone: a URL or the folder of a local clone or mirror (default: %(default)s)",
    )
    parser.add_argument("--into", type=Path, help=f"folder of the checkout (default: {default_checkout()})")
    parser.add_argument("--commit", default=KNOWN_COMMIT, help="commit to check out (default: %(default).7s)")
    arguments = parser.parse_args()
    into = (arguments.into or default_checkout()).expanduser().absolute()
    try:
        done = set_up(arguments.source, into, arguments.commit)
    except HostError as error:
        print(f"setup_s4: {error}", file=sys.stderr)
        return 1
    print(f"s4 {arguments.commit[:7]} at {into} ({done})")
    print(f"Next: tdi s4 doctor {into}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
