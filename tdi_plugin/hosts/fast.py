"""The factored Vandermonde product in place of s4's fallback: one kernel instance at a time, and reversible.

Nothing of s4 is edited, in memory or on disk. An instance gets a ``forward`` of its own that runs s4's code
with other names in its globals: the product is ours, and neither pykeops nor the CUDA extension is asked for.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import cache
from typing import Any

from torch import Tensor, nn

from tdi_plugin.errors import HostError
from tdi_plugin.hosts.s4 import kind_of
from tdi_plugin.nn.vandermonde import vandermonde_product, vandermonde_transpose
from tdi_plugin.poles.expm1 import complex_expm1
from tdi_plugin.poles.placement import log_poles

METHODS = ("forward", "forward_state")
# Names of s4's fallbacks in the globals of these methods.
PRODUCT, TRANSPOSE = "log_vandermonde_naive", "log_vandermonde_transpose_naive"


def use_fast_kernels(model: nn.Module) -> list[str]:
    """Give every s4 kernel in a model the factored product; returns their names.

    A low-rank kernel takes it as long as its P is exactly zero. Undone by ``restore_kernels``.

    Raises:
        HostError: an s4 kernel whose code no longer has the product to replace.
    """
    done = []
    for name, module in model.named_modules():
        if kind_of(module, "SSMKernelDPLR"):
            module.forward = FastLowRank(module)
        elif kind_of(module, "SSMKernelDiag"):
            for method in METHODS:
                _product_in(getattr(type(module), method))
                setattr(module, method, FastMethod(module, method))
        else:
            continue
        done.append(name)
    return done


def restore_kernels(model: nn.Module) -> list[str]:
    """Undo ``use_fast_kernels``; returns the names of the kernels that had it."""
    done = []
    for name, module in model.named_modules():
        own = [m for m in METHODS if isinstance(module.__dict__.get(m), (FastMethod, FastLowRank))]
        for method in own:
            delattr(module, method)
        if own:
            done.append(name)
    return done


class FastMethod:
    """A method of an s4 diagonal kernel with the factored product inside (picklable, copyable)."""

    def __init__(self, module: nn.Module, method: str) -> None:
        self.module, self.method = module, method

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _product_in(getattr(type(self.module), self.method))(self.module, *args, **kwargs)


class FastLowRank:
    """``forward`` of an s4 low-rank kernel whose P is zero: the same kernel, without the Cauchy product.

    The module keeps its own treatment of C (multiplied by 1 - p^l at the first call), so that training sees
    the same parameters with the same gradients. States, other rates and a P that is not zero go to s4's code.
    """

    def __init__(self, module: nn.Module) -> None:
        self.module = module

    def __call__(self, state: Tensor | None = None, rate: float = 1.0, L: int | None = None) -> Any:
        module: Any = self.module
        if state is not None or rate != 1.0 or bool((module.P != 0).any()):
            return type(module).forward(module, state=state, rate=rate, L=L)
        if module.l_kernel.item() == 0 and module.l_max:
            module._setup_C(module.l_max)
        length = module.l_kernel.item() if L is None else L
        while length > module.l_kernel.item():
            module._setup_C(length)
        dt, a, b, c = module._get_params()[:4]
        x = log_poles(a, dt, "bilinear")
        weights = b * c * dt / ((1 - dt * a / 2) * -complex_expm1(module.l_kernel.item() * x))
        # P has no gradient here but must stay part of the graph, as distributed training expects.
        return vandermonde_product(weights, x, length) + 0.0 * module.P.sum(), None


@cache
def _product_in(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function with other globals: the factored product, and nothing else to dispatch to."""
    names = function.__globals__
    if absent := [name for name in (PRODUCT, TRANSPOSE) if name not in names]:
        raise HostError(
            f"{function.__qualname__} has no {' or '.join(absent)} to replace (s4 at e757cef has both); "
            "leave fast_kernel off for this version."
        )
    plain = names[PRODUCT]

    def product(v: Tensor, x: Tensor, length: int, conj: bool = True) -> Tensor:
        if not (conj and x.is_complex()):
            return plain(v, x, length, conj)
        return vandermonde_product(v, x, length)

    def transpose(u: Tensor, v: Tensor, x: Tensor, length: int) -> Tensor:
        return v * vandermonde_transpose(u.real if u.is_complex() else u, x)

    replaced = {
        **names,
        PRODUCT: product,
        TRANSPOSE: transpose,
        "has_pykeops": False,
        "has_cuda_extension": False,
    }
    return types.FunctionType(
        function.__code__, replaced, function.__name__, function.__defaults__, function.__closure__
    )
