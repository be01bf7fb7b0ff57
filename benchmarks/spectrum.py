"""What the spectra cost beside the least that any such measurement does; one JSON object a line.

    python benchmarks/spectrum.py [--threads 1 2] [--repeats 15]

A slowdown is the shortest time of ours over the shortest time of the reference, the two timed in turn on the
same batches: the shortest is what least else on the machine has disturbed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

from _process import in_own_process, resident
from _report import command_line, report
from _timing import in_turn
from tdi_plugin.spectrum import CrossSpectrum, FisherLogPower, cross_spectrum, fisher_log_power, task_spectrum
from tdi_plugin.spectrum.metric import SpectrumMetric

BATCH = 256
SHAPES = ((3601, 500, 2), (60000, 784, 10), (2000, 16000, 10))


def batches(rows: int, length: int, classes: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Batches of noise, at most 64 MB of them: long sets pass over the same ones again."""
    generator = torch.Generator().manual_seed(0)
    held = min(rows, max(2**26 // (4 * length), BATCH))
    x = torch.randn(held, length, generator=generator)
    y = torch.randint(classes, (held,), generator=generator)
    return list(zip(x.split(BATCH), y.split(BATCH), strict=True))


def ratio(ours: Callable[[], object], reference: Callable[[], object], repeats: int) -> float:
    """Shortest time over shortest time, after one round that does not count."""
    shortest, beside = map(min, in_turn((ours, reference), repeats))
    return shortest / beside


def streaming(repeats: int) -> None:
    """fisher beside a bare FFT and cross beside a bare sum, in batches of 256 and over an array at once."""
    for rows, length, classes in SHAPES:
        data = batches(rows, length, classes)
        x, y = (torch.cat(part) for part in zip(*data, strict=True))

        def transform(data: list = data) -> None:
            for x, _ in data:
                torch.fft.rfft(x)

        def total(data: list = data, length: int = length) -> None:
            found = torch.zeros(length)
            for x, _ in data:
                found += x.sum(dim=0)

        def stream(make: Callable[..., SpectrumMetric], data: list = data, classes: int = classes) -> None:
            estimator = make(num_classes=classes)
            for x, y in data:
                estimator.update(x, y)
            estimator.compute()

        shape, fft, one_pass = (rows, length), "torch.fft.rfft, batches of 256", "x.sum(0), batches of 256"
        ours: dict[str, tuple[Callable[[], object], Callable[[], object], str]] = {
            "fisher, batches of 256": (partial(stream, FisherLogPower), transform, fft),
            "fisher, array": (partial(fisher_log_power, x, y), transform, fft),
            "cross, batches of 256": (partial(stream, CrossSpectrum), total, one_pass),
            "cross, array": (partial(cross_spectrum, x, y), total, one_pass),
        }
        for name, (run, reference, said) in ours.items():
            report(name, shape, said, slowdown=ratio(run, reference, repeats))


def shuffles(repeats: int) -> None:
    """A thousand permutations beside one spectrum."""
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randn(144, 500, generator=generator), torch.arange(144) % 2
    for name in ("fisher", "cross", "combined"):
        report(
            f"1000 permutations, {name}",
            (144, 251),
            f"one {name} spectrum",
            slowdown=ratio(
                lambda name=name: task_spectrum(x, y, name, permutations=1000),  # type: ignore[misc]
                lambda name=name: task_spectrum(x, y, name),  # type: ignore[misc]
                repeats,
            ),
        )


def memory() -> None:
    """Peak memory that streaming adds to one batch, in a process of its own for each statistic."""
    for name in ("fisher", "cross", "combined", "auto"):
        extra = in_own_process(peak, name)
        report(f"extra memory, {name}", (60000, 784), "one batch, after imports", extra_mb=extra)


def peak(statistic: str) -> float:
    """The megabytes by which a streamed 60000 x 784 measurement raises this process's peak."""
    from tdi_plugin.spectrum.estimate import spectrum_of_batches

    x, y = torch.randn(BATCH, 784), torch.arange(BATCH) % 10
    torch.fft.rfft(x)
    before = resident("VmHWM")
    spectrum_of_batches(((x, y) for _ in range(60000 // BATCH)), statistic, num_classes=10)
    return resident("VmHWM") - before


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="thread counts to measure at")
    parser.add_argument("--repeats", type=int, default=15, help="timed pairs for each ratio")
    options = parser.parse_args()
    for threads in options.threads:
        torch.set_num_threads(threads)
        streaming(options.repeats)
        shuffles(options.repeats)
    memory()


if __name__ == "__main__":
    main()
