"""Columns by name and categories: data frames of every kind give the command's answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import robust_td as rtd

SPEC = "standardise(x) + one-hot(state) + bias"


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """A walk over three states, in episodes of 30 rows."""
    rng = np.random.default_rng(5)
    states = np.array(["amber", "blue", "cyan"])[rng.integers(0, 3, 900)]
    x = rng.integers(0, 64, 900) / 8
    reward = (states == "blue") + x / 4
    return pd.DataFrame({"state": states, "x": x, "reward": reward, "episode": np.arange(900) // 30})


def frames(frame: pd.DataFrame) -> dict[str, Any]:
    """The same log in every form."""
    return {
        "text": frame,
        "object": frame.assign(state=frame.state.astype(object)),
        "category": frame.assign(state=frame.state.astype("category")),
        "polars": pl.from_pandas(frame),
        "polars categorical": pl.from_pandas(frame).with_columns(pl.col("state").cast(pl.Categorical)),
        "polars enum": pl.from_pandas(frame).with_columns(pl.col("state").cast(pl.Enum(["cyan", "blue", "amber"]))),
        "dictionary": pa.table({**frame.to_dict("list"), "state": pa.array(frame.state.tolist(), from_pandas=True).dictionary_encode()}),
        "dict": {name: frame[name].tolist() for name in frame},
        "arrays": {name: frame[name].to_numpy() for name in frame},
    }


def test_every_frame_gives_the_answer_of_the_command(
    frame: pd.DataFrame, command: Callable[..., Any], tmp_path: Path
) -> None:
    path, model = tmp_path / "log.csv", tmp_path / "model.json"
    frame.to_csv(path, index=False)
    expected = command("evaluate", path, "--discount", 0.9, "--features", SPEC, "--out", model, "--json")
    values = command("predict", model, path).splitlines()[1:]
    values = np.array([line.split(",") for line in values], dtype=float)
    for name, log in frames(frame).items():
        fit = rtd.evaluate(log, discount=0.9, features=SPEC)
        assert fit.theta.tolist() == expected["theta_bar"], name
        assert fit.feature_names == expected["feature_names"], name
        found = fit.predict_interval(log)
        assert np.array_equal(np.column_stack(found), values), name
        mapped = rtd.evaluate(log, discount=0.9, columns={"obs": ["x", "state"]})
        assert mapped.to_dict()["features"] == "standardise + one-hot(state) + bias", name
        assert np.array_equal(mapped.theta, fit.theta), name


def test_prediction_finds_columns_by_name(frame: pd.DataFrame, tmp_path: Path) -> None:
    fit = rtd.evaluate(frame, discount=0.9, features=SPEC)
    swapped = frame[["x", "episode", "state"]]
    assert np.array_equal(fit.predict(swapped), fit.predict(frame))
    assert np.array_equal(fit.predict({"x": frame.x, "state": frame.state}), fit.predict(frame))
    fit.save(tmp_path / "model.json")
    assert np.array_equal(rtd.load(tmp_path / "model.json").predict(swapped), fit.predict(frame))
    with pytest.raises(rtd.Error, match="no column is named state; the features need x, state"):
        fit.predict(frame[["x", "reward"]])
    assert fit.plot_values() is not None


def test_an_unseen_level_is_a_warning(frame: pd.DataFrame) -> None:
    fit = rtd.evaluate(frame, discount=0.9, features=SPEC)
    new = pd.DataFrame({"x": [1.0, 2.0, 3.0], "state": ["blue", "dun", "dun"]})
    with pytest.warns(rtd.UnseenCategoryWarning, match=r'2 rows have a category.*row 2, column state: "dun"'):
        found = fit.predict_interval(new)
    assert np.isfinite(found.lower[0]) and np.isinf(found.lower[1:]).all() and np.isinf(found.upper[1:]).all()
    with pytest.warns(rtd.UnseenCategoryWarning):
        fit.predict(new)


def test_missing_levels(frame: pd.DataFrame) -> None:
    holes = frame.assign(state=frame.state.where(frame.index % 9 != 4, None))
    with pytest.raises(rtd.Error, match=r"row 5, column state.*one-hot\(state; missing=level\)"):
        rtd.evaluate(holes, discount=0.9, features=SPEC)
    spec = "standardise(x) + one-hot(state; missing=level) + bias"
    results = [rtd.evaluate(log, discount=0.9, features=spec) for log in frames(holes).values()]
    assert results[0].feature_names[4] == "one-hot(state is missing)"
    for fit in results:
        assert np.array_equal(fit.theta, results[0].theta)


def test_inspection_counts_levels(frame: pd.DataFrame) -> None:
    for name, log in frames(frame).items():
        report = rtd.inspect(log).to_dict()
        assert report["categories"][0]["levels"] == 3, name
        assert [feature["name"] for feature in report["features"]] == ["x"], name


def test_a_wrong_name_is_refused(frame: pd.DataFrame) -> None:
    with pytest.raises(rtd.Error, match="no column is named sate; did you mean state?"):
        rtd.evaluate(frame, discount=0.9, features="one-hot(sate)")
