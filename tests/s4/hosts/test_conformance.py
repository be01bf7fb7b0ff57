"""Every kernel of a real s4 checkout that poles can be placed in, under the conformance suite."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tdi_plugin.testing import HostConformance, response_of_kernel


class S4(HostConformance):
    options: dict[str, Any] = {}
    pairs = 4
    s4: SimpleNamespace

    @pytest.fixture(autouse=True)
    def _checkout(self, s4):
        self.s4 = s4

    def kernel(self, cls: Any) -> nn.Module:
        options = {"init": "tdi", "dt_transform": "softplus", "verbose": False, **self.options}
        return cls(d_model=8, d_state=8, **options)

    def frequency_response(self, model: nn.Module) -> Tensor:
        return response_of_kernel(model(L=1536)[0])


class RegistryDiag(S4):
    def make_model(self):
        return self.kernel(self.s4.ssm.SSMKernelDiag)


class RegistryLowRank(S4):
    def make_model(self):
        return self.kernel(self.s4.ssm.SSMKernelDPLR)


class TestDiag(RegistryDiag):
    pass


class TestDiagTied(RegistryDiag):
    options = {"n_ssm": 2, "real_transform": "softplus", "imag_transform": "exp"}


class TestDiagOneRowBilinear(RegistryDiag):
    options = {"n_ssm": 1, "disc": "bilinear", "imag_transform": "softplus"}


class TestDiagStepSizePerPair(RegistryDiag):
    options = {"n_ssm": 4, "dt_tie": False, "dt_transform": "exp", "imag_transform": "relu"}


class TestDiagFastSteps(RegistryDiag):
    options = {"dt_fast": True, "dt_transform": "exp", "real_transform": "relu"}


class TestDiagBuffers(RegistryDiag):
    options = {"lr": 0.0, "channels": 2, "real_transform": "none"}


class TestDiagSigmoid(RegistryDiag):
    options = {"real_transform": "sigmoid", "dt_min": 0.02}
    damping = "host"


class TestDiagBidirectional(S4):
    """Inside s4's convolution, which doubles the channels for the other direction."""

    def make_model(self):
        return self.s4.fftconv.FFTConv(
            8, l_max=600, bidirectional=True, mode="diag", init="tdi", d_state=8, n_ssm=4, verbose=False
        )

    def frequency_response(self, model):
        return response_of_kernel(model.kernel(L=1536)[0])


class TestLowRank(RegistryLowRank):
    options = {"l_max": 1024}


class TestLowRankTied(RegistryLowRank):
    options = {"n_ssm": 2, "disc": "zoh"}


class TestLowRankAfterForward(RegistryLowRank):
    """C already holds the old poles: the write takes them out."""

    def make_model(self):
        model = super().make_model()
        with torch.no_grad():
            model(L=512)
        return model


class TestFileDiag(S4):
    def make_model(self):
        return self.kernel(self.s4.file.SSMKernelDiag)


class TestFileLowRank(S4):
    options = {"n_ssm": 4}

    def make_model(self):
        return self.kernel(self.s4.file.SSMKernelDPLR)


class TestS4D(S4):
    def make_model(self):
        return self.s4.s4d.S4D(8, d_state=8)

    def frequency_response(self, model):
        return response_of_kernel(model.kernel(L=1536))[None]


class TestS4DBuffers(TestS4D):
    def make_model(self):
        return self.s4.s4d.S4D(8, d_state=8, lr=0.0)


class TestLowRankTiedAfterForward(TestLowRankAfterForward):
    options = {"n_ssm": 2, "l_max": 300, "channels": 2}
