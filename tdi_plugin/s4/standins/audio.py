"""What s4's data modules use of torchaudio: reading files, and band-limited resampling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tdi_plugin._optional import require


@dataclass
class AudioMetaData:
    """Of one file: rate in samples/second, length in samples, number of channels."""

    sample_rate: int
    num_frames: int
    num_channels: int


def load(
    uri: str | Path,
    frame_offset: int = 0,
    num_frames: int = -1,
    normalize: bool = True,
    channels_first: bool = True,
    format: str | None = None,
) -> tuple[Tensor, int]:
    """Samples as float32 in [-1, 1], (channels, L) or (L, channels), and the sampling rate."""
    soundfile = require("soundfile", extra="audio", for_="reading audio files")
    samples, rate = soundfile.read(
        str(uri), start=frame_offset, frames=num_frames, dtype="float32", always_2d=True
    )
    waveform = torch.from_numpy(samples)
    return (waveform.t().contiguous() if channels_first else waveform), int(rate)


def info(uri: str | Path, format: str | None = None) -> AudioMetaData:
    """Length, rate and channels of a file."""
    found = require("soundfile", extra="audio", for_="reading audio files").info(str(uri))
    return AudioMetaData(found.samplerate, found.frames, found.channels)


def save(uri: str | Path, src: Tensor, sample_rate: int, channels_first: bool = True, **_: Any) -> None:
    """Write a waveform, (channels, L) or (L, channels)."""
    soundfile = require("soundfile", extra="audio", for_="writing audio files")
    samples = src.detach().cpu()
    soundfile.write(str(uri), (samples.t() if channels_first else samples).numpy(), sample_rate)


def resample(
    waveform: Tensor,
    orig_freq: int,
    new_freq: int,
    lowpass_filter_width: int = 6,
    rolloff: float = 0.99,
    **_: Any,
) -> Tensor:
    """Change the sampling rate of (..., L) by a Hann-windowed sinc; gives (..., ceil(L new/orig))."""
    divisor = math.gcd(int(orig_freq), int(new_freq))
    orig, new = int(orig_freq) // divisor, int(new_freq) // divisor
    if orig == new:
        return waveform
    cutoff = min(orig, new) * rolloff
    width = math.ceil(lowpass_filter_width * orig / cutoff)
    phase = torch.arange(0, -new, -1, dtype=torch.float64)[:, None] / new
    time = (phase + torch.arange(-width, width + orig, dtype=torch.float64)[None] / orig) * cutoff
    time = time.clamp(-lowpass_filter_width, lowpass_filter_width)
    window = torch.cos(time * math.pi / lowpass_filter_width / 2) ** 2
    taps = (torch.sinc(time) * window * cutoff / orig).to(waveform.dtype).to(waveform.device)
    shape, length = waveform.shape[:-1], waveform.shape[-1]
    padded = nn.functional.pad(waveform.reshape(-1, 1, length), (width, width + orig))
    out = nn.functional.conv1d(padded, taps[:, None], stride=orig)
    out = out.transpose(1, 2).reshape(out.shape[0], -1)
    return out[:, : math.ceil(new * length / orig)].reshape(*shape, -1)


class Resample(nn.Module):
    """`resample` as a module."""

    def __init__(self, orig_freq: int = 16000, new_freq: int = 16000, **_: Any) -> None:
        super().__init__()
        self.rates = (orig_freq, new_freq)

    def forward(self, waveform: Tensor) -> Tensor:
        return resample(waveform, *self.rates)


class functional:
    resample = staticmethod(resample)


class transforms:
    Resample = Resample
