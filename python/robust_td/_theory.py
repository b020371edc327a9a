"""What is proved about a problem, and exact expectations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _html, _native
from ._numbers import number, whole
from ._problem import Problem, problem
from ._progress import Progress, telling

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def as_problem(found: Problem | str) -> Problem:
    """A problem, or the one of this name."""
    return found if isinstance(found, Problem) else problem(found)


class Certificate:
    """Proved bounds for Algorithm 1 on a problem."""

    def __init__(self, report: dict[str, Any]) -> None:
        self._report = report

    @property
    def bounds(self) -> dict[str, float | None]:
        """The bounds on E f(average) of the certificates P, X, Y and C; :attr:`proved` says which of them hold."""
        return {name: None if entry is None else entry["bound"] for name, entry in self._entries()}

    @property
    def proved(self) -> dict[str, bool]:
        """Whether all hypotheses of a certificate hold; :meth:`why_not` names the one that fails."""
        return {name: entry is not None and bool(entry["applies"]) for name, entry in self._entries()}

    def _entries(self) -> list[tuple[str, dict[str, Any] | None]]:
        return [(name.upper(), entry) for name, entry in self._report["certificates"].items()]

    @property
    def c(self) -> float | None:
        """The step size constant."""
        value: float | None = self._report["c"]
        return value

    @property
    def recommended_c(self) -> float | None:
        """The constant that minimises certificate Y."""
        value: float | None = self._report["recommended"]["c"]
        return value

    @property
    def coordinates(self) -> dict[str, float | None]:
        """The best proved bound on E f(average) of Algorithm 1 run on linearly transformed features, each with its own best c.

        ``identity`` has the features as they are, ``diagonal`` scales each to second moment 1 (algorithm ``alg1-scaled``), ``whitened`` gives
        them covariance I (``alg1-whitened``), ``optimised`` has the best diagonal scaling. f is the same function in all of them.
        """
        return {entry["name"]: entry["recommended"]["bound"] for entry in self._report["coordinates"]}

    def why_not(self, name: str) -> str | None:
        """Why a certificate is not proved.

        Parameters
        ----------
        name
            P, X, Y or C.

        Returns
        -------
        str or None
            The hypothesis that fails, and by how much; None if the certificate is proved.
        """
        entry = self._report["certificates"][name.lower()]
        words: str | None = self._report.get("mixing_unavailable") if entry is None else entry["why_not"]
        return words

    def to_dict(self) -> dict[str, Any]:
        """What ``robust-td certify --json`` prints.

        Returns
        -------
        dict
            Constants, hypotheses, bounds.
        """
        return self._report

    def __repr__(self) -> str:
        proved = self.proved
        words = ", ".join(
            f"{name}: {_html.words(bound)}" + ("" if proved[name] else " (not proved)")
            for name, bound in self.bounds.items()
        )
        return f"<Certificate for c = {_html.words(self.c)}: {words}; f(0) = {self._report['f_zero']:.6g}>"

    def _repr_html_(self) -> str:
        rows = []
        for name, entry in self._entries():
            if entry is not None:
                rows.append((name, entry["bound"], entry["iterate_bound"], entry["applies"], entry["why_not"]))
        title = f"Certificates for c = {_html.words(self.c)}; f(0) = {self._report['f_zero']:.6g}"
        return _html.table(title, ["certificate", "E f(avg) <=", "E|theta_t - theta*|^2 <=", "proved", "why not"], rows)


def certify(problem: Problem | str, horizon: int, c: float | None = None) -> Certificate:
    """Reports what is proved about Algorithm 1 on a problem, with explicit constants.

    Parameters
    ----------
    problem
        A problem, or its name in the catalog.
    horizon
        The horizon T.
    c
        The constant of the step sizes; by default the one that minimises certificate Y.

    Returns
    -------
    Certificate
        Bounds on the expected error of the average, which of them are proved, and why not the others.

    Raises
    ------
    Error
        When an argument is out of range.

    Examples
    --------
    >>> import robust_td as rtd
    >>> found = rtd.certify("paper-ring", horizon=10**7, c=50)
    >>> found.proved
    {'P': False, 'X': True, 'Y': True, 'C': True}
    >>> round(found.bounds["Y"], 1)
    150.2
    """
    value = None if c is None else number("c", c)
    text = _native.certify(as_problem(problem)._native, whole("horizon", horizon), value)
    return Certificate(json.loads(text))


class Expectation(NamedTuple):
    """Exact expectations of TD(0) from theta_0 = 0, without sampling."""

    #: The steps: all up to 100,000, otherwise 200 per decade.
    t: NDArray[np.int64]
    #: E|theta_t|^2.
    norm_sq: NDArray[np.float64]
    #: E f(theta_t).
    f: NDArray[np.float64]
    #: E f of the average of the iterates, weighted by the step sizes.
    f_average: float
    #: The largest E|theta_t|^2 over all steps.
    max_norm_sq: float
    #: The first step that attains it.
    peak_step: int
    #: E theta_T.
    mean_theta: NDArray[np.float64]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plots E f(theta_t) and E|theta_t|^2 over the steps.

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

        return _plot.expectation(self, ax)

    def __repr__(self) -> str:
        return (
            f"<Expectation: {int(self.t[-1])} steps, E f of the average {self.f_average:.6g}, "
            f"largest E|theta_t|^2 {self.max_norm_sq:.6g}>"
        )

    def _repr_html_(self) -> str:
        rows = [("steps", int(self.t[-1])), ("E f of the average", self.f_average), ("largest E|theta|^2", self.max_norm_sq)]
        return _html.block("Exact expectation", rows)


def expectation(
    problem: Problem | str, horizon: int, c: float, *, schedule: str = "decaying", progress: Progress = None
) -> Expectation:
    """Computes exact expectations of Algorithm 1, without sampling.

    Parameters
    ----------
    problem
        A problem, or its name in the catalog.
    horizon
        The horizon T, and the number of steps.
    c
        The constant of the step sizes.
    schedule
        ``decaying``, ``constant`` or ``plain`` (c is the step size itself).
    progress
        True for a bar (tqdm, if installed), or a function of (steps done, steps).

    Returns
    -------
    Expectation
        Curves over the steps, and the error of the average.

    Raises
    ------
    Error
        When an argument is out of range.

    Examples
    --------
    >>> import robust_td as rtd
    >>> exact = rtd.expectation("two-state", horizon=1000, c=0.5)
    >>> exact
    <Expectation: 1000 steps, E f of the average 0.255037, largest E|theta_t|^2 0.559308>
    """
    native = as_problem(problem)._native
    with telling(progress, "steps") as tell:
        return Expectation(*_native.expectation(native, whole("horizon", horizon), number("c", c), schedule, tell))
