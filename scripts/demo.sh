#!/usr/bin/env bash
# Set up .venv and run the paired low-data comparison on real series; table on screen, picture in demo/.
# usage: bash scripts/demo.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/_env.sh
tdi_env demo
exec python scripts/demo.py "$@"
