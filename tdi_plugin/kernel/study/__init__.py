"""The study behind ``tdi theory``: synthetic tasks, four claims measured, pictures."""

from tdi_plugin.kernel.study.run import PARTS, run_study, write_results

__all__ = ["PARTS", "run_study", "write_results"]
