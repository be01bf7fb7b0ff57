"""Pictures of learning: predicted and measured curves, and TDI's gain against the mismatch score."""

from __future__ import annotations

from typing import Any

from tdi_plugin.kernel.study.panels import COLOURS, legend_below, panels


def draw_curves(part: dict[str, Any]) -> Any:
    """Predicted lines over measured 95 % bands: a row a task, a column a kind of input."""
    kinds = list(dict.fromkeys((c["inputs"], c["ridge"]) for c in part["curves"]))
    tasks = list(dict.fromkeys(c["task"] for c in part["curves"]))
    figure, axes = panels(len(tasks), len(kinds), (12.5, 7.5))
    for c in part["curves"]:
        ax = axes[tasks.index(c["task"]), kinds.index((c["inputs"], c["ridge"]))]
        colour = COLOURS[c["arm"]]
        ax.fill_between(c["sizes"], c["low"], c["high"], color=colour, alpha=0.2, lw=0)
        ax.plot(c["sizes"], c["mean"], "o", ms=3, color=colour)
        ax.plot(c["sizes"], c["predicted"], color=colour, lw=1.3, label=c["arm"])
        if c["inputs"] != "white":
            ax.plot(
                c["sizes"],
                c["naive"],
                "--",
                color=colour,
                lw=0.9,
                label=f"{c['arm']}, as if inputs were white",
            )
        ax.set(xscale="log", yscale="log", ylim=(0.15, 8))
        ax.axhline(1.0, color="#aaaaaa", lw=0.7, ls=":")
        ax.set_yticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
        ax.minorticks_off()
    for (inputs, ridge), ax in zip(kinds, axes[0], strict=True):
        ax.set_title(f"{inputs}, {f'ridge {ridge:g} of the trace' if ridge else 'no ridge'}", fontsize=8)
    for task, ax in zip(tasks, axes[:, 0], strict=True):
        ax.set_ylabel(f"{task}: error / E[Y²]")
    for ax in axes[-1]:
        ax.set_xlabel("training series P")
    legend_below(figure, axes[0, 2], 4)
    return figure


def draw_gain(part: dict[str, Any]) -> Any:
    """TDI's gain against the mismatch of the default, for spectra from few and many series."""
    counts = list(dict.fromkeys(r["series"] for r in part["rows"]))
    figure, axes = panels(1, len(counts), (12, 3.8))
    for count, ax in zip(counts, axes[0], strict=True):
        for missed, colour, label in (
            (True, "#c1272d", "band missed by S4D-Lin"),
            (False, "#1f6fb4", "band covered"),
        ):
            rows = [
                r
                for r in part["rows"]
                if r["series"] == count and r["arm"] == "TDI" and r["missed"] is missed
            ]
            ax.plot(
                [r["mismatch"] for r in rows],
                [r["log2_error_ratio"] for r in rows],
                "o",
                ms=3.5,
                color=colour,
                label=label,
            )
        summary = next(s for s in part["summary"] if s["series"] == count and s["arm"] == "TDI")
        source = f"spectrum from {count} series" if count else "spectrum of the population"
        ax.set_title(f"{source}\nrank correlation {summary['rank_correlation']:.2f}", fontsize=9)
        ax.axhline(0, color="#aaaaaa", lw=0.8)
        ax.set(xlabel="mismatch of S4D-Lin", xlim=(-0.03, 1.03))
    axes[0, 0].set_ylabel("log2 of error ratio, S4D-Lin : TDI")
    legend_below(figure, axes[0, 0], 2)
    return figure
