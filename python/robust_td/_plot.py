"""Pictures by matplotlib, which is imported on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._native import Error
from ._results import Prediction

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._fit import Fit
    from ._sweep import Comparison, Sweep
    from ._theory import Expectation

#: The panels of the paper's figures: column, label, logarithmic.
PANELS = (
    ("ratio", r"$\max_t E|\theta_t|^2 / |\theta^*|^2$", True),
    ("divergence_rate", "share of diverged runs", False),
    ("gap", r"$E f(\bar\theta_T)$", True),
)
#: Where the paper clamps ratio and gap.
CLAMP = (1e-6, 1e12)


def axes(ax: Axes | None) -> Any:
    """The given axes, or new ones."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as pyplot

    return pyplot.subplots()[1]


def calibration(fit: Fit, ax: Axes | None) -> Axes:
    """Realised against predicted values, in tenths of the rows."""
    check = fit.to_dict()["check"]
    tenths = [] if check is None else check["tenths"]
    if not tenths:
        raise Error("there is no comparison with returns: it was switched off, or the log has no episodes to compare with")
    ax = axes(ax)
    predicted = [tenth["predicted"] for tenth in tenths]
    realised = [tenth["return"] for tenth in tenths]
    errors = [1.96 * (tenth["stderr"] or 0.0) for tenth in tenths]
    ax.errorbar(predicted, realised, yerr=errors, fmt="o", capsize=3, label="tenths of the rows, 95 %")
    ends = [min(predicted + realised), max(predicted + realised)]
    ax.plot(ends, ends, color="0.6", linewidth=1, label="equal")
    ax.set_xlabel("predicted value")
    ax.set_ylabel("mean return")
    ax.legend()
    return ax


def values(fit: Fit, ax: Axes | None, obs: Any) -> Axes:
    """Values with their intervals, from the smallest to the largest."""
    from matplotlib.ticker import MaxNLocator

    if obs is None:
        rows = fit.to_dict()["typical_rows"]
        if not rows:
            raise Error("the model has no rows of its log; pass obs")
        ends = [[np.nan if row[end] is None else row[end] for end in ("value", "lower", "upper")] for row in rows]
        found = Prediction(*np.array(ends, dtype=float).T)
    else:
        found = fit.predict_interval(obs)
    order = np.argsort(found.value)
    value, lower, upper = found.value[order], found.lower[order], found.upper[order]
    ax = axes(ax)
    bounded = np.isfinite(lower) & np.isfinite(upper)
    places = np.arange(len(value))
    if bounded.any():
        if len(value) <= 50:
            sides = np.array([value - lower, upper - value])[:, bounded]
            ax.errorbar(places[bounded], value[bounded], yerr=sides, fmt="none", capsize=3, label="interval")
        else:
            below, above = np.where(bounded, lower, np.nan), np.where(bounded, upper, np.nan)
            ax.fill_between(places, below, above, alpha=0.3, label="interval")
    ax.plot(places, value, "o" if len(value) <= 50 else "-", color="C0", label="value")
    start = fit.start_value
    if start is not None:
        ax.axhline(start.value, color="0.6", linewidth=1, label="value of the policy")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("rows, by value")
    ax.set_ylabel("value")
    ax.legend()
    return ax


def expectation(found: Expectation, ax: Axes | None) -> Axes:
    """Expectations over the steps."""
    ax = axes(ax)
    steps = found.t + 1
    ax.loglog(steps, found.f, label=r"$E f(\theta_t)$")
    ax.loglog(steps, found.norm_sq, label=r"$E|\theta_t|^2$")
    ax.set_xlabel("t + 1")
    ax.legend()
    return ax


def _panel(ax: Any, sweep: Sweep, figure: int, scale: float, panel: tuple[str, str, bool], label: str) -> None:
    name, words, logarithmic = panel
    chosen = (sweep["figure"] == figure) & (sweep["scale"] == scale)
    c, y = sweep["c"][chosen], sweep[name][chosen]
    if logarithmic:
        ax.loglog(c, np.clip(y, *CLAMP), ".-", label=label)
    else:
        ax.semilogx(c, y, ".-", label=label)
    ax.set_xlabel("c")
    ax.set_ylabel(words)


def sweep(found: Sweep, ax: Axes | None, quantity: str) -> Axes:
    """One panel of the paper's figure, with a line per schedule and scale."""
    known = {panel[0]: panel for panel in PANELS}
    if quantity not in known:
        raise Error(f"quantity is {quantity!r}, but must be one of {', '.join(known)}")
    figures, scales = np.unique(found["figure"]), np.unique(found["scale"])
    ax = axes(ax)
    for figure in figures:
        for scale in scales:
            words = f"figure {figure}, scale {scale:g}" if len(figures) > 1 else f"scale {scale:g}"
            _panel(ax, found, figure, scale, known[quantity], words)
    if len(figures) > 1 or len(scales) > 1:
        ax.legend()
    return ax


def sweep_figure(found: Sweep) -> NDArray[Any]:
    """The paper's figure: a row of three panels per scale."""
    import matplotlib.pyplot as pyplot

    figures, scales = np.unique(found["figure"]), np.unique(found["scale"])
    size = (4 * len(PANELS), 3 * len(scales))
    grid: NDArray[Any] = pyplot.subplots(
        len(scales), len(PANELS), figsize=size, squeeze=False, layout="constrained"
    )[1]
    for row, scale in zip(grid, scales):
        for place, panel in zip(row, PANELS):
            for figure in figures:
                _panel(place, found, figure, scale, panel, f"figure {figure}")
            place.set_title(f"scale {scale:g}")
            if len(figures) > 1:
                place.legend()
    return grid


def sweep_curves(found: Sweep, ax: Axes | None) -> Axes:
    """Learning curves: f of the average over the steps."""
    curves = found.curves
    ax = axes(ax)
    keys = np.stack([curves["figure"], curves["scale"], curves["c"]])
    for key in np.unique(keys, axis=1).T:
        chosen = (keys == key[:, None]).all(axis=0)
        t, f, error = (curves[name][chosen] for name in ("t", "f_of_average", "f_of_average_stderr"))
        (line,) = ax.loglog(t, f, label=f"c = {key[2]:.3g}")
        if np.isfinite(error).any():
            low = np.maximum(f - error, np.finfo(float).tiny)
            ax.fill_between(t, low, f + error, alpha=0.2, color=line.get_color(), linewidth=0)
    ax.set_xlabel("t")
    ax.set_ylabel(r"$E f(\bar\theta_t)$")
    if len(ax.get_lines()) <= 12:
        ax.legend()
    return ax


def comparison(found: Comparison, ax: Axes | None) -> Axes:
    """f of each method's output over the samples."""
    curves = found.curves
    ax = axes(ax)
    labels = curves["label"]
    for label in dict.fromkeys(labels.tolist()):
        chosen = labels == label
        samples, f, error = (curves[name][chosen] for name in ("samples", "f", "f_stderr"))
        (line,) = ax.loglog(samples, f, label=label)
        low = np.maximum(f - error, np.finfo(float).tiny)
        ax.fill_between(samples, low, f + error, alpha=0.2, color=line.get_color(), linewidth=0)
    ax.set_xlabel("samples")
    ax.set_ylabel(r"$E f$")
    ax.legend()
    return ax
