"""Evaluations: the answers of the command, to the bit, whatever the log comes in."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robust_td as rtd
from conftest import DISCOUNT, SLOPE, frame, walk


def without_time(report: dict[str, Any]) -> dict[str, Any]:
    """A report without what differs between a file and memory: the time, and names."""
    report = copy.deepcopy(report)
    for name in ("seconds", "feature_names"):
        report.pop(name)
    for finding in report["findings"]:
        finding["file"] = None
    return report


@pytest.fixture(scope="module")
def told(command: Any, files: Path) -> dict[str, Any]:
    report: dict[str, Any] = command("evaluate", files / "log.parquet", "--discount", DISCOUNT, "--json")
    return report


def test_the_truth_is_within_the_intervals(log: dict[str, Any]) -> None:
    fit = rtd.evaluate(log, discount=DISCOUNT)
    x = np.linspace(-2, 4, 7)
    found = fit.predict_interval(np.stack([x, np.sin(x)], axis=1))
    assert np.all((found.lower < SLOPE * x) & (SLOPE * x < found.upper))
    start = fit.start_value
    assert start is not None and start.lower < 2 * SLOPE < start.upper and start.upper - start.lower < 2
    assert fit.converged is True and fit.algorithm == "auto" and fit.steps == 20_000


def test_every_kind_of_log_gives_the_answer_of_the_command(
    log: dict[str, Any], files: Path, told: dict[str, Any]
) -> None:
    import duckdb
    import polars
    import pyarrow

    table = frame(log)
    arrow = pyarrow.Table.from_pandas(table)
    logs: dict[str, Any] = {
        "path": files / "log.parquet",
        "text": str(files / "log.csv"),
        "pattern": str(files / "part-*.parquet"),
        "list": [files / "part-1.parquet", files / "part-2.parquet"],
        "pandas": table,
        "polars": polars.from_arrow(arrow),
        "lazy": polars.from_arrow(arrow).lazy(),
        "pyarrow": arrow,
        "batches": pyarrow.Table.from_batches(arrow.to_batches(max_chunksize=777)),
        "batch": arrow.combine_chunks().to_batches()[0],
        "duckdb": duckdb.sql("select * from arrow"),
        "arrays": log,
        "lists": pyarrow.table({name: list(values) for name, values in log.items()}),
    }
    for name, found in logs.items():
        fit = rtd.evaluate(found, discount=DISCOUNT)
        assert without_time(fit.to_dict()) == without_time(told), name
        assert fit.theta.tolist() == told["theta_bar"], name


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ({"algorithm": "alg1", "c": 0.5}, ["--algorithm", "alg1", "--c", "0.5"]),
        ({"algorithm": "alg1"}, ["--algorithm", "alg1"]),
        (
            {"algorithm": "td-lambda", "lambda_": 0.5, "c": 1, "step": None},
            ["--algorithm", "td-lambda", "--param", "lambda=0.5", "--c", "1"],
        ),
        ({"features": "fourier(order=3)"}, ["--features", "fourier(order=3)"]),
        ({"horizon": 5000, "confidence": 0.8}, ["--horizon", "5000", "--confidence", "0.8"]),
        ({"check": False, "threads": 1}, ["--no-check"]),
    ],
)
def test_options_are_those_of_the_command(
    command: Any, log: dict[str, Any], files: Path, options: dict[str, Any], flags: list[str]
) -> None:
    told = command("evaluate", files / "log.csv", "--discount", DISCOUNT, "--json", *flags)
    assert without_time(rtd.evaluate(log, discount=DISCOUNT, **options).to_dict()) == without_time(told)


def test_predictions_and_models_are_those_of_the_command(
    command: Any, log: dict[str, Any], files: Path, tmp_path: Path
) -> None:
    model, own, out = tmp_path / "model.json", tmp_path / "own.json", tmp_path / "values.csv"
    command("evaluate", files / "log.csv", "--discount", DISCOUNT, "--out", model)
    command("predict", model, files / "log.csv", "--out", out)
    told = np.loadtxt(out, delimiter=",", skiprows=1)
    fit = rtd.load(model)
    for rows in (log["obs"], np.asfortranarray(log["obs"]), files / "log.csv", frame(log), log, {"obs": log["obs"]}):
        found = fit.predict_interval(rows)
        assert np.array_equal(np.stack(found, axis=1), told)
        assert np.array_equal(fit.predict(rows), told[:, 0])
    fit.save(own)
    assert own.read_text() == model.read_text()
    # A model that was made here is read by the command.
    rtd.evaluate(log, discount=DISCOUNT).save(own)
    command("predict", own, files / "log.csv", "--out", out)
    assert np.array_equal(np.loadtxt(out, delimiter=",", skiprows=1), told)


def test_a_fit_survives_pickling(log: dict[str, Any]) -> None:
    fit = rtd.evaluate(log, discount=DISCOUNT, confidence=0.8)
    again = pickle.loads(pickle.dumps(fit))
    assert np.array_equal(again.theta, fit.theta) and again.start_value == fit.start_value
    assert np.array_equal(again.predict(log["obs"]), fit.predict(log["obs"]))


def test_the_report_is_a_page(log: dict[str, Any], tmp_path: Path) -> None:
    fit = rtd.evaluate(log, discount=DISCOUNT)
    fit.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "Value of the policy" in page
    with pytest.raises(rtd.Error, match="report.html"):
        fit.report(tmp_path / "none" / "report.html")


def test_one_observation_is_one_row(log: dict[str, Any]) -> None:
    fit = rtd.evaluate(log, discount=DISCOUNT)
    values = fit.predict(log["obs"])
    assert fit.predict(log["obs"][3]).tolist() == [values[3]]
    assert fit.predict(log["obs"][3].tolist()).tolist() == [values[3]]
    assert fit.predict(log["obs"][:0]).shape == (0,)
    single = rtd.evaluate({"obs": log["obs"][:, 0], "reward": log["reward"]}, discount=DISCOUNT)
    assert single.predict(log["obs"][:5, 0]).shape == (5,) and single.predict(1.5).shape == (1,)


def test_findings_say_what_is_wrong() -> None:
    log = walk(2000)
    log["obs"] = np.column_stack([log["obs"], np.ones(2000)])
    del log["next_obs"]
    found = rtd.inspect(log)
    assert found.rows == 2000 and found.episodes == 20
    assert "constant-feature" in [finding.kind for finding in found.findings]
    assert all(str(finding) == finding.message for finding in found.findings)
    assert found.to_dict()["findings"][0]["message"] == found.findings[0].message


def test_clusters_widen_intervals(log: dict[str, Any]) -> None:
    with_users = {**log, "user": log["episode"] // 10}
    plain = rtd.evaluate(log, discount=DISCOUNT).start_value
    fit = rtd.evaluate(with_users, discount=DISCOUNT, cluster="user")
    assert fit.to_dict()["unit"] == "cluster" and plain is not None and fit.start_value is not None
    assert fit.start_value.value == pytest.approx(plain.value, rel=1e-9)


def test_a_log_goes_on_from_a_saved_model(command: Any, files: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    rtd.evaluate(files / "part-1.parquet", discount=DISCOUNT).save(model)
    fit = rtd.evaluate(files / "part-2.parquet", resume=model)
    whole = rtd.evaluate([files / "part-1.parquet", files / "part-2.parquet"], discount=DISCOUNT)
    assert np.array_equal(fit.theta, whole.theta)


def test_progress_is_reported_and_may_stop_the_work(log: dict[str, Any]) -> None:
    seen: list[tuple[int, int]] = []
    rtd.evaluate(log, discount=DISCOUNT, progress=lambda done, total: seen.append((done, total)))
    assert seen and seen[-1][0] >= 20_000

    def stop(done: int, total: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        rtd.evaluate(log, discount=DISCOUNT, progress=stop)


def test_messages_go_to_the_log(log: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="robust_td"):
        rtd.evaluate(log, discount=DISCOUNT)
    assert "20000 rows" in caplog.text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"discount": 1.5}, "discount is 1.5, but must be from 0 to 1"),
        ({"discount": "x"}, "discount is 'x', but must be a number"),
        ({}, "discount is required"),
        ({"discount": 0.9, "algorithm": "alg2"}, 'did you mean "alg1"'),
        ({"discount": 0.9, "radius": 3}, "radius is not an option of auto"),
        ({"discount": 0.9, "features": "furier"}, "furier"),
        ({"discount": 0.9, "layout": "csv"}, 'unknown layout "csv"'),
        ({"discount": 0.9, "columns": {"prize": "r"}}, "prize"),
        ({"discount": 0.9, "columns": {"reward": "r"}}, "no column r (did you mean reward?) for the role reward"),
        ({"discount": 0.9, "confidence": 2}, "confidence is 2"),
        ({"discount": 0.9, "threads": -1}, "threads is -1"),
        ({"discount": 0.9, "executor": object()}, "an executor cannot be used with a log in memory"),
    ],
)
def test_wrong_options_are_named(log: dict[str, Any], options: dict[str, Any], words: str) -> None:
    with pytest.raises(rtd.Error) as raised:
        rtd.evaluate(log, **options)
    assert words in str(raised.value) and isinstance(raised.value, ValueError)


def test_a_bad_cell_of_a_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("obs_0,reward\n1,2\n3,n/a\n5,6\n")
    with pytest.raises(rtd.Error) as raised:
        rtd.evaluate(file, discount=0.9)
    words = 'log.csv: row 2 (line 3), column reward: "n/a" is not a number; use skip_bad_rows=N to skip such rows'
    assert str(raised.value).endswith(words)
    with pytest.raises(rtd.Error, match="cannot read"):
        rtd.evaluate(tmp_path / "none.csv", discount=0.9)
    with pytest.raises(rtd.Error, match="matches no file"):
        rtd.evaluate(str(tmp_path / "*.parquet"), discount=0.9)
    with pytest.raises(rtd.Error, match="is not a robust-td model"):
        rtd.load(file)


def test_a_lone_done_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("obs_0,reward,done\n1,2,0\n3,4,1\n")
    with pytest.raises(rtd.Error, match='columns={"terminated": "done"}'):
        rtd.evaluate(file, discount=0.9)
    assert rtd.evaluate(file, discount=0.9, columns={"terminated": "done"}).steps == 2


def test_rows_of_episodes_may_be_interleaved() -> None:
    random = np.random.default_rng(3)
    episode = np.repeat(np.arange(300), 12)
    obs = random.normal(size=(len(episode), 2))
    step = np.tile(np.arange(12), 300)
    sorted_log = {
        "obs": obs,
        "reward": obs[:, 0] + random.normal(size=len(episode)),
        "terminated": step == 11,
        "episode": episode,
    }
    # Thirty episodes at a time, row by row.
    order = np.lexsort((episode, step, episode // 30))
    mixed = {name: np.ascontiguousarray(column[order]) for name, column in sorted_log.items()}
    found, expected = (rtd.evaluate(log, discount=0.9) for log in (mixed, sorted_log))
    assert found.steps == expected.steps == len(episode)
    np.testing.assert_allclose(found.theta, expected.theta, rtol=0, atol=1e-10)
    assert found.start_value is not None and expected.start_value is not None
    assert found.start_value.value == pytest.approx(expected.start_value.value, abs=1e-10)
    assert found.to_dict()["start_value"]["starts"] == 300
    assert found.to_dict()["monte_carlo"]["episodes"] == 300
    assert "mixed-episodes" not in [finding.kind for finding in found.findings]
    report = rtd.inspect(mixed)
    assert report.to_dict()["episodes"]["resumed"] == len(episode) - 300
