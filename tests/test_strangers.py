"""Programs that have the package installed but do not use it never notice it."""

from __future__ import annotations

import textwrap

import pytest

# The same program as on a machine where the package is not installed: no entry points, no modules.
ABSENT = """
import importlib.abc, importlib.metadata, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "tdi_plugin" or name.startswith("hydra_plugins.tdi_plugin"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
original = importlib.metadata.entry_points

def entry_points(**wanted):
    found = original(**wanted)
    return [e for e in found if "tdi_plugin" not in e.value] if wanted else found

importlib.metadata.entry_points = entry_points
"""

HYDRA_APP = """
import hydra
from omegaconf import OmegaConf
from hydra.core.config_store import ConfigStore

ConfigStore.instance().store(name="app", node={"db": {"port": 1}})

@hydra.main(version_base="1.3", config_path=None, config_name="app")
def main(cfg):
    print(OmegaConf.to_yaml(cfg))

main()
"""

LIGHTNING_RUN = """
import logging, warnings
warnings.filterwarnings("ignore")
logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
import torch, pytorch_lightning as pl
from torch.utils.data import DataLoader, TensorDataset

class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
    def training_step(self, batch, _):
        return self.layer(batch[0]).square().mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

pl.seed_everything(0)
trainer = pl.Trainer(max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False,
                     enable_model_summary=False, accelerator="cpu")
model = Model()
trainer.fit(model, DataLoader(TensorDataset(torch.randn(16, 4)), batch_size=4, shuffle=True))
print([type(c).__name__ for c in trainer.callbacks])
print(model.layer.weight.tolist(), torch.rand(1).item())
"""


@pytest.mark.parametrize("arguments", [["--help"], ["--cfg", "job"], ["--info", "searchpath"]])
def test_hydra_app_is_unchanged(run_python, tmp_path, arguments):
    outputs = []
    for prelude in ("", ABSENT):
        (tmp_path / "app.py").write_text(prelude + HYDRA_APP)
        outputs.append(run_python(str(tmp_path / "app.py"), *arguments, cwd=tmp_path).stdout)
    assert outputs[0] == outputs[1]
    assert outputs[0]
    assert "tdi" not in outputs[0]


def test_lightning_run_is_unchanged(run_python, tmp_path):
    outputs = []
    for prelude in ("", ABSENT):
        (tmp_path / "run.py").write_text(prelude + LIGHTNING_RUN)
        outputs.append(run_python(str(tmp_path / "run.py"), cwd=tmp_path).stdout)
    assert outputs[0] == outputs[1]
    assert "TaskDependentInit" not in outputs[0]


def test_module_of_another_project_named_like_s4s_registry_is_not_taken_for_s4(run_python):
    code = textwrap.dedent("""
        import sys, types
        registry = types.ModuleType("src.utils.registry")
        registry.layer = {"conv": "x"}
        sys.modules["src.utils.registry"] = registry
        from tdi_plugin.lightning_entry import pytorch_lightning_callbacks
        from tdi_plugin.search_path import wants_our_configs
        print(wants_our_configs(), pytorch_lightning_callbacks())
    """)
    assert run_python("-c", code).stdout.strip() == "False []"
