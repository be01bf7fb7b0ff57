"""How far the spectrum's two floors move the poles: one JSON object a data set and setting.

    python benchmarks/floors.py [--data FOLDER]

On 20 % of the training series of each development set, five subsets: the frequencies of quantile allocation
(32 rows of 16 pairs) from the fisher spectrum with other floors, against those with the defaults. Reported is
the mean shift over pairs sorted by frequency, in cycles/sample, and the same between the subsets themselves,
which is how much the choice of 20 % matters.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

from torch import Tensor

from _report import command_line, report
from tdi_plugin.poles import allocate
from tdi_plugin.spectrum import task_spectrum
from tdi_plugin.spectrum.fisher import POWER_FLOOR, WITHIN_FLOOR
from tdi_plugin.sweep.group_data import GroupData, load_group_data

SETS = ("Plane", "SyntheticControl", "GunPoint", "Trace", "ItalyPowerDemand", "tdi_freqcls")
FREQCLS = {"n_train": 300, "n_test": 300, "n_val": 100, "length": 256, "n_classes": 5, "distractor": 3.0}
ROWS, PAIRS, RATIO, SEEDS = 32, 16, 0.2, 5
FLOORS = (
    *({"power_floor": floor} for floor in (1e-8, 1e-4, 1e-2)),
    *({"within_floor": floor} for floor in (1e-4, 1e-2, 1e-1)),
)


def frequencies(data: GroupData, seed: int, **floors: Any) -> Tensor:
    """All frequencies of a layer, sorted."""
    train = data.run(RATIO, seed).train
    spectrum = task_spectrum(train.x, train.y, "fisher", **floors)
    return allocate(spectrum.density, spectrum.length, ROWS, PAIRS).flatten().sort().values


def main() -> None:
    parser = command_line(__doc__)
    beside = Path(__file__).parent.parent.parent / "shared" / "data"
    parser.add_argument("--data", default=os.environ.get("DATA_PATH", beside))
    os.environ["DATA_PATH"] = str(parser.parse_args().data)
    for name in SETS:
        options = tuple(FREQCLS.items()) if name == "tdi_freqcls" else ()
        data = load_group_data(name, options=options)
        usual = [frequencies(data, seed) for seed in range(SEEDS)]
        between = mean(float((a - b).abs().mean()) for a, b in pairwise(usual))
        for floors in FLOORS:
            moved = [frequencies(data, seed, **floors) for seed in range(SEEDS)]
            shift = mean(float((a - b).abs().mean()) for a, b in zip(usual, moved, strict=True))
            shape = {"data": name, **floors}
            reference = f"defaults {POWER_FLOOR:g} and {WITHIN_FLOOR:g}"
            report("shift of the poles", shape, reference, shift=shift, between_subsets=between)


if __name__ == "__main__":
    main()
