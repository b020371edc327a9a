"""Chooses features, evaluates several discounts, and estimates how much returns vary."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import robust_td as rtd


def log(seed: int = 0, episodes: int = 150, length: int = 30) -> dict[str, Any]:
    """Episodes that are all cut: x' = 0.8 x + 0.6 noise, reward x^2 + noise."""
    rng = np.random.default_rng(seed)
    x = np.empty((episodes, length + 1))
    x[:, 0] = rng.normal(size=episodes)
    for t in range(length):
        x[:, t + 1] = 0.8 * x[:, t] + 0.6 * rng.normal(size=episodes)
    last = np.zeros((episodes, length), bool)
    last[:, -1] = True
    return {
        "obs": x[:, :-1].reshape(-1, 1),
        "next_obs": x[:, 1:].reshape(-1, 1),
        "reward": x[:, :-1].ravel() ** 2 + 0.5 * rng.normal(size=episodes * length),
        "truncated": last.ravel(),
        "episode": np.repeat(np.arange(episodes), length),
    }


def test_auto_finds_a_map_that_fits() -> None:
    fit = rtd.evaluate(log(), discount=0.9, features="auto")
    choice = fit.feature_choice
    assert choice is not None
    assert choice["chosen"] == fit.to_dict()["features"]
    assert choice["unit"] == "episode" and choice["units"] == 150
    errors = {each["features"]: each["error"] for each in choice["candidates"] if each["error"] is not None}
    assert errors["standardise | polynomial(degree=2)"] < errors["standardise + bias"]
    # V = a x^2 + b
    a = 1 / (1 - 0.9 * 0.64)
    b = 0.9 * 0.36 * a / 0.1
    points = np.array([[-1.0], [0.0], [1.0]])
    assert np.allclose(fit.predict(points), a * points.ravel() ** 2 + b, rtol=0.1)


def test_a_list_of_maps_is_compared() -> None:
    fit = rtd.evaluate(log(), discount=0.9, features=["bias", "standardise + bias", "standardise | polynomial(degree=2)"])
    assert fit.feature_choice is not None
    assert fit.feature_choice["chosen"] == "standardise | polynomial(degree=2)"
    assert rtd.evaluate(log(), discount=0.9, features=["bias"]).feature_choice is None


def test_several_discounts_are_a_sequence_of_fits() -> None:
    discounts = [0.5, 0.9, 0.95]
    fits = rtd.evaluate(log(), discount=discounts)
    assert isinstance(fits, rtd.Fits) and len(fits) == 3 and fits.discounts == discounts
    for fit, discount in zip(fits, discounts, strict=True):
        alone = rtd.evaluate(log(), discount=discount)
        assert fit.start_value == alone.start_value
        assert (fit.theta == alone.theta).all()
    report = fits.to_dict()
    assert [each["discount"] for each in report["discounts"]] == discounts
    assert json.dumps(report)
    assert fits[1:].discounts == discounts[1:]
    assert np.array_equal(rtd.evaluate(log(), discount=tuple(discounts))[0].theta, fits[0].theta)
    with pytest.raises(rtd.Error, match="discount is 2"):
        rtd.evaluate(log(), discount=[0.9, 2.0])


def test_the_deviation_of_the_return() -> None:
    fit = rtd.evaluate(log(), discount=0.9, features="standardise | polynomial(degree=2)", return_variance=True)
    found = fit.return_deviation
    assert found is not None
    # The tests of the library compare it with closed forms and simulations.
    report = fit.to_dict()["return_variance"]
    assert (found.value, found.lower, found.upper) == (report["standard_deviation"], report["lower"], report["upper"])
    assert found.upper - found.lower < 0.5 * found.value
    assert rtd.evaluate(log(), discount=0.9).return_deviation is None
