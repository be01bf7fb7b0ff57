"""Image transforms on PIL images and tensors (..., H, W), after torchvision's names and meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import interpolate


class InterpolationMode(Enum):
    """How `functional.resize` fills in."""

    NEAREST = "nearest"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"


class Compose:
    """One transform after the other."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = list(transforms)

    def __call__(self, image: Any) -> Any:
        for transform in self.transforms:
            image = transform(image)
        return image


class Lambda:
    """Any function as a transform."""

    def __init__(self, lambd: Callable[[Any], Any]) -> None:
        self.lambd = lambd

    def __call__(self, image: Any) -> Any:
        return self.lambd(image)


class ToTensor:
    """PIL image or uint8 array (H, W[, C]) to float32 (C, H, W) in [0, 1]."""

    def __call__(self, image: Any) -> Tensor:
        pixels = torch.from_numpy(np.array(image, copy=True))
        pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
        pixels = pixels.permute(2, 0, 1).contiguous()
        return pixels.float() / 255 if pixels.dtype == torch.uint8 else pixels


class Normalize:
    """(x - mean) / std by channel, on (..., C, H, W)."""

    def __init__(self, mean: float | Sequence[float], std: float | Sequence[float], **_: Any) -> None:
        self.mean = torch.as_tensor(mean, dtype=torch.float32).reshape(-1, 1, 1)
        self.std = torch.as_tensor(std, dtype=torch.float32).reshape(-1, 1, 1)

    def __call__(self, image: Tensor) -> Tensor:
        return (image - self.mean) / self.std


class Grayscale:
    """PIL image to one channel of luminance."""

    def __init__(self, num_output_channels: int = 1) -> None:
        if num_output_channels != 1:
            raise ValueError(
                f"Grayscale gives 1 channel here, not {num_output_channels}; install torchvision."
            )

    def __call__(self, image: Any) -> Any:
        return image.convert("L")


class RandomCrop:
    """A window of ``size`` pixels at a random place of the padded image, from PyTorch's global generator."""

    def __init__(self, size: int, padding: int = 0, padding_mode: str = "constant", **_: Any) -> None:
        self.size, self.padding, self.mode = size, padding, padding_mode

    def __call__(self, image: Any) -> Any:
        pixels = np.asarray(image)
        around = [(self.padding, self.padding)] * 2 + [(0, 0)] * (pixels.ndim - 2)
        pixels = np.pad(pixels, around, mode=self.mode)  # type: ignore[call-overload]
        top, left = (int(torch.randint(0, extent - self.size + 1, ())) for extent in pixels.shape[:2])
        return type_of_image(image)(pixels[top : top + self.size, left : left + self.size])


class RandomHorizontalFlip:
    """Mirror with probability ``p``, from PyTorch's global generator."""

    def __init__(self, p: float = 0.5) -> None:
        self.p = p

    def __call__(self, image: Any) -> Any:
        if torch.rand(()) >= self.p:
            return image
        return type_of_image(image)(np.asarray(image)[:, ::-1].copy())


def type_of_image(image: Any) -> Callable[[np.ndarray[Any, Any]], Any]:
    """How to make an array into what ``image`` is: an array, or a PIL image."""
    if isinstance(image, np.ndarray):
        return np.asarray
    from PIL import Image

    return Image.fromarray


class functional:
    @staticmethod
    def resize(
        image: Tensor,
        size: Sequence[int],
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
        antialias: bool = True,
        **_: Any,
    ) -> Tensor:
        """(B, C, H, W) to the given height and width."""
        smooth = interpolation is not InterpolationMode.NEAREST
        options: dict[str, Any] = {"align_corners": False, "antialias": antialias} if smooth else {}
        return interpolate(image, size=list(size), mode=interpolation.value, **options)
