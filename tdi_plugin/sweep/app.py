"""One worker of a study, as a Hydra job: joblib, submitit and ray launchers start any number of these."""

from __future__ import annotations

import sys
from typing import Any

import hydra

from tdi_plugin.errors import TDIError
from tdi_plugin.sweep.runner import run_study
from tdi_plugin.sweep.store import Store
from tdi_plugin.sweep.study import Study


@hydra.main(version_base="1.3", config_path="conf", config_name="sweep")
def work(config: Any) -> dict[str, int]:
    """Finish what is left of a study that was noted in a store, together with the other workers."""
    import torch

    torch.set_num_threads(config.threads)
    try:
        store = Store(config.store, create=False)
        outcome = run_study(Study.of(store.studies()[config.study]), store)
    except TDIError as error:  # whoever started the workers sees what is missing
        print(f"worker {config.worker}: {error}", file=sys.stderr, flush=True)
        return {"ran": 0}
    print(f"worker {config.worker}: {outcome.ran} groups run", flush=True)
    return {"ran": outcome.ran}


if __name__ == "__main__":
    work()
