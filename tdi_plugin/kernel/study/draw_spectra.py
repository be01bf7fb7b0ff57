"""Pictures of spectra: their convergence, their fit to a task, and what concentrating them does."""

from __future__ import annotations

from typing import Any

from tdi_plugin.kernel.study.panels import COLOURS, legend_below, panels


def draw_convergence(part: dict[str, Any]) -> Any:
    """Distance to |H|^2 against L; both spectra sorted at two lengths; the counterexample."""
    figure, axes = panels(1, 3, (12, 3.8))
    left, middle, right = axes[0]
    lengths = part["lengths"]
    for name, s in part["systems"].items():
        line = left.loglog(lengths, s["distance"], "o-", ms=3, label=f"{name}: slope {s['slope']:.2f}")[0]
        left.loglog(lengths, s["low"], ":", lw=1, color=line.get_color())
    left.set_title("mean sorted error, relative (dotted: lower bound)", fontsize=9)
    left.set_xlabel("L")
    left.set_xticks(lengths, [str(n) for n in lengths])
    left.minorticks_off()
    left.set_ylim(left.get_ylim()[0] / 40, None)
    left.legend(fontsize=6.5, frameon=False, loc="lower left")
    for s, colour in zip(part["spectra"], ("#e8a33d", "#c1272d"), strict=True):
        x = [(j + 0.5) / s["length"] for j in range(s["length"])]
        middle.loglog(x, s["circulant"], color=colour, lw=4, alpha=0.3, label=f"|H|², L = {s['length']}")
        middle.loglog(x, s["exact"], color=colour, lw=1.2, label=f"L η, L = {s['length']}")
    middle.set_title("sorted eigenvalues of the resonance with τ = 200", fontsize=9)
    middle.set_xlabel("rank / L")
    middle.legend(fontsize=7, frameon=False)
    c = part["counterexample"]
    label = "smallest singular value of T_h"
    right.semilogy(c["lengths"], c["smallest_singular_value"], "o-", ms=3, color="#c1272d", label=label)
    right.semilogy(c["lengths"], c["smallest_response"], "s-", ms=3, color="#777777", label="smallest |H|")
    right.set_title("h = [1, -2]: the largest error stays", fontsize=9)
    right.set_xlabel("L")
    right.legend(fontsize=7, frameon=False, loc="lower left")
    return figure


def draw_fit(part: dict[str, Any]) -> Any:
    """|H|^2 of every arm over the task spectrum, and C(rho) below."""
    figure, axes = panels(2, len(part), (11, 5.6))
    for column, (name, task) in enumerate(part.items()):
        top, bottom = axes[:, column]
        top.fill_between(
            task["frequencies"], task["spectrum"], color="#cccccc", label="task spectrum, measured"
        )
        for a, f in task["arms"].items():
            top.plot(task["frequencies"], f["density"], color=COLOURS[a], lw=1.1, label=f"{a}: |H|²")
            ranks = [r / len(f["curve"]) for r in range(len(f["curve"]) + 1)]
            bottom.plot(ranks, [0.0, *f["curve"]], color=COLOURS[a], lw=1.5)
        low, high = task["band"]
        top.set_title(f"{name}: {low:g} to {high:g} cycles/sample", fontsize=9)
        top.set(xlim=(0, 0.5), xlabel="frequency", ylim=(0, 1.15 * max(task["spectrum"])))
        areas = ", ".join(f"{a} {f['area']:.2f}" for a, f in task["arms"].items())
        bottom.set_title(f"area: {areas}", fontsize=7)
        bottom.plot([0, 1], [0, 1], ":", color="#aaaaaa", lw=1)
        bottom.set(xlabel="ρ / L", xlim=(0, 1), ylim=(0, 1.02))
    axes[0, 0].set_ylabel("density")
    axes[1, 0].set_ylabel("C(ρ)")
    legend_below(figure, axes[0, 0], 5)
    return figure


def draw_concentration(part: dict[str, Any]) -> Any:
    """Four kernels for one task: J / sum(eta) in the legend, learning curves in the plot."""
    figure, axes = panels(1, 2, (10, 4))
    left, right = axes[0]
    left.fill_between(part["frequencies"], part["task"], color="#cccccc")
    left.set(title="task spectrum (density)", xlabel="frequency", xlim=(0, 0.5), ylim=(0, None))
    for (name, k), colour in zip(
        part["kernels"].items(), ("#777777", "#c1272d", "#e8a33d", "#1f6fb4"), strict=True
    ):
        label = f"{name}: J/Ση {k['alignment']:.4f}, L_spec {k['loss']:.4f}"
        right.semilogx(part["sizes"], k["curve"], "o-", ms=3, color=colour, label=label)
    right.set(
        title="predicted learning curves", xlabel="training series P", ylabel="error / E[f*²]", ylim=(0, 2)
    )
    legend_below(figure, right, 2)
    return figure
