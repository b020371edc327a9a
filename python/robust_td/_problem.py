"""Problems: a Markov chain with rewards, features and a discount."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _html, _native
from ._arrays import as_array, floats
from ._native import Error
from ._numbers import number, whole

Floats = NDArray[np.float64]
#: The name of problems of arrays.
UNNAMED = "problem"


class Problem:
    """A policy-evaluation problem with its exact solution.

    Parameters
    ----------
    P
        The transition matrix, n x n; dense, or a SciPy sparse matrix.
    r
        The rewards: n numbers r(s), or n x n numbers r(s, s').
    Phi
        The features, one row per state.
    discount
        The discount factor, at least 0 and below 1.
    start
        The state in which runs start.

    Raises
    ------
    Error
        When a matrix has the wrong shape, a row of P does not sum to 1, or the chain has no single stationary distribution.

    Examples
    --------
    >>> import robust_td as rtd
    >>> p = rtd.Problem([[0.2, 0.8], [0.8, 0.2]], [[0.2, 1.0], [-1.0, 0.4]], [[0.3, 1.0], [-0.3, 1.0]], discount=0.9)
    >>> p
    <Problem: 2 states, 2 features, discount 0.9>
    >>> p.theta_star.round(4), p.stationary, round(p.omega, 4)
    (array([1.6883, 0.6   ]), array([0.5, 0.5]), 0.09)
    """

    def __init__(self, P: Any, r: Any, Phi: Any, discount: float, start: int = 0) -> None:
        self._native = _native.Problem.of_arrays(
            _square("P", P), _rewards(r), _dense("Phi", Phi, 2), number("discount", discount), whole("start", start)
        )

    @classmethod
    def _of(cls, native: _native.Problem) -> Problem:
        problem = cls.__new__(cls)
        problem._native = native
        return problem

    @property
    def name(self) -> str:
        """Its name in the catalog, or its file."""
        return self._native.name

    @property
    def states(self) -> int:
        """The number of states."""
        return self._native.states

    @property
    def dimension(self) -> int:
        """The number of features."""
        return self._native.dimension

    @property
    def discount(self) -> float:
        """The discount factor."""
        return self._native.discount

    @property
    def start(self) -> int:
        """The start state."""
        return self._native.start

    @property
    def omega(self) -> float:
        """The smallest eigenvalue of Phi' D Phi."""
        return self._native.omega

    @property
    def kappa(self) -> float:
        """The condition number of Phi' D Phi."""
        return self._native.kappa

    @property
    def phi_inf(self) -> float:
        """The largest norm of a feature vector."""
        return self._native.phi_inf

    @property
    def r_inf(self) -> float:
        """The largest absolute reward."""
        return self._native.r_inf

    @property
    def f_zero(self) -> float:
        """f(0), the error of theta = 0."""
        return self._native.f_zero

    @property
    def theta_star(self) -> Floats:
        """The TD fixed point."""
        return self._native.theta_star

    @property
    def stationary(self) -> Floats:
        """The stationary distribution."""
        return self._native.stationary

    @property
    def true_values(self) -> Floats:
        """The values of the states, whatever the features."""
        return self._native.true_values

    @property
    def Phi(self) -> Floats:
        """The features, one row per state."""
        return self._native.features

    @property
    def P(self) -> Floats:
        """The transition matrix."""
        return self._dense_edges(2)

    @property
    def r(self) -> Floats:
        """The rewards r(s, s'); 0 where there is no transition."""
        return self._dense_edges(3)

    def _dense_edges(self, which: int) -> Floats:
        edges = self._native.edges()
        matrix = np.zeros((self.states, self.states))
        matrix[edges[0], edges[1]] = edges[which]
        return matrix

    def f(self, theta: Any) -> float:
        """The error of weights: the potential f(theta) = (theta - theta*)' A (theta - theta*).

        Parameters
        ----------
        theta
            The weights.

        Returns
        -------
        float
            0 at the fixed point, :attr:`f_zero` at 0.
        """
        return self._native.f(_dense("theta", theta, 1))

    def to_dict(self) -> dict[str, Any]:
        """What ``robust-td problems NAME --json`` prints.

        Returns
        -------
        dict
            The constants of the problem.
        """
        report: dict[str, Any] = json.loads(self._native.json())
        return report

    def __repr__(self) -> str:
        settings = ", ".join(
            f"{name}={value!r}" if isinstance(value, str) else f"{name}={value:g}"
            for name, value in self._native.settings
        )
        words = f" {self.name}({settings})" if settings else self._title()
        return f"<Problem{words}: {self.states} states, {self.dimension} features, discount {self.discount:g}>"

    def _title(self) -> str:
        """The name, unless it only says that there is none."""
        return "" if self.name == UNNAMED else f" {self.name}"

    def _repr_html_(self) -> str:
        names = ("states", "dimension", "discount", "omega", "kappa", "phi_inf", "r_inf", "f_zero")
        return _html.block(f"Problem{self._title()}", [(name, getattr(self, name)) for name in names])

    def __reduce__(self) -> tuple[Any, ...]:
        if self.name != UNNAMED:
            return (_restored, (self.name, dict(self._native.settings)))
        return (Problem, (self.P, self.r, self.Phi, self.discount, self.start))


def _restored(name: str, settings: dict[str, float | str]) -> Problem:
    return problem(name, **settings)


def _dense(name: str, values: Any, dimensions: int) -> Floats:
    data, valid = floats(name, values)
    if valid is not None:
        raise Error(f"{name} has missing values")
    if data.ndim != dimensions:
        raise Error(f"{name} has {data.ndim} dimensions, but must have {dimensions}")
    return data


def _sparse(name: str, values: Any) -> Any:
    entries = values.tocoo()
    rows, columns = entries.shape
    if rows != columns:
        raise Error(f"{name} is {rows} x {columns}, but must be square")
    row = np.ascontiguousarray(entries.row, dtype=np.int64)
    column = np.ascontiguousarray(entries.col, dtype=np.int64)
    return rows, row, column, np.ascontiguousarray(entries.data, dtype=float)


def _square(name: str, values: Any) -> Any:
    return _sparse(name, values) if hasattr(values, "tocoo") else _dense(name, values, 2)


def _rewards(values: Any) -> Any:
    if hasattr(values, "tocoo"):
        return _sparse("r", values)
    return _dense("r", values, 1 if as_array("r", values).ndim == 1 else 2)


def _setting(name: str, value: Any) -> float | str:
    """A number, or a word that is none."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return number(name, value)


def problem(name: str | os.PathLike[str], **settings: float | str) -> Problem:
    """A problem of the catalog, or of a TOML file.

    Parameters
    ----------
    name
        A name that :func:`problems` lists, or the path of a file.
    settings
        Parameters of the problem of the catalog: numbers, or words such as ``mode="weak"``.

    Returns
    -------
    Problem
        The problem with its exact solution.

    Raises
    ------
    Error
        When there is no such problem or parameter, or the file is invalid.

    Examples
    --------
    >>> import robust_td as rtd
    >>> rtd.problem("paper-ring", scale=0.0625)
    <Problem paper-ring(scale=0.0625): 50 states, 5 features, discount 0.99>
    >>> rtd.problem("e3", eps2=1e-4, mode="weak")
    <Problem e3(eps2=0.0001, mode='weak'): 3 states, 2 features, discount 0.99>
    """
    pairs = [(key, _setting(key, value)) for key, value in settings.items()]
    return Problem._of(_native.problem(os.fspath(name), pairs))


def problems() -> list[dict[str, Any]]:
    """The catalog of problems with known answers.

    Returns
    -------
    list of dict
        With name, summary, source and parameters of each.

    Examples
    --------
    >>> import robust_td as rtd
    >>> rtd.problems()[0]["name"]
    'paper-ring'
    """
    entries: list[dict[str, Any]] = json.loads(_native.catalog())
    return entries
