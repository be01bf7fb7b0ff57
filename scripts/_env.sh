# Sourced by the scripts: a virtual environment in .venv, with this checkout installed editable.
# usage: tdi_env EXTRA   (installs again only when pyproject.toml or the constraints changed)
tdi_env() {
  local extra="$1" python="${PYTHON:-python3}" stamp
  if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
    echo "tdi-plugin needs Python 3.10 or newer, found $("$python" --version). Set PYTHON=/path/to/python3." >&2
    return 1
  fi
  [ -x .venv/bin/python ] || "$python" -m venv .venv || {
    echo "Could not create .venv; on Debian or Ubuntu: apt-get install python3-venv" >&2; return 1; }
  . .venv/bin/activate
  stamp=".venv/.tdi-$extra-$(cat pyproject.toml scripts/constraints.txt | cksum | tr ' ' '-')"
  if [ ! -e "$stamp" ]; then
    echo "Installing tdi-plugin[$extra] into .venv (once) ..." >&2
    python -m pip install -q --disable-pip-version-check -c scripts/constraints.txt -e ".[$extra]" || return 1
    rm -f ".venv/.tdi-$extra-"*; touch "$stamp"
  fi
}
