#!/usr/bin/env bash
# Set up .venv and run every check: ruff, types, tests on the builtin host and, where a checkout is found, on s4.
# usage: bash scripts/test.sh [pytest arguments]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/_env.sh
tdi_env dev
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" WANDB_MODE="${WANDB_MODE:-offline}" HF_HUB_OFFLINE=1
ruff check .
mypy
exec python -m pytest -q "$@"
