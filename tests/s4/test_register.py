"""What is added to a running s4: new entries only, early or late, and nothing anywhere else."""

from __future__ import annotations

import textwrap

import pytest

SHAPE = """
layer = {"s4": "src.models.S4"}
model = {"model": "src.models.Model"}
callbacks = {}
optimizer = {}
"""


@pytest.fixture
def project(run_python, tmp_path):
    """Run code in a folder with these modules; a project may have modules of s4's names."""

    def run(code: str, **modules: str) -> str:
        for name, source in modules.items():
            file = tmp_path / (name.replace("__", "/") + ".py")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(source)
        return run_python("-c", textwrap.dedent(code), PYTHONPATH=str(tmp_path)).stdout.strip()

    return run


KERNELS = "combinations = {'diag': ['diag-inv', 'diag-lin']}\nloaded = True"


def test_fills_a_table_when_its_module_is_imported_later(project):
    code = """
    import sys, src.utils.registry
    from tdi_plugin.s4 import register, is_s4_process
    assert is_s4_process() and register() and register()
    assert "src.models.sequence.kernels.dplr" not in sys.modules
    import src.models.sequence.kernels.dplr as dplr
    print(dplr.combinations["tdi"], dplr.loaded, dplr.__spec__.loader is dplr.__loader__)
    print(type(dplr.__loader__).__name__)
    """
    printed = project(code, src__utils__registry=SHAPE, src__models__sequence__kernels__dplr=KERNELS)
    assert printed.splitlines() == ["['diag-lin'] True True", "SourceFileLoader"]


def test_keeps_an_entry_that_is_there(project):
    code = """
    import src.utils.registry, src.models.sequence.kernels.dplr as dplr
    from tdi_plugin.s4 import register
    register()
    print(dplr.combinations)
    """
    mine = KERNELS + "\ncombinations['tdi'] = ['mine']"
    printed = project(code, src__utils__registry=SHAPE, src__models__sequence__kernels__dplr=mine)
    assert printed == "{'diag': ['diag-inv', 'diag-lin'], 'tdi': ['mine']}"


@pytest.mark.parametrize(
    "registry",
    [
        "",
        "layer = {}",
        "layer = ['s4']\nmodel = callbacks = optimizer = {}",
        SHAPE.replace("'s4'", "'x'").replace('"s4"', '"x"'),
    ],
)
def test_does_nothing_in_a_project_of_another_kind(project, registry):
    code = """
    import sys, src.utils.registry, models.s4.s4
    before = list(sys.meta_path)
    from tdi_plugin.s4 import register, is_s4_process
    print(is_s4_process(), register(), sys.meta_path == before, models.s4.s4.combinations)
    """
    printed = project(code, src__utils__registry=registry, models__s4__s4="combinations = {'diag': []}")
    assert printed == "False False True {'diag': []}"


def test_import_that_fails_fails_as_before(project):
    code = """
    import src.utils.registry
    from tdi_plugin.s4 import register
    register()
    for attempt in range(2):
        try:
            import models.s4.s4
        except ZeroDivisionError as error:
            print(error)
    """
    printed = project(code, src__utils__registry=SHAPE, models__s4__s4="1 / 0")
    assert printed.splitlines() == ["division by zero"] * 2


@pytest.mark.s4
def test_tables_of_a_real_s4_keep_their_entries(s4_python, s4_root):
    code = """
import sys
from tdi_plugin.s4 import launch, register
launch.prepare(sys.argv[1])
import src.utils.registry as registry, src.dataloaders.base as base
import src.models.sequence.kernels.dplr as dplr
data = base.SequenceDataset.registry
tables = [registry.layer, registry.model, registry.callbacks, dplr.combinations, data]
before = [dict(table) for table in tables]
register()
import models.s4.s4 as standalone
added = [set(table) - set(old) for table, old in zip(tables, before)]
assert all(table[name] == value for table, old in zip(tables, before) for name, value in old.items())
print(added[:3], added[3], all(name.startswith("tdi_") for name in added[4]), len(added[4]) > 5)
print(standalone.combinations["tdi"])
"""
    printed = s4_python("-c", code, s4_root).strip().splitlines()
    assert printed[-2:] == ["[set(), set(), set()] {'tdi'} True True", "['diag-lin']"]
