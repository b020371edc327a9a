"""A learned value function."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _html, _native
from ._log import Columns, column_options, source
from ._results import Estimate, Finding, Prediction, findings, html_findings

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class UnseenCategoryWarning(UserWarning):
    """Rows to predict have a category that the log of the model did not have."""


class Fit:
    """A value function that :func:`evaluate` learned from a log.

    Intervals measure the sampling error around the TD fixed point, not how well the features can express the values;
    :attr:`findings` and :meth:`plot_calibration` show that. A fit can be pickled.

    Examples
    --------
    >>> import robust_td as rtd
    >>> fit = rtd.evaluate({"obs": [0.0, 1.0] * 100, "reward": [1.0, 0.0] * 100}, discount=0.9)
    >>> fit
    <Fit auto: value of the policy 5.00132 (95 %: 4.99623 to 5.00649), 199 transitions>
    >>> fit.feature_names, fit.findings[0].kind
    (['obs', 'bias'], 'episodes-without-end')
    """

    def __init__(self, native: _native.Fit) -> None:
        self._native = native

    @property
    def start_value(self) -> Estimate | None:
        """The value of the policy: the mean over the first rows of episodes; over all rows where there are no episodes."""
        found = self._native.start_value
        return None if found is None else Estimate(*found)

    @property
    def monte_carlo(self) -> Estimate | None:
        """The mean return of complete episodes, if there are any: that of the policy that was followed."""
        found = self._native.monte_carlo
        return None if found is None else Estimate(*found)

    @property
    def off_policy(self) -> dict[str, Any] | None:
        """What is known about a policy that was not followed: ``estimates`` by several methods; None where the log describes none."""
        found: dict[str, Any] | None = self.to_dict().get("off_policy")
        return found

    @property
    def converged(self) -> bool | None:
        """Whether the answer solves the equations of the log; None if that is not known."""
        return self._native.converged

    @property
    def diverged(self) -> bool:
        """Whether the iterates of a learner diverged."""
        return self._native.diverged

    @property
    def findings(self) -> list[Finding]:
        """What a reader must know, most serious first."""
        return findings(self.to_dict()["findings"])

    @property
    def discount(self) -> float:
        """The discount factor."""
        return self._native.discount

    @property
    def return_deviation(self) -> Estimate | None:
        """The standard deviation of the return from a random start, if ``return_variance=True`` asked for it."""
        found = self._native.return_deviation
        return None if found is None else Estimate(*found)

    @property
    def feature_choice(self) -> dict[str, Any] | None:
        """How the feature map was chosen: ``chosen``, ``candidates`` with their held-out errors, ...; None if none were compared."""
        return self.to_dict().get("feature_choice")

    @property
    def algorithm(self) -> str:
        """The algorithm's id."""
        return self._native.algorithm

    @property
    def learners(self) -> dict[str, Any] | None:
        """The learners behind an average: ``asked``, ``averaged``, ``standard_error``, ...; None unless ``learners`` asked for one."""
        found: dict[str, Any] | None = self.to_dict().get("learners")
        return found

    @property
    def theta(self) -> NDArray[np.float64]:
        """The weights of the features: the algorithm's answer."""
        return self._native.theta

    @property
    def feature_names(self) -> list[str]:
        """The names of the features; empty if there are more than 100,000."""
        return self._native.feature_names

    @property
    def steps(self) -> int:
        """The number of transitions learned from."""
        return self._native.steps

    @property
    def confidence(self) -> float:
        """The level of intervals."""
        return self._native.confidence

    def to_dict(self) -> dict[str, Any]:
        """What ``robust-td evaluate --json`` prints.

        Returns
        -------
        dict
            All numbers of the evaluation; None where there is none.
        """
        report: dict[str, Any] = json.loads(self._native.json())
        return report

    def predict(self, obs: Any, *, columns: Columns | None = None) -> NDArray[np.float64]:
        """The values of observations.

        Parameters
        ----------
        obs
            An array with one observation per row, one observation alone, or a log as :func:`evaluate` takes it, whose columns
            are found by name. For a policy that was not
            followed, ``dict(obs=..., target=...)`` gives the values of a policy, and ``dict(obs=..., action=...)`` those of actions; an
            array has the probabilities of all actions after the observation.
        columns
            Names of columns of such a log that differ.

        Returns
        -------
        ndarray
            One value per row.

        Warns
        -----
        UnseenCategoryWarning
            Of categories that the log of the model did not have.
        """
        return self._predicted(obs, columns, intervals=False)[0]

    def predict_interval(self, obs: Any, *, columns: Columns | None = None) -> Prediction:
        """The values of observations with the ends of their intervals, infinite where the error is not known.

        Parameters
        ----------
        obs
            As for :meth:`predict`.
        columns
            Names of columns of a log that differ.

        Returns
        -------
        Prediction
            Three arrays: value, lower, upper.
        """
        value, lower, upper = self._predicted(obs, columns, intervals=True)
        if len(lower) != len(value):
            lower, upper = np.full(len(value), -np.inf), np.full(len(value), np.inf)
        return Prediction(value, lower, upper)

    def _predicted(
        self, obs: Any, columns: Columns | None, *, intervals: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        actions = bool(self._native.actions)
        # The columns of an array are taken in their order, whatever their names were in the log of the model.
        in_order = columns is None and isinstance(obs, Mapping) and np.ndim(obs.get("obs", ())) == 2
        if in_order and not actions:
            obs = obs["obs"]
        elif columns is None and _is_unnamed(obs):
            obs = np.asarray(obs)
        if _is_array(obs):
            found = self._native.predict(_arrays.observations(obs, self._native.inputs), intervals)
        else:
            log = source(obs, columns, None, passes=False, actions=actions, used=set(self._native.columns).__contains__).log
            named = {"obs": "obs"} if in_order else columns
            found = self._native.predict_log(log, {"columns": column_options(named)})
        value, lower, upper, unseen = found
        if unseen is not None:
            warnings.warn(unseen, UnseenCategoryWarning, stacklevel=3)
        return value, lower, upper

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model, which :func:`load` and the command read.

        Parameters
        ----------
        path
            The file, by custom with the ending ``.json``.
        """
        self._native.save(os.fspath(path))

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes a page to show: the value of the policy, what it rests on, and pictures, in one file.

        Parameters
        ----------
        path
            The file, by custom with the ending ``.html``.
        """
        self._native.report(os.fspath(path))

    def plot_calibration(self, ax: Axes | None = None) -> Axes:
        """Plots the returns against the predictions of rows that were held out from the fit.

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

        return _plot.calibration(self, ax)

    def plot_values(self, ax: Axes | None = None, obs: Any = None) -> Axes:
        """Plots values with their intervals, from the smallest to the largest.

        Parameters
        ----------
        ax
            Where to draw; by default a new figure.
        obs
            Observations; by default typical rows of the log.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from . import _plot

        return _plot.values(self, ax, obs)

    def __repr__(self) -> str:
        value = self.start_value
        level = f"{100 * self.confidence:g} %"
        words = "not known" if value is None else f"{value.value:.6g} ({level}: {value.lower:.6g} to {value.upper:.6g})"
        learners = self.learners
        average = "" if learners is None else f", average of {learners['averaged']} learners"
        return f"<Fit {self.algorithm}{average}: value of the policy {words}, {self.steps} transitions>"

    def _repr_html_(self) -> str:
        value, level = self.start_value, f"{100 * self.confidence:g} % interval"
        rows: list[tuple[str, object]] = []
        if value is not None:
            rows.append(("value of the policy", value.value))
            rows.append((level, f"{value.lower:.6g} to {value.upper:.6g}"))
        known = {True: "yes", False: "no", None: "not known"}[self.converged]
        rows += [("converged", known), ("algorithm", self.algorithm), ("transitions", self.steps)]
        if self.learners is not None:
            rows.append(("average of learners", self.learners["averaged"]))
        rows.append(("features", self.to_dict()["features"]))
        return _html.block("Policy evaluation", rows) + html_findings(self.findings)


class Fits(Sequence[Fit]):
    """The fits of several discounts, in the order of the discounts: a sequence of :class:`Fit`."""

    def __init__(self, fits: Iterable[Fit]) -> None:
        self._fits = tuple(fits)

    @overload
    def __getitem__(self, index: int) -> Fit: ...

    @overload
    def __getitem__(self, index: slice) -> Fits: ...

    def __getitem__(self, index: int | slice) -> Fit | Fits:
        if isinstance(index, slice):
            return Fits(self._fits[index])
        return self._fits[index]

    def __len__(self) -> int:
        return len(self._fits)

    @property
    def discounts(self) -> list[float]:
        """The discounts."""
        return [fit.discount for fit in self._fits]

    @property
    def start_values(self) -> list[Estimate | None]:
        """The value of the policy for each discount."""
        return [fit.start_value for fit in self._fits]

    def to_dict(self) -> dict[str, Any]:
        """What ``robust-td evaluate --json`` prints.

        Returns
        -------
        dict
            ``discounts`` is the list of the results.
        """
        report: dict[str, Any] = json.loads(_native.fits_json([fit._native for fit in self._fits]))
        return report

    def __repr__(self) -> str:
        lines = (f"  {fit.discount:g}: {fit.start_value}" for fit in self._fits)
        return "\n".join([f"<Fits: value of the policy by discount, {len(self)} fits>", *lines])


def load(path: str | os.PathLike[str]) -> Fit:
    """Reads a model that :meth:`Fit.save` or the command wrote.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Fit
        The value function. It has no sample of rows, so its report has no pictures of them.

    Raises
    ------
    Error
        When the file is not a model, or of another version.

    Examples
    --------
    >>> import robust_td as rtd
    >>> rtd.evaluate({"obs": [0.0, 1.0] * 100, "reward": [1.0, 0.0] * 100}, discount=0.9).save("model.json")
    >>> rtd.load("model.json").predict([0.0]).round(3)
    array([5.263])
    """
    return Fit(_native.Fit.load(os.fspath(path)))


def _is_unnamed(obs: Any) -> bool:
    """Whether this is a data frame of an array: its columns have the names that pandas or polars give by themselves."""
    names = getattr(obs, "columns", None)
    if names is None or not hasattr(obs, "__array__"):
        return False
    listed = list(names)
    return listed in (list(range(len(listed))), [f"column_{k}" for k in range(len(listed))])


def _is_array(obs: Any) -> bool:
    """Whether these are plain observations rather than a log."""
    if isinstance(obs, np.ndarray):
        return obs.dtype.names is None
    if isinstance(obs, (str, os.PathLike, Mapping)):
        return False
    if isinstance(obs, (list, tuple)):
        return not (obs and all(isinstance(path, (str, os.PathLike)) for path in obs))
    if isinstance(obs, (int, float, np.generic)) or getattr(obs, "ndim", None) == 1:
        return True
    # Tensors are arrays; series have one column; tables have several.
    return hasattr(obs, "__array__") and not hasattr(obs, "columns") and not hasattr(obs, "iterate_episodes")
