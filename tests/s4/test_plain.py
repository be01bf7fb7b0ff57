"""Plain ``python train.py``: where its imports work, the installed package and one override are enough."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.s4

# An environment in which the imports work: the stand-ins are there before train.py begins.
SITE = "from tdi_plugin.s4.standins import install\ninstall()\n"


def test_train_py_itself(s4_python, s4_root, s4_data, tiny, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(SITE)
    printed = s4_python(
        s4_root / "train.py",
        "experiment=lra/s4-listops",
        "model.layer.init=tdi",
        "+tdi.train_ratio=0.5",
        *tiny,
        "dataset.n_workers=1",
        "loader.batch_size=4",
        f"hydra.run.dir={tmp_path / 'run'}",
        PYTHONPATH=str(tmp_path),
        PYTHONDONTWRITEBYTECODE="1",
        DATA_PATH=str(s4_data),
    )
    assert "TDI placed the poles" in printed
    assert "s4 SSMKernelDPLR" in printed
    assert (tmp_path / "run" / "checkpoints" / "last.ckpt").is_file()
