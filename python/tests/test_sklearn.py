"""The scikit-learn estimator: scikit-learn's own checks, pipelines, metadata."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import robust_td as rtd
from conftest import DISCOUNT, walk
from robust_td.sklearn import ValueEstimator


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([ValueEstimator(), ValueEstimator(discount=0.5, features="identity + bias")])
def test_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_answer_is_that_of_evaluate() -> None:
    log = walk(3000)
    fit = rtd.evaluate(log, discount=DISCOUNT)
    rest = {name: log[name] for name in ("next_obs", "terminated", "truncated", "episode")}
    model = ValueEstimator(discount=DISCOUNT).fit(log["obs"], log["reward"], **rest)
    assert np.array_equal(model.predict(log["obs"]), fit.predict(log["obs"]))
    assert np.array_equal(model.coef_, fit.theta)
    assert np.array_equal(model.predict_interval(log["obs"]).upper, fit.predict_interval(log["obs"]).upper)


def test_pipelines_and_metadata() -> None:
    log = walk(3000)
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = ValueEstimator(DISCOUNT).set_fit_request(truncated=True, episode=True)
        model = make_pipeline(StandardScaler(), estimator)
        model.fit(log["obs"], log["reward"], truncated=log["truncated"], episode=log["episode"])
    plain = {name: log[name] for name in ("obs", "reward", "truncated", "episode")}
    fit = rtd.evaluate(plain, discount=DISCOUNT)
    assert model.predict(log["obs"]) == pytest.approx(fit.predict(log["obs"]))


def test_parameters_are_searched() -> None:
    log = walk(1000)
    search = GridSearchCV(ValueEstimator(), {"discount": [0.5, 0.9]}, cv=2)
    search.fit(log["obs"], log["reward"])
    assert search.best_params_["discount"] in (0.5, 0.9)
