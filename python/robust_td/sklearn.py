"""Policy evaluation as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from ._evaluate import evaluate
from ._fit import Fit
from ._results import Prediction

__all__ = ["ValueEstimator"]


class ValueEstimator(RegressorMixin, BaseEstimator):  # type: ignore[misc,unused-ignore]
    """The values of observations under the policy that was logged.

    ``fit(obs, reward)`` takes the rows in order: the successor of a row is the next one, of the same episode if ``episode`` is given.
    With ``next_obs`` every row is a transition of its own. All of these are metadata that scikit-learn can route:
    ``ValueEstimator().set_fit_request(next_obs=True, terminated=True)``.

    Parameters
    ----------
    discount : float, default=0.99
        The discount factor.
    features : str, default="standardise + bias"
        The feature map; ``identity + bias`` behind a transformer of your own.
    algorithm : str, default="auto"
        By default least squares.
    confidence : float, default=0.95
        The level of intervals.
    threads : int, default=None
        The number of threads.

    Attributes
    ----------
    fit_ : robust_td.Fit
        The result of the evaluation.
    coef_ : ndarray of shape (n_weights,)
        The weights of the features.
    n_features_in_ : int
        The length of observations.

    Examples
    --------
    >>> import numpy as np
    >>> from robust_td.sklearn import ValueEstimator
    >>> obs, reward = np.array([[0.0], [1.0]] * 100), np.array([1.0, 0.0] * 100)
    >>> ValueEstimator(discount=0.9).fit(obs, reward).predict([[0.0], [1.0]]).round(3)
    array([5.263, 4.737])
    """

    def __init__(
        self,
        discount: float = 0.99,
        features: str = "standardise + bias",
        algorithm: str = "auto",
        confidence: float = 0.95,
        threads: int | None = None,
    ) -> None:
        self.discount = discount
        self.features = features
        self.algorithm = algorithm
        self.confidence = confidence
        self.threads = threads

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        next_obs: Any = None,
        terminated: Any = None,
        truncated: Any = None,
        episode: Any = None,
        rho: Any = None,
    ) -> ValueEstimator:
        """Learns the values of the observations X from the rewards y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The observations.
        y : array-like of shape (n_samples,)
            The rewards.
        next_obs : array-like of shape (n_samples, n_features), default=None
            The observations after the transitions; by default those of the next row.
        terminated : array-like of shape (n_samples,), default=None
            Whether the process ended after the row.
        truncated : array-like of shape (n_samples,), default=None
            Whether observation stopped after the row.
        episode : array-like of shape (n_samples,), default=None
            The episode of the row.
        rho : array-like of shape (n_samples,), default=None
            Importance ratios.

        Returns
        -------
        ValueEstimator
            Itself.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        log: dict[str, Any] = {"obs": X, "reward": np.asarray(y, dtype=float)}
        if next_obs is not None:
            log["next_obs"] = check_array(next_obs, dtype=np.float64)
        for name, values in (("terminated", terminated), ("truncated", truncated), ("episode", episode), ("rho", rho)):
            if values is not None:
                log[name] = column_or_1d(values)
        self.fit_: Fit = evaluate(
            log,
            self.discount,
            features=self.features,
            algorithm=self.algorithm,
            confidence=self.confidence,
            threads=self.threads,
        )
        self.coef_: NDArray[np.float64] = self.fit_.theta
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The values of observations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The observations.

        Returns
        -------
        ndarray of shape (n_samples,)
            One value per row.
        """
        observations = self._checked(X)
        return self.fit_.predict(observations)

    def predict_interval(self, X: Any) -> Prediction:
        """The values of observations with the ends of their intervals.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The observations.

        Returns
        -------
        Prediction
            Three arrays: value, lower, upper.
        """
        observations = self._checked(X)
        return self.fit_.predict_interval(observations)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=np.float64)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 of the values against returns, where these are known.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The observations.
        y : array-like of shape (n_samples,)
            Their returns.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            At most 1.
        """
        return float(super().score(X, y, sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # y are rewards, not the values that are predicted.
        tags.regressor_tags.poor_score = True
        tags.non_deterministic = False
        return tags
