"""Sweeps over the step size constant, comparisons of methods, and the paper's figures."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _html, _native, _parts
from ._numbers import number, whole
from ._native import Error
from ._problem import Problem
from ._progress import Progress, telling
from ._table import Table
from ._theory import as_problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .executor import Executor

#: How many rows a notebook shows.
SHOWN = 12


class Sweep(Table):
    """The results of a sweep: one row per schedule, feature scaling and c; the columns of ``results.csv``."""

    def __init__(self, native: _native.SweepResults) -> None:
        super().__init__(native.csv())
        self._native = native

    @property
    def curves(self) -> Table:
        """The learning curves; the columns of ``curves.csv``."""
        return Table(self._native.curves_csv())

    @property
    def thresholds(self) -> list[list[float | None]]:
        """The c above which every step size is mean-square stable, by schedule and scale; None for large problems."""
        return self._native.thresholds()

    @property
    def seconds(self) -> float:
        """The wall time."""
        return self._native.execution[2]

    @property
    def lane_steps(self) -> int:
        """The number of TD updates."""
        return self._native.execution[3]

    def to_csv(self) -> str:
        """The text of ``results.csv``.

        Returns
        -------
        str
            The bytes that the command writes.
        """
        return self._native.csv()

    def write(self, directory: str | os.PathLike[str]) -> None:
        """Writes what the command writes: tables, figures and a page.

        Parameters
        ----------
        directory
            Made if it does not exist.
        """
        self._native.write(os.fspath(directory))

    def plot(self, ax: Axes | None = None, quantity: str = "gap") -> Axes:
        """Plots a quantity over c.

        Parameters
        ----------
        ax
            Where to draw; by default a new figure.
        quantity
            ``gap``, ``ratio`` or ``divergence_rate``.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from . import _plot

        return _plot.sweep(self, ax, quantity)

    def plot_figure(self) -> NDArray[Any]:
        """Draws the paper's figure, a row of three panels per scale.

        Returns
        -------
        ndarray of matplotlib.axes.Axes
            The axes of all panels.
        """
        from . import _plot

        return _plot.sweep_figure(self)

    def plot_curves(self, ax: Axes | None = None) -> Axes:
        """Plots the learning curves, with standard errors.

        Parameters
        ----------
        ax
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from . import _plot

        return _plot.sweep_curves(self, ax)

    def __repr__(self) -> str:
        return f"<Sweep: {len(self)} rows ({', '.join(self.columns[:10])}, ...)>"

    def _repr_html_(self) -> str:
        names = ["figure", "scale", "c", "ratio", "divergence_rate", "gap"]
        rows = list(zip(*(self.values(name) for name in names)))
        more = f", the first {SHOWN} of {len(rows)} rows" if len(rows) > SHOWN else ""
        return _html.table(f"Sweep{more}", names, rows[:SHOWN])


class Comparison(Table):
    """The results of a comparison: one row per method; the columns of ``compare.csv``."""

    def __init__(self, native: _native.Comparison) -> None:
        super().__init__(native.csv())
        self._native = native

    @property
    def curves(self) -> Table:
        """The learning curves; the columns of ``curves.csv``."""
        return Table(self._native.curves_csv())

    def to_dict(self) -> dict[str, Any]:
        """What ``robust-td compare --json`` prints.

        Returns
        -------
        dict
            One entry per method.
        """
        report: dict[str, Any] = json.loads(self._native.json())
        return report

    def to_csv(self) -> str:
        """The text of ``compare.csv``.

        Returns
        -------
        str
            The bytes that the command writes.
        """
        return self._native.csv()

    def to_markdown(self) -> str:
        """A Markdown table.

        Returns
        -------
        str
            One row per method.
        """
        return self._native.markdown()

    def write(self, directory: str | os.PathLike[str]) -> None:
        """Writes what the command writes: tables, a figure and a page.

        Parameters
        ----------
        directory
            Made if it does not exist.
        """
        self._native.write(os.fspath(directory))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plots f of each method's output over the samples, with standard errors.

        Parameters
        ----------
        ax
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from . import _plot

        return _plot.comparison(self, ax)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.values('label'))}>"

    def _repr_html_(self) -> str:
        names = ["label", "f", "f_stderr", "divergence_rate", "oracle"]
        rows = sorted(zip(*(self.values(name) for name in names)), key=lambda row: (row[1] is None, row[1]))
        return _html.table("Comparison", names, rows)


def _numbers(name: str, values: Any) -> list[float]:
    """A number or a list of them."""
    array = np.atleast_1d(np.asarray(values))
    if array.dtype.kind not in "biuf" or array.ndim != 1:
        raise Error(f"{name} must be a number or a list of numbers")
    return [float(value) for value in array]


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """Checked options, without those that are not set."""
    options: dict[str, Any] = {}
    for name, value in given.items():
        if value is None:
            continue
        if name in ("c", "scales"):
            options[name] = _numbers(name, value)
        elif name in ("mode", "indexing", "kernel"):
            options[name] = value
        else:
            options[name] = whole(name, value)
    return options


def sweep(
    problem: Problem | str,
    c: Any,
    horizon: int,
    *,
    runs: int = 48,
    schedule: str | Iterable[str] = "decaying",
    projection: str | Iterable[str] = "none",
    mode: str = "algorithm",
    seed: int | None = None,
    scales: Any = None,
    simulate: int | None = None,
    indexing: str | None = None,
    curve_points_per_decade: int | None = None,
    threads: int | None = None,
    kernel: str | None = None,
    progress: Progress = None,
    executor: Executor | None = None,
) -> Sweep:
    """Sweeps the step size constant c: where iterates stay bounded, where runs diverge, how good the average is.

    Parameters
    ----------
    problem
        A problem, or its name in the catalog.
    c
        The constants.
    horizon
        The horizon T in the step sizes, at least 3.
    runs
        Runs per constant.
    schedule
        ``decaying``, ``constant`` or ``plain`` (c is the step size itself), or several; or those of the authors' later
        experiments: ``theory``, ``theory_log2``, ``inv_t``, ``inv_sqrt_t``, ``inv_t_2_3``, ``inv_omega_t``, ``constant_omega``
        and ``inv_c`` (the step 1/c, which they call constant).
    projection
        ``none``, ``oracle`` (the ball of radius ``|theta*|``) or ``upper`` (a known bound on it), or several.
    mode
        ``algorithm`` (Algorithm 1), ``exact`` (expectations without sampling), ``published`` (the authors' program) or ``tdx``
        (their later engine).
    seed
        Of the random streams of mode ``algorithm``; by default 1.
    scales
        Feature scalings: up to 1 of feature 0 only, above 1 of all features.
    simulate
        Stop after this number of steps.
    indexing
        Of mode ``exact``: ``algorithm``, or ``published`` for the first step and average of the authors' program.
    curve_points_per_decade
        The density of the learning curves.
    threads
        The number of threads, by default one per CPU; the result does not depend on it.
    kernel
        The vector code: ``auto``, ``scalar``, ``portable``, ``avx2`` or ``avx512``; the result does not depend on it.
    progress
        True for a bar (tqdm, if installed), or a function of (steps done, steps).
    executor
        Computes the sweep in parts, such as a :class:`robust_td.ray.RayExecutor`; the result does not depend on it. ``threads`` is then that of each
        part, by default 1, and progress is that of parts.

    Returns
    -------
    Sweep
        One row per schedule, scaling and c.

    Raises
    ------
    Error
        When an argument is out of range.

    Examples
    --------
    >>> import robust_td as rtd
    >>> s = rtd.sweep("paper-ring", c=[0.01, 1.0, 100.0], horizon=1000, runs=8)
    >>> s["divergence_rate"]
    array([0., 0., 0.])
    >>> s.to_pandas()[["c", "gap"]].round(3)
            c    gap
    0    0.01  0.372
    1    1.00  4.113
    2  100.00  4.368
    """
    schedules = [schedule] if isinstance(schedule, str) else list(schedule)
    projections = [projection] if isinstance(projection, str) else list(projection)
    options = _options(
        {
            "c": c,
            "horizon": horizon,
            "runs": runs,
            "mode": mode,
            "seed": seed,
            "scales": scales,
            "simulate": simulate,
            "indexing": indexing,
            "curve_points_per_decade": curve_points_per_decade,
            "threads": threads,
            "kernel": kernel,
        }
    )
    if mode != "algorithm" and seed is None:
        options.pop("seed", None)
    if executor is not None:
        with telling(progress, "parts") as tell:
            native = _parts.sweep(executor, as_problem(problem)._native, schedules, projections, options, tell)
        return Sweep(native)
    with telling(progress, "steps") as tell:
        return Sweep(_native.sweep(as_problem(problem)._native, schedules, projections, options, tell))


def reproduce(
    which: str = "all",
    *,
    c_index: Iterable[int] | None = None,
    c: Any = None,
    mode: str = "published",
    steps: int | None = None,
    simulate: int | None = None,
    runs: int | None = None,
    scales: Any = None,
    seed: int | None = None,
    indexing: str | None = None,
    threads: int | None = None,
    kernel: str | None = None,
    progress: Progress = None,
) -> Sweep:
    """Recomputes the figures of the paper, by default at full size, which takes minutes.

    Parameters
    ----------
    which
        ``fig1``, ``fig2`` or ``all``.
    c_index
        Positions in the paper's grid of constants, 0 to 96.
    c
        Other constants.
    mode
        ``published`` (the authors' program), ``algorithm`` (Algorithm 1 as stated) or ``exact`` (expectations).
    steps
        The horizon T in the step sizes.
    simulate
        Stop after this number of steps.
    runs
        Runs per constant.
    scales
        Feature scalings.
    seed
        Of the random streams of mode ``algorithm``.
    indexing
        Of mode ``exact``: ``algorithm`` or ``published``.
    threads
        The number of threads, by default one per CPU; the result does not depend on it.
    kernel
        The vector code; the result does not depend on it.
    progress
        True for a bar (tqdm, if installed), or a function of (steps done, steps).

    Returns
    -------
    Sweep
        One row per figure, scaling and c; :meth:`Sweep.plot_figure` draws them.

    Raises
    ------
    Error
        When an argument is out of range.

    Examples
    --------
    The paper's figure has 51399.672 and 3.9505569.

    >>> import robust_td as rtd
    >>> rtd.reproduce("fig1", c_index=[30, 31], simulate=30_000)["ratio"][:2].round(3)
    array([5.1399675e+04, 3.9510000e+00])
    """
    if c_index is not None:
        if c is not None:
            raise Error("c and c_index cannot both be set")
        grid = _native.paper_constants()
        indices = [whole("c_index", index) for index in np.atleast_1d(np.asarray(c_index)).tolist()]
        for index in indices:
            if index >= len(grid):
                raise Error(f"c_index {index} is outside the paper's grid, 0 to {len(grid) - 1}")
        c = [grid[index] for index in indices]
    options = _options(
        {
            "c": c,
            "mode": mode,
            "horizon": steps,
            "simulate": simulate,
            "runs": runs,
            "scales": scales,
            "seed": seed,
            "indexing": indexing,
            "threads": threads,
            "kernel": kernel,
        }
    )
    with telling(progress, "steps") as tell:
        return Sweep(_native.reproduce(which, options, tell))


def compare(
    problem: Problem | str,
    algorithms: Iterable[str] | None = None,
    *,
    horizon: int,
    runs: int = 48,
    seed: int = 1,
    curve_points_per_decade: int | None = None,
    threads: int | None = None,
    kernel: str | None = None,
    progress: Progress = None,
    **parameters: float,
) -> Comparison:
    """Runs methods side by side on the same trajectories.

    Parameters
    ----------
    problem
        A problem, or its name in the catalog.
    algorithms
        Ids, with settings of their own: ``alg1:c=0.05``; by default all that apply.
    horizon
        The number of samples.
    runs
        The number of trajectories.
    seed
        Of the trajectories.
    curve_points_per_decade
        The density of the learning curves.
    threads
        The number of threads, by default one per CPU; the result does not depend on it.
    kernel
        The vector code; the result does not depend on it.
    progress
        True for a bar (tqdm, if installed), or a function of (samples done, samples).
    parameters
        Set for all methods that have them, such as ``c``, ``radius`` or ``lambda_``.

    Returns
    -------
    Comparison
        One row per method.

    Raises
    ------
    Error
        When an argument is out of range, or there is no such method.

    Examples
    --------
    >>> import robust_td as rtd
    >>> compared = rtd.compare("two-state", algorithms=["alg1:c=0.05", "lstd"], horizon=10_000, runs=8)
    >>> compared
    <Comparison of alg1:c=0.05, lstd>
    >>> compared["f"][1] < compared["f"][0]
    np.True_
    """
    chosen = None if algorithms is None else [algorithms] if isinstance(algorithms, str) else list(algorithms)
    pairs = [(name.rstrip("_"), number(name, value)) for name, value in parameters.items()]
    options = _options(
        {
            "horizon": horizon,
            "runs": runs,
            "seed": seed,
            "curve_points_per_decade": curve_points_per_decade,
            "threads": threads,
            "kernel": kernel,
        }
    )
    with telling(progress, "samples") as tell:
        return Comparison(_native.compare(as_problem(problem)._native, chosen, pairs, options, tell))


def paper_constants() -> NDArray[np.float64]:
    """The values of c in the paper's figures.

    Returns
    -------
    ndarray
        97 constants, from small to large.

    Examples
    --------
    >>> import robust_td as rtd
    >>> len(rtd.paper_constants()), rtd.paper_constants()[30]
    (97, np.float64(0.001))
    """
    return np.array(_native.paper_constants())
