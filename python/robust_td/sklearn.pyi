"""Policy evaluation as a scikit-learn estimator."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._fit import Fit
from ._results import Prediction

__all__ = ["ValueEstimator"]

class ValueEstimator:
    discount: float
    features: str
    algorithm: str
    confidence: float
    threads: int | None
    fit_: Fit
    coef_: NDArray[np.float64]
    n_features_in_: int
    def __init__(
        self,
        discount: float = 0.99,
        features: str = "standardise + bias",
        algorithm: str = "auto",
        confidence: float = 0.95,
        threads: int | None = None,
    ) -> None: ...
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        next_obs: ArrayLike | None = None,
        terminated: ArrayLike | None = None,
        truncated: ArrayLike | None = None,
        episode: ArrayLike | None = None,
        rho: ArrayLike | None = None,
    ) -> ValueEstimator: ...
    def predict(self, X: ArrayLike) -> NDArray[np.float64]: ...
    def predict_interval(self, X: ArrayLike) -> Prediction: ...
    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> ValueEstimator: ...
    def set_fit_request(
        self,
        *,
        next_obs: bool | str | None = ...,
        terminated: bool | str | None = ...,
        truncated: bool | str | None = ...,
        episode: bool | str | None = ...,
        rho: bool | str | None = ...,
    ) -> ValueEstimator: ...
    def set_score_request(self, *, sample_weight: bool | str | None = ...) -> ValueEstimator: ...
    def get_metadata_routing(self) -> Any: ...
