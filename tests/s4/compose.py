"""Compose experiments as s4's train.py would. Usage: python compose.py CHECKOUT OUT.json EXPERIMENT..."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(root: str, out: str, *experiments: str) -> None:
    from tdi_plugin.s4 import launch

    launch.prepare(root)
    import src.utils.registry  # noqa: F401, as train.py does: it is how an s4 process is told
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    OmegaConf.register_new_resolver("eval", eval)
    composed = {}
    with initialize_config_dir(str(Path(root) / "configs"), version_base="1.1"):
        for name in experiments:
            config = compose("config.yaml", overrides=[f"experiment={name}"])
            if "ucr" in config and OmegaConf.is_missing(config.ucr, "name"):
                config.ucr.name = "Plane"
            composed[name] = OmegaConf.to_container(config, resolve=True)
    Path(out).write_text(json.dumps(composed))


if __name__ == "__main__":
    main(*sys.argv[1:])
