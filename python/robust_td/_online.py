"""Learning from a stream, one transition at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _html, _native
from ._arrays import floats
from ._evaluate import learner_options
from ._native import Error
from ._numbers import number, whole

Floats = NDArray[np.float64]


class Algorithm(NamedTuple):
    """An algorithm."""

    id: str
    title: str
    #: Whether it learns from logs and streams; the others need choices of actions.
    learns_from_logs: bool


def algorithms() -> list[Algorithm]:
    """All algorithms."""
    return [Algorithm(*entry) for entry in _native.algorithms()]


class OnlineTD:
    """A value function V(x) = x . theta that learns from a stream of transitions between feature vectors.

    Parameters
    ----------
    discount
        The discount factor, at least 0 and below 1.
    dimension
        The length of the feature vectors.
    algorithm
        Any id of :func:`algorithms`. ``auto`` is least squares of all samples, up to 500 features.
    parameters
        Those of the algorithm, and what cannot be measured beforehand: ``c``, ``horizon``, ``phi_inf`` (a bound on the norm of the
        features), ``step``, ``lambda_``, ...

    A pickled learner continues to the same bits.
    """

    def __init__(self, discount: float, dimension: int, algorithm: str = "auto", **parameters: Any) -> None:
        options, pairs = learner_options(parameters)
        options["algorithm"] = algorithm
        if algorithm == "auto" and "c" in options:
            options["algorithm"] = "alg1"
        self._native = _native.OnlineTD(number("discount", discount), whole("dimension", dimension), options, pairs)

    def learn_one(
        self,
        x: Any,
        reward: float,
        next_x: Any = None,
        terminated: bool = False,
        truncated: bool = False,
        rho: float = 1.0,
    ) -> OnlineTD:
        """Learns from one transition. After a terminated one the value is 0, and ``next_x`` may be None."""
        following = None if next_x is None else _vector("next_x", next_x)
        self._native.learn_one(
            _vector("x", x), number("reward", reward), following, bool(terminated), bool(truncated), number("rho", rho)
        )
        return self

    def learn_many(
        self, X: Any, reward: Any, X_next: Any, terminated: Any = None, truncated: Any = None, rho: Any = None
    ) -> OnlineTD:
        """Learns from the rows of arrays, in order; the same as row by row."""
        x = _matrix("X", X)
        rows = len(x)
        self._native.learn_many(
            x,
            _numbers("reward", reward),
            _matrix("X_next", X_next),
            _flags("terminated", terminated, rows),
            _flags("truncated", truncated, rows),
            None if rho is None else _numbers("rho", rho),
        )
        return self

    def start_episode(self) -> None:
        """Says that the next transition does not follow the last one, though that did not end its episode."""
        self._native.start_episode()

    def value(self, x: Any) -> Any:
        """The value of a feature vector, or the values of the rows of a matrix."""
        data = _plain("x", x)
        if data.ndim == 2:
            return self._native.value_many(data)
        return self._native.value_one(data.reshape(-1))

    def predict_one(self, x: Any) -> float:
        """The value of a feature vector, under the name that river uses."""
        return self._native.value_one(_vector("x", x))

    @property
    def theta(self) -> Floats:
        """The weights: the algorithm's answer so far."""
        return self._native.theta

    @property
    def algorithm(self) -> str:
        """The id of the algorithm that learns."""
        return self._native.algorithm

    @property
    def dimension(self) -> int:
        """The length of the feature vectors."""
        return self._native.dimension

    @property
    def discount(self) -> float:
        """The discount factor."""
        return self._native.discount

    @property
    def steps(self) -> int:
        """The number of transitions so far."""
        return self._native.steps

    @property
    def diverged(self) -> bool:
        """Whether the iterates diverged."""
        return self._native.diverged

    def __repr__(self) -> str:
        return f"<OnlineTD {self.algorithm}: {self.dimension} features, discount {self.discount:g}, {self.steps} transitions>"

    def _repr_html_(self) -> str:
        names = ("algorithm", "dimension", "discount", "steps", "diverged")
        return _html.block("OnlineTD", [(name, getattr(self, name)) for name in names])


def _plain(name: str, values: Any) -> Floats:
    data, valid = floats(name, values)
    if valid is not None:
        raise Error(f"{name} has missing values")
    return data


def _vector(name: str, values: Any) -> Floats:
    data = _plain(name, values)
    if data.ndim > 1:
        raise Error(f"{name} has {data.ndim} dimensions, but must be one feature vector")
    return data.reshape(-1)


def _matrix(name: str, values: Any) -> Floats:
    data = _plain(name, values)
    if data.ndim != 2:
        raise Error(f"{name} has {data.ndim} dimensions, but must have one row per transition")
    return data


def _numbers(name: str, values: Any) -> Floats:
    data = _plain(name, values)
    if data.ndim == 2 and data.shape[1] == 1:
        data = data.reshape(-1)
    if data.ndim != 1:
        raise Error(f"{name} has {data.ndim} dimensions, but must have one number per transition")
    return data


def _flags(name: str, values: Any, rows: int) -> NDArray[np.bool_] | None:
    """Flags per row; one flag alone is that of all rows."""
    if values is None:
        return None
    data = _plain(name, values)
    if data.ndim == 0:
        data = np.full(rows, float(data))
    data = data.reshape(-1)
    wrong = np.flatnonzero((data != 0) & (data != 1))
    if wrong.size:
        raise Error(f"{name}[{wrong[0]}] is {data[wrong[0]]}, but must be a flag")
    return data.astype(np.bool_)
