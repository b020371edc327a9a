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

    #: Its name in the command, in models and here.
    id: str
    #: In words.
    title: str
    #: Whether it learns from logs and streams; the others need choices of actions.
    learns_from_logs: bool


def algorithms() -> list[Algorithm]:
    """All algorithms.

    Returns
    -------
    list of Algorithm
        In the order of ``robust-td algorithms``.

    Examples
    --------
    >>> import robust_td as rtd
    >>> rtd.algorithms()[0]
    Algorithm(id='alg1', title='...', learns_from_logs=True)
    """
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
        Any id of :func:`algorithms`. By default ``auto``, least squares of all samples, up to 500 features; with a constant
        ``c``, ``alg1``.
    parameters
        Those of the algorithm, and what cannot be measured beforehand: ``c``, ``horizon``, ``phi_inf`` (a bound on the norm of the
        features), ``step``, ``lambda_``, ...

    A pickled learner continues to the same bits.

    Raises
    ------
    Error
        When an option is invalid, or an algorithm needs one that a stream cannot be measured for.

    Examples
    --------
    >>> import robust_td as rtd
    >>> td = rtd.OnlineTD(discount=0.5, dimension=1)
    >>> td.learn_one([1.0], 3.0, [1.0]).value([1.0])
    6.0
    >>> rtd.OnlineTD(0.9, 4, "alg1", c=0.5, phi_inf=10, horizon=1000)
    <OnlineTD alg1: 4 features, discount 0.9, 0 transitions>
    """

    def __init__(self, discount: float, dimension: int, algorithm: str | None = None, **parameters: Any) -> None:
        options, pairs = learner_options(parameters)
        options["algorithm"] = algorithm
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
        """Learns from one transition.

        Parameters
        ----------
        x
            The features before the transition.
        reward
            The reward.
        next_x
            The features after it; None is allowed if it terminated.
        terminated
            Whether the process ended: the value after it is 0.
        truncated
            Whether observation stopped: the value after it is that of ``next_x``, and traces restart.
        rho
            The importance ratio, for methods that use it.

        Returns
        -------
        OnlineTD
            Itself.
        """
        following = None if next_x is None else _vector("next_x", next_x)
        self._native.learn_one(
            _vector("x", x), number("reward", reward), following, bool(terminated), bool(truncated), number("rho", rho)
        )
        return self

    def learn_many(
        self, X: Any, reward: Any, X_next: Any, terminated: Any = None, truncated: Any = None, rho: Any = None
    ) -> OnlineTD:
        """Learns from the rows of arrays, in order; the same as row by row.

        Parameters
        ----------
        X
            The features before the transitions, one row each.
        reward
            The rewards.
        X_next
            The features after the transitions; those of terminated rows are ignored.
        terminated
            One flag per row, or one for all.
        truncated
            The same.
        rho
            Importance ratios, for methods that use them.

        Returns
        -------
        OnlineTD
            Itself.
        """
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
        """Marks the next transition as the start of an episode, where the last one did not end its own."""
        self._native.start_episode()

    def value(self, x: Any) -> Any:
        """The value of a feature vector, or the values of the rows of a matrix.

        Parameters
        ----------
        x
            One vector, or one per row.

        Returns
        -------
        float or ndarray
            One number, or one per row.
        """
        data = _plain("x", x)
        if data.ndim == 2:
            return self._native.value_many(data)
        return self._native.value_one(data.reshape(-1))

    def predict_one(self, x: Any) -> float:
        """The value of a feature vector, under the name that river uses.

        Parameters
        ----------
        x
            The feature vector.

        Returns
        -------
        float
            Its value.
        """
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
    if type(values) is np.ndarray and values.dtype == np.bool_ and values.ndim == 1:
        return np.ascontiguousarray(values)
    data = _plain(name, values)
    if data.ndim == 0:
        data = np.full(rows, float(data))
    data = data.reshape(-1)
    wrong = np.flatnonzero((data != 0) & (data != 1))
    if wrong.size:
        raise Error(f"{name}[{wrong[0]}] is {data[wrong[0]]}, but must be a flag")
    return data.astype(np.bool_)
