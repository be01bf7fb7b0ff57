"""The builtin kernel under the conformance suite, in its various forms."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from tdi_plugin.nn import OneLayer, RealS4DKernel, S4DKernel, SequenceModel
from tdi_plugin.testing import HostConformance, response_of_kernel


class Builtin(HostConformance):
    options: dict[str, Any] = {}
    pairs = 6

    def make_model(self) -> nn.Module:
        return S4DKernel(8, d_state=12, **{"init": "tdi", **self.options})

    def frequency_response(self, model: nn.Module) -> Tensor:
        return response_of_kernel(model(1536)[0])


class TestUntied(Builtin):
    pass


class TestTied(Builtin):
    options = {"n_ssm": 2}


class TestOneRow(Builtin):
    options = {"n_ssm": 1, "dt_transform": "exp", "imag_transform": "softplus"}


class TestStepSizePerPair(Builtin):
    options = {"dt_tie": False, "n_ssm": 4, "real_transform": "softplus"}


class TestBilinear(Builtin):
    options = {"disc": "bilinear", "imag_transform": "exp"}


class TestFastSteps(Builtin):
    options = {"dt_fast": True, "dt_transform": "softplus", "real_transform": "relu"}


class TestBuffers(Builtin):
    options = {"lr": 0.0, "channels": 2, "real_transform": "none"}


class TestLegs(Builtin):
    options = {"init": "diag-legs"}


class TestSigmoid(Builtin):
    """Real parts between 0 and 1 only: the host's own damping."""

    options = {"real_transform": "sigmoid", "dt_min": 0.02}
    damping = "host"


class TestInsideAModel(Builtin):
    def make_model(self) -> nn.Module:
        return SequenceModel(8, n_layers=2, layer={"d_state": 12, "init": "tdi"})

    def frequency_response(self, model: nn.Module) -> Tensor:
        return response_of_kernel(model.layers[0].layer.layer.kernel(1536)[0])


class TestRealForm(Builtin):
    options = {"n_ssm": 4}

    def make_model(self) -> nn.Module:
        return RealS4DKernel(8, d_state=12, **{"init": "tdi", **self.options})


class TestOneLayerModel(HostConformance):
    def make_model(self) -> nn.Module:
        return OneLayer(1, 3, 400, d_model=4, d_state=8, real=True)

    def frequency_response(self, model: nn.Module) -> Tensor:
        return response_of_kernel(model.kernel(1536)[0])
