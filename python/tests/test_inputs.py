"""The traps of arrays and data frames: never misread, never silently wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robust_td as rtd
from conftest import DISCOUNT, frame, walk


@pytest.fixture(scope="module")
def small() -> dict[str, Any]:
    return walk(2000)


def theta(log: Any, **options: Any) -> list[float]:
    found: list[float] = rtd.evaluate(log, discount=DISCOUNT, **options).theta.tolist()
    return found


def test_the_order_and_layout_of_arrays_do_not_matter(small: dict[str, Any]) -> None:
    exact = theta(small)
    wide = np.zeros((2000, 4))
    wide[:, 1:3] = small["obs"]
    unaligned = np.zeros(2000, dtype=[("pad", "u1"), ("reward", "<f8")])
    unaligned["reward"] = small["reward"]
    readonly = small["obs"].copy()
    readonly.flags.writeable = False
    for change in (
        {"obs": np.asfortranarray(small["obs"]), "next_obs": np.asfortranarray(small["next_obs"])},
        {"obs": wide[:, 1:3]},
        {"obs": small["obs"].astype(">f8")},
        {"obs": small["obs"].tolist(), "reward": small["reward"].tolist()},
        {"obs": small["obs"].astype(object)},
        {"obs": readonly},
        {"reward": unaligned["reward"]},
        {"reward": small["reward"][:, None]},
        {"reward": small["reward"][::-1][::-1]},
        {"terminated": small["terminated"].astype(int), "truncated": small["truncated"].astype(float)},
        {"episode": [f"run {number}" for number in small["episode"]]},
        {"episode": small["episode"].astype(np.uint8).astype(float)},
        {"notes": np.array([None, object()] * 1000)},
    ):
        assert theta({**small, **change}) == exact, list(change)
    assert theta({**small, "obs": small["obs"].astype(np.float32)}) != exact


def test_contiguous_arrays_are_not_copied(small: dict[str, Any]) -> None:
    from robust_td import _arrays

    obs = small["obs"]
    assert np.shares_memory(_arrays.matrix("obs", obs)[0], obs)
    ends = small["truncated"]
    assert np.shares_memory(_arrays.flags("truncated", ends)[0], ends)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"obs": lambda log: np.where(np.arange(4000).reshape(-1, 2) == 7, np.nan, log["obs"])}, "row 4, column obs"),
        ({"reward": lambda log: np.ma.MaskedArray(log["reward"], np.arange(2000) == 5)}, "row 6, column reward"),
        ({"reward": lambda log: [None, *log["reward"][1:]]}, "row 1, column reward: the value is missing"),
        ({"reward": lambda log: ["1", *log["reward"][1:]]}, "is not a number"),
        ({"reward": lambda log: np.array([1, "x", *log["reward"][2:]], dtype=object)}, "row 2, column reward: 'x'"),
        ({"reward": lambda log: log["reward"] + 1j}, "complex128"),
        ({"reward": lambda log: log["reward"][:-1]}, "reward has 1999 rows, but obs has 2000"),
        ({"reward": lambda log: log["obs"]}, "reward has the shape (2000, 2)"),
        ({"obs": lambda log: log["obs"].reshape(2000, 2, 1)}, "obs.reshape(len(obs), -1)"),
        ({"obs": lambda log: [[1.0, 2.0], [3.0]] + log["obs"][2:].tolist()}, "row 2, column obs: 1 numbers, but row 1 has 2"),
        ({"next_obs": lambda log: log["next_obs"][:, :1]}, "row 1, column next_obs"),
        ({"truncated": lambda log: log["reward"]}, "is not a flag"),
        ({"episode": lambda log: np.ma.MaskedArray(log["episode"], np.arange(2000) == 3)}, "row 4, column episode"),
        ({"reward": lambda log: np.arange(2000).astype("datetime64[s]")}, "datetime64[s]"),
        ({"reward": lambda log: None}, "no column reward"),
    ],
)
def test_what_cannot_be_used_is_named(small: dict[str, Any], change: dict[str, Any], words: str) -> None:
    changed = {name: make(small) for name, make in change.items()}
    with pytest.raises(rtd.Error) as raised:
        rtd.evaluate({**small, **changed}, discount=DISCOUNT)
    assert words in str(raised.value)


def test_missing_cells_can_be_skipped(small: dict[str, Any]) -> None:
    masked = {**small, "reward": np.ma.MaskedArray(small["reward"], np.arange(2000) % 500 == 5)}
    assert rtd.evaluate(masked, discount=DISCOUNT, skip_bad_rows=4).steps == 1996
    with pytest.raises(rtd.Error, match="row 506, column reward"):
        rtd.evaluate(masked, discount=DISCOUNT, skip_bad_rows=1)


def test_nullable_and_masked_columns_of_frames(small: dict[str, Any]) -> None:
    import pandas
    import polars

    exact = theta(small)
    table = frame(small)
    nullable = table.convert_dtypes(dtype_backend="numpy_nullable")
    arrow = table.convert_dtypes(dtype_backend="pyarrow")
    category = table.assign(episode=table["episode"].astype(str).astype("category"))
    assert theta(nullable) == theta(arrow) == theta(category) == exact
    holes = table.astype({"reward": "Float64"})
    holes.loc[3, "reward"] = pandas.NA
    for log in (holes, polars.from_pandas(holes)):
        with pytest.raises(rtd.Error, match="row 4, column reward: the value is missing"):
            rtd.evaluate(log, discount=DISCOUNT)
    with pytest.raises(rtd.Error, match="row 4, column reward: the value is missing"):
        rtd.evaluate({**small, "reward": holes["reward"]}, discount=DISCOUNT)


def test_the_index_of_a_frame_may_name_the_episode(small: dict[str, Any]) -> None:
    table = frame(small).set_index("episode")
    assert theta(table) == theta(small)


def test_observations_by_name_in_any_order(small: dict[str, Any]) -> None:
    table = frame(small).rename(columns={"obs_0": "x", "obs_1": "y", "next_obs_0": "x2", "next_obs_1": "y2"})
    table = table[["reward", "y", "y2", "x", "x2", "episode", "truncated"]]
    columns = {"obs": ["x", "y"], "next_obs": ["x2", "y2"]}
    fit = rtd.evaluate(table, discount=DISCOUNT, columns=columns)
    assert fit.theta.tolist() == theta(small) and fit.feature_names[:2] == ["x", "y"]
    assert np.array_equal(fit.predict(table), fit.predict(small["obs"]))
    with pytest.raises(rtd.Error, match=r"no column y \(did you mean y2\?\) for the role obs"):
        fit.predict(table.drop(columns="y"))


def test_one_shot_readers_are_refused_not_read_as_empty(small: dict[str, Any]) -> None:
    import pyarrow

    table = pyarrow.Table.from_pandas(frame(small))
    with pytest.raises(rtd.Error, match=r"can be read only once.*read_all"):
        rtd.evaluate(table.to_reader(), discount=DISCOUNT)
    # One pass is enough to inspect and to predict; what is exhausted is an error.
    reader = table.to_reader()
    assert rtd.inspect(reader).rows == 2000
    with pytest.raises(rtd.Error):
        rtd.inspect(reader)
    fit = rtd.evaluate(table, discount=DISCOUNT)
    reader = table.to_reader()
    assert len(fit.predict(reader)) == 2000
    with pytest.raises(rtd.Error):
        fit.predict(reader)
    drained = table.to_reader()
    drained.read_all()
    with pytest.raises(rtd.Error, match="no rows"):
        rtd.inspect(drained)


def test_times_with_zones_are_ignored_or_refused(small: dict[str, Any]) -> None:
    import pandas
    import polars

    table = frame(small)
    table["time"] = pandas.date_range("2024-10-27", periods=2000, freq="h", tz="Europe/Vienna")
    assert theta(table) == theta(small)
    for log in (table, polars.from_pandas(table)):
        with pytest.raises(rtd.Error, match=r"column time has the type Timestamp.*Vienna.*not a number"):
            rtd.evaluate(log, discount=DISCOUNT, columns={"reward": "time"})


def test_objects_in_a_frame_are_refused(small: dict[str, Any]) -> None:
    table = frame(small).assign(reward=[object() for _ in range(2000)])
    with pytest.raises(rtd.Error):
        rtd.evaluate(table, discount=DISCOUNT)
    lists = frame(small)[["reward", "episode"]].assign(obs=list(small["obs"]))
    assert rtd.evaluate(lists, discount=DISCOUNT).steps == 1980


def test_what_is_not_a_log_is_refused(small: dict[str, Any], tmp_path: Path) -> None:
    for wrong in (3, small["obs"], [], None, [1, 2], tmp_path):
        with pytest.raises(rtd.Error):
            rtd.evaluate(wrong, discount=DISCOUNT)
    structured = np.zeros(100, dtype=[("obs", "f8", (2,)), ("reward", "f8")])
    structured["obs"] = small["obs"][:100]
    structured["reward"] = small["reward"][:100]
    assert rtd.evaluate(structured, discount=DISCOUNT).steps == 99


def test_predictions_of_wrong_observations_are_refused(small: dict[str, Any]) -> None:
    fit = rtd.evaluate(small, discount=DISCOUNT)
    with pytest.raises(rtd.Error, match="expects observations of 2 numbers, but these have 3"):
        fit.predict(np.zeros((4, 3)))
    with pytest.raises(rtd.Error, match="row 3, column 1"):
        fit.predict([[1, 2], [3, 4], [5, np.inf]])
    with pytest.raises(rtd.Error, match="row 2: the value is missing"):
        fit.predict(np.ma.MaskedArray([[1.0, 2.0], [3.0, 4.0]], [[0, 0], [0, 1]]))
    with pytest.raises(rtd.Error, match="no column obs"):
        fit.predict(frame(small)[["reward"]])


def test_a_terminated_row_may_have_no_next_observation() -> None:
    states = np.tile(np.arange(4.0), 50)
    ends = states == 3
    log = {
        "obs": states,
        "reward": -np.ones(200),
        "next_obs": np.where(ends, np.nan, states + 1),
        "terminated": ends,
        "episode": np.repeat(np.arange(50), 4),
    }
    fit = rtd.evaluate(log, discount=0.5, features="one-hot")
    assert np.allclose(fit.predict([[0.0], [3.0]]), [-1.875, -1.0])
    with pytest.raises(rtd.Error, match="row 4, column next_obs: the value is missing"):
        rtd.evaluate({**log, "terminated": np.zeros(200, dtype=bool)}, discount=0.5)


def test_an_environment_is_not_its_name() -> None:
    with pytest.raises(rtd.Error, match="must be a Gymnasium environment"):
        rtd.collect("CartPole-v1", None, steps=5)


def test_text_in_a_frame_is_named() -> None:
    table = frame(walk(100)).astype({"reward": object})
    table.loc[3, "reward"] = "n/a"
    with pytest.raises(rtd.Error, match="row 4, column reward: 'n/a' is not a number"):
        rtd.evaluate(table, discount=DISCOUNT)


def test_a_frame_of_an_array_is_its_rows() -> None:
    import pandas
    import polars

    log = walk(500)
    fit = rtd.evaluate(log, discount=DISCOUNT)
    for rows in (pandas.DataFrame(log["obs"]), polars.DataFrame(log["obs"])):
        assert np.array_equal(fit.predict(rows), fit.predict(log["obs"]))
    # Columns with names of their own have to be named.
    with pytest.raises(rtd.Error, match="columns="):
        fit.predict(pandas.DataFrame(log["obs"], columns=["x", "y"]))
