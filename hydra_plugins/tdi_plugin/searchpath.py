"""Shows tdi-plugin's experiments to s4-style Hydra apps and to our own commands, and to nobody else."""

from __future__ import annotations

from hydra.core.config_search_path import ConfigSearchPath
from hydra.plugins.search_path_plugin import SearchPathPlugin


class TDISearchPathPlugin(SearchPathPlugin):
    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        # An exception here would kill every Hydra app on the machine, so none may leave.
        try:
            from tdi_plugin.s4.process import is_s4_process
            from tdi_plugin.search_path import config_dir, wants_our_configs

            if not wants_our_configs():
                return
            search_path.append("tdi-plugin", f"file://{config_dir()}")
            if is_s4_process():
                from tdi_plugin.s4.register import register

                register()
        except Exception as error:
            import logging

            logging.getLogger("tdi_plugin").warning("tdi-plugin's configs are not available: %s", error)
