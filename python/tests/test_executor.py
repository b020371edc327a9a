"""Executors without an engine: a fixed tree, checkpoints, failures, and the bytes of sweeps and evaluations."""

from __future__ import annotations

import threading
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cluster_jobs as jobs
import pytest

import robust_td as rtd
from robust_td.executor import FAN, Job, LocalExecutor, _Schedule


def job(tasks: list[Any], name: str = "marks") -> Job:
    return Job(name, b"", tasks, jobs.written, jobs.bracketed)


def expected(count: int) -> bytes:
    """What is merged with what, whoever computes it."""
    states = [str(k).encode() for k in range(count)]
    while len(states) > 1:
        groups = [states[k : k + FAN] for k in range(0, len(states), FAN)]
        states = [jobs.bracketed(b"", group) for group in groups]
    return states[0]


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 200, FAN * FAN + 5])
def test_the_tree_does_not_depend_on_the_workers(count: int) -> None:
    for workers in (1, 3, 8):
        with LocalExecutor(workers) as executor:
            assert executor.run(job([(k, 0, "") for k in range(count)])) == expected(count)


def test_the_memory_of_the_schedule_does_not_depend_on_the_number_of_tasks() -> None:
    most = []
    for count in (5_000, 50_000):
        schedule = _Schedule(job([None] * count), None)
        held = 0
        while (node := schedule.next()) is not None:
            schedule.work(node)
            schedule.finish(node, object())
            held = max(held, len(schedule.handles) + len(schedule.left) + len(schedule.ready))
        assert schedule.done == count
        most.append(held)
    assert most[1] < most[0] + 2 * FAN < 4 * FAN + 20


def test_a_sweep_has_the_same_bytes(tmp_path: Path) -> None:
    alone = jobs.sweep()
    for workers in (1, 2, 4):
        with LocalExecutor(workers, checkpoint=tmp_path) as executor:
            assert jobs.sweep(executor) == alone
            assert executor.measured.tasks == 63
            # The second time, all of it is in the checkpoint.
            assert executor.measured.restored == (0 if workers == 1 else 63)
    for mode, options in [("exact", {"horizon": 50}), ("published", {"horizon": 60}), ("tdx", {"horizon": 60})]:
        arguments: dict[str, Any] = dict(c=[0.01, 0.1, 1.0], runs=3, mode=mode, scales=[0.5, 2], **options)
        with LocalExecutor(2) as executor:
            found = rtd.sweep("two-state", executor=executor, **arguments)
        assert found.to_csv() == rtd.sweep("two-state", **arguments).to_csv()


def test_states_of_sweeps_are_checked() -> None:
    native = rtd._native
    problem = rtd.problem("two-state")._native
    options = {"c": [0.1, 1.0], "horizon": 50, "runs": 2}
    parts = native.SweepJob(problem, ["decaying"], ["none"], options)
    description, ranges = parts.describe()
    units = native.SweepUnits(description)
    state = units.run(*ranges[0], 1)
    assert units.join([state]) == state
    for wrong, words in [
        (state[:-1], "checksum"),
        (b"", "too short"),
        (state[:8] + b"\x09" + state[9:], "format version 9"),
        (description, "something else"),
    ]:
        with pytest.raises(rtd.Error, match=words):
            units.join([wrong])
    other = native.SweepJob(problem, ["decaying"], ["none"], {**options, "seed": 2})
    foreign = native.SweepUnits(other.describe()[0]).run(*ranges[0], 1)
    with pytest.raises(rtd.Error, match="another job"):
        parts.finish([foreign], 1, 0.0)
    with pytest.raises(rtd.Error, match="not a part"):
        units.run(0, 99, 1)
    with pytest.raises(rtd.Error, match="checksum"):
        native.SweepUnits(description[:-1] + b"\x00")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return jobs.shards(tmp_path_factory.mktemp("shards"))


def test_an_evaluation_has_the_same_bytes(log: list[str], tmp_path: Path) -> None:
    arguments: dict[str, Any] = dict(discount=0.9, features="polynomial(degree=2)")
    alone = rtd.evaluate(log, threads=1, **arguments)
    bytes_alone = jobs.answer(alone, tmp_path)
    assert alone.predict([[1.0, 0.8]])[0] == pytest.approx(1 / (1 - 0.8 * 0.9), abs=0.1)
    for workers in (1, 2, 4):
        with LocalExecutor(workers) as executor:
            found = rtd.evaluate(log, executor=executor, **arguments)
        assert jobs.answer(found, tmp_path) == bytes_alone
    seen = []
    with LocalExecutor(2) as executor:
        rtd.evaluate(log, executor=executor, progress=lambda done, total: seen.append((done, total)), **arguments)
    assert seen[-1] == (3, 3)


def test_what_is_not_computed_in_parts_is_refused(log: list[str]) -> None:
    with LocalExecutor(1) as executor:
        for log_, options, words in [
            (log[:1], {"algorithm": "alg1"}, "unless the option learners asks for the average of several"),
            (log[:1], {"learners": 4}, "learners is not an option of auto"),
            (log[:1], {"algorithm": "alg1", "learners": 1}, "learners is 1, but must be from 2 to 1024"),
            (log[:1], {"algorithm": "alg1", "learners": 4, "passes": 2}, "cannot be averaged with several passes"),
            ({"obs": [0.0, 1.0] * 50, "reward": [1.0, 0.0] * 50}, {}, "in memory"),
            (log[:1], {"features": "auto"}, "choose among feature maps"),
            (log[:1], {"discount": [0.5, 0.9]}, "one discount"),
        ]:
            with pytest.raises(rtd.Error, match=words):
                rtd.evaluate(log_, **{"discount": 0.9, **options}, executor=executor)


def test_an_average_of_learners_has_the_same_bytes(log: list[str], tmp_path: Path) -> None:
    arguments: dict[str, Any] = dict(discount=0.9, features="standardise + bias", algorithm="lstd", learners=80)
    alone = rtd.evaluate(log, threads=1, **arguments)
    bytes_alone = jobs.answer(alone, tmp_path)
    # Every episode starts with x of mean 2, and V(x) = x / (1 - 0.8 * 0.9); sin(x) adds nothing.
    assert alone.converged and alone.start_value is not None
    assert alone.start_value.lower < 2 / (1 - 0.8 * 0.9) < alone.start_value.upper
    assert alone.learners is not None and alone.learners["averaged"] == 80
    assert "average of 80 learners" in repr(alone) and "average-of-learners" in {finding.kind for finding in alone.findings}
    for workers in (1, 2, 4):
        with LocalExecutor(workers) as executor:
            found = rtd.evaluate(log, executor=executor, **arguments)
        assert jobs.answer(found, tmp_path) == bytes_alone
    assert rtd.load(tmp_path / "model.json").start_value == alone.start_value
    # Steps that leave all learners near their start: they agree with each other, and the average is 2 too small.
    slow = rtd.evaluate(log, **{**arguments, "algorithm": "samsonov", "step": 0.02, "drop": 1})
    assert slow.converged is False and slow.findings[0].kind == "not-learned"
    assert slow.learners is not None and slow.learners["standard_error"] < 0.1 and slow.learners["worst_bias"] > 2
    assert slow.start_value is not None and slow.start_value.value < 6 and slow.start_value.upper == float("inf")
    # It is another answer than that of one learner.
    one = rtd.evaluate(log, **{**arguments, "learners": None})
    assert one.learners is None and (one.theta != alone.theta).any()


def test_a_job_continues_where_it_failed(tmp_path: Path) -> None:
    marks, store = tmp_path / "marks", tmp_path / "store"
    marks.mkdir()
    tasks: list[Any] = [(k, 0, str(marks)) for k in range(150)]
    broken = marks / "broken-70"
    broken.touch()
    with LocalExecutor(4, checkpoint=store) as executor:
        with pytest.raises(rtd.Error, match="part 70 is bad; the other 149 of 150 parts are in the checkpoint"):
            executor.run(job(tasks))
    broken.unlink()
    assert len(list(marks.iterdir())) == 150
    # The file is repaired: only its part is computed, and one whose state is damaged.
    folder = next(store.iterdir())
    for pattern in ("0-3-*", "1-0-*"):
        [state] = folder.glob(pattern)
        state.write_bytes(b"damaged")
    (folder / "leftover.part").write_bytes(b"half a state")
    with LocalExecutor(2, checkpoint=store) as executor:
        assert executor.run(job(tasks)) == expected(150)
        assert executor.measured.restored == 148
    assert len(list(marks.iterdir())) == 152
    # Other tasks have other states.
    with LocalExecutor(2, checkpoint=store) as executor:
        executor.run(job([(k + (k == 7), 0, str(marks)) for k in range(150)]))
        assert executor.measured.restored == 149
    with LocalExecutor(2, checkpoint=store) as executor:
        executor.run(job(tasks[:3], name="other"))
        assert executor.measured.restored == 0


def test_without_a_checkpoint_the_first_failure_ends_the_job(tmp_path: Path) -> None:
    (tmp_path / "broken-0").touch()
    with LocalExecutor(1) as executor, pytest.raises(rtd.Error, match="^part 0 is bad$"):
        executor.run(job([(k, 0.01, str(tmp_path)) for k in range(200)]))
    assert len(list(tmp_path.iterdir())) < 12


def test_an_interrupt_ends_the_job(tmp_path: Path) -> None:
    def tell(done: int, total: int, messages: list[str]) -> None:
        if done >= 3:
            raise KeyboardInterrupt

    before = threading.active_count()
    with LocalExecutor(2) as executor, pytest.raises(KeyboardInterrupt):
        executor.run(job([(k, 0.01, str(tmp_path)) for k in range(500)]), tell)
    assert len(list(tmp_path.iterdir())) < 50
    assert threading.active_count() <= before


class Lazy(Sequence[Any]):
    """Tasks that are made when they are asked for."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: Any) -> Any:
        return bytes(range(64)) * 64, index


def padded(description: bytes, task: Any) -> bytes:
    return bytes(4096)


def first_state(description: bytes, states: Sequence[bytes]) -> bytes:
    return states[0]


def test_the_memory_of_the_driver_does_not_grow_with_the_parts() -> None:
    peaks = []
    for parts in (40, 4000):
        with LocalExecutor(2) as executor:
            executor.run(Job("lazy", b"", Lazy(4), padded, first_state))
            tracemalloc.start()
            executor.run(Job("lazy", b"", Lazy(parts), padded, first_state))
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    # 4,000 tasks or states of 4 kB would be 16 MB; each of the two levels of the tree has up to 64 states at a time, 0.5 MB together.
    assert peaks[1] - peaks[0] < 2_000_000, peaks


def test_a_damaged_row_group_is_named_and_the_rest_is_kept(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    names = jobs.shards(tmp_path, count=4)
    broken = Path(names[3])
    good = broken.read_bytes()
    # The header of a page of the observations.
    place = pq.ParquetFile(broken).metadata.row_group(2).column(0).dictionary_page_offset
    broken.write_bytes(good[:place] + b"\xff" * 64 + good[place + 64 :])
    arguments: dict[str, Any] = dict(discount=0.9, features="polynomial(degree=2)")
    with LocalExecutor(2, checkpoint=tmp_path / "store") as executor:
        with pytest.raises(rtd.Error, match=r"shard-03.parquet: .*row group 2, column obs_0.*; the other \d of 3 parts are in the checkpoint"):
            rtd.evaluate(names, executor=executor, **arguments)
        # Once it is repaired, the parts that did not read it are not computed again.
        broken.write_bytes(good)
        restored = []

        class Noting:
            workers = 2

            def run(self, job: Job, tell: Any = None) -> bytes:
                state = executor.run(job, tell)
                restored.append((job.name, executor.measured.restored))
                return state

        found = rtd.evaluate(names, executor=Noting(), **arguments)
    assert dict(restored)["survey"] >= 1
    assert jobs.answer(found, tmp_path) == jobs.answer(rtd.evaluate(names, **arguments), tmp_path)
