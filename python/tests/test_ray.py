"""Sweeps and evaluations on real clusters of Ray on this machine: two nodes, kills, restarts, tokens."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cluster_jobs as jobs
import network
import pytest

import robust_td as rtd
from robust_td.executor import Job

TESTS = Path(__file__).parent
# Ray looks at these when it is imported: clusters accept only who has the token, and report nothing anywhere.
os.environ.pop("RAY_ADDRESS", None)
os.environ.update(
    RAY_AUTH_MODE="token",
    RAY_AUTH_TOKEN=secrets.token_hex(32),
    RAY_USAGE_STATS_ENABLED="0",
    RAY_ENABLE_UV_RUN_RUNTIME_ENV="0",
    # Workers find the jobs of the tests.
    PYTHONPATH=os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]),
)
ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")
from robust_td.ray import RayExecutor  # noqa: E402

#: Memory of a node for states, in bytes.
MEMORY = 80_000_000
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module", autouse=True)
def private_network() -> Iterator[None]:
    """Ray listens on the address of the machine, which here is 127.0.0.1."""
    own = network.of_its_own()
    try:
        own.__enter__()
    except (AttributeError, OSError) as error:
        pytest.skip(f"needs Linux and root, for a network of its own: {error}")
    yield
    own.__exit__(None, None, None)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes, each a set of processes of its own, with one CPU each."""
    made = cluster_utils.Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "object_store_memory": MEMORY, "include_dashboard": False},
    )
    made.add_node(num_cpus=1, object_store_memory=MEMORY)
    made.wait_for_nodes()
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture(scope="module")
def executor(cluster: Any) -> Iterator[RayExecutor]:
    with RayExecutor(cluster.address) as made:
        assert made.workers == 2
        yield made


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return jobs.shards(tmp_path_factory.mktemp("shards"))


def marked(tasks: int, wait: float, folder: Path) -> Job:
    return Job("marks", b"", [(k, wait, str(folder)) for k in range(tasks)], jobs.written, jobs.bracketed)


def merged(tasks: int) -> bytes:
    assert tasks <= 64
    return jobs.bracketed(b"", [str(k).encode() for k in range(tasks)])


def soon(condition: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


def settled(count: Callable[[], int]) -> int:
    """The count once it has not changed for two seconds: tasks of a killed driver may still start until Ray has noticed."""
    before = -1
    while before != count():
        before = count()
        time.sleep(2.0)
    return before


def test_a_sweep_and_an_evaluation_have_the_same_bytes(executor: RayExecutor, log: list[str], tmp_path: Path) -> None:
    assert jobs.sweep(executor) == jobs.sweep()
    arguments: dict[str, Any] = dict(discount=0.9, features="polynomial(degree=2)")
    alone = jobs.answer(rtd.evaluate(log, threads=1, **arguments), tmp_path)
    assert jobs.answer(rtd.evaluate(log, executor=executor, **arguments), tmp_path) == alone
    for workers in (1, 4):
        with RayExecutor(max_in_flight=2 * workers) as other:
            assert jobs.answer(rtd.evaluate(log, executor=other, **arguments), tmp_path) == alone


def test_an_average_of_learners_has_the_same_bytes(executor: RayExecutor, log: list[str], tmp_path: Path) -> None:
    arguments: dict[str, Any] = dict(discount=0.9, algorithm="alg1", c=0.02, learners=24)
    alone = jobs.answer(rtd.evaluate(log, threads=2, **arguments), tmp_path)
    assert jobs.answer(rtd.evaluate(log, executor=executor, **arguments), tmp_path) == alone
    with RayExecutor(max_in_flight=2, checkpoint=tmp_path / "store") as other:
        assert jobs.answer(rtd.evaluate(log, executor=other, **arguments), tmp_path) == alone
        # Lost states of learners are computed again.
        [folder] = (tmp_path / "store").glob("learn-*")
        lost = sorted(folder.iterdir())[:5]
        for state in lost:
            state.unlink()
        assert jobs.answer(rtd.evaluate(log, executor=other, **arguments), tmp_path) == alone


class Killing:
    """Kills the process of one of the first tasks while it runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.killed: int | None = None

    def __call__(self, done: int, total: int, messages: list[str]) -> None:
        # Tasks that wait for a worker start meanwhile; one that has just started runs for a while.
        end = time.monotonic() + 2
        while self.killed is None and done >= 4 and time.monotonic() < end:
            started = [mark for mark in self.folder.iterdir() if time.time() - mark.stat().st_mtime < 0.1]
            if started:
                self.killed = int(started[-1].name.split("-")[1])
                os.kill(self.killed, signal.SIGKILL)
            time.sleep(0.01)


def test_a_killed_worker_costs_only_its_running_part(executor: RayExecutor, tmp_path: Path) -> None:
    killing = Killing(tmp_path)
    assert executor.run(marked(30, 0.3, tmp_path), killing) == merged(30)
    assert killing.killed is not None
    starts = len(list(tmp_path.iterdir()))
    assert 30 < starts <= 32, starts


@pytest.fixture(scope="module")
def learning_log(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return jobs.shards(tmp_path_factory.mktemp("learning"), rows=jobs.LEARNED_ROWS, count=4)


@pytest.fixture(scope="module")
def average_alone(learning_log: list[str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The average of learners without Ray."""
    return jobs.digest(jobs.answer(rtd.evaluate(learning_log, threads=2, **jobs.AVERAGE), tmp_path_factory.mktemp("alone")))


def test_a_killed_worker_costs_only_its_running_learner(
    executor: RayExecutor, learning_log: list[str], average_alone: str, tmp_path: Path
) -> None:
    with RayExecutor(repeat_slow=False) as other, ThreadPoolExecutor(1) as beside:
        learning = jobs.Learning(other, tmp_path)
        killed = beside.submit(learning.kill, 2)
        fit = rtd.evaluate(learning_log, executor=learning, **jobs.AVERAGE)
        name = killed.result()
    # The process died between the start of a learner and its end.
    assert learning.running() == [name]
    # That learner was started again, and no other one.
    again, starts = name.split("-")[0], learning.starts()
    assert len(starts) == jobs.LEARNERS + 1 and sorted(starts) == sorted([*set(starts), again])
    assert jobs.digest(jobs.answer(fit, tmp_path)) == average_alone


def test_a_driver_that_is_killed_while_learners_learn(
    cluster: Any, executor: RayExecutor, learning_log: list[str], average_alone: str, tmp_path: Path
) -> None:
    marks, store = tmp_path / "marks", tmp_path / "store"
    marks.mkdir()
    learning = jobs.Learning(executor, marks)
    folder = str(Path(learning_log[0]).parent)
    program = [sys.executable, str(TESTS / "cluster_jobs.py"), "learners", cluster.address, str(store), str(marks), folder]

    def stored() -> int:
        return len(list(store.glob("learn-*/*.state")))

    first = subprocess.Popen(program)
    soon(lambda: stored() >= 3 and learning.running())
    first.send_signal(signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    settled(lambda: stored() + len(learning.starts()))
    kept, before = stored(), learning.starts()
    assert 3 <= kept < jobs.LEARNERS and len(before) > kept, "the driver was killed before or after the learners"
    second = subprocess.run(program, capture_output=True, text=True, timeout=120, check=True)
    found, restored = json.loads(second.stdout)
    assert found == average_alone
    assert restored.pop("learn") == [jobs.LEARNERS, kept]
    assert len(learning.starts()) - len(before) == jobs.LEARNERS - kept
    # The passes before it were complete, those after it had not begun.
    assert restored == {"rows": [1, 1], "survey": [1, 1], "norms": [1, 1], "assess": [1, 0], "returns": [1, 0]}


def test_a_worker_that_always_dies_is_an_error(cluster: Any, executor: RayExecutor) -> None:
    with RayExecutor(max_retries=1) as other, pytest.raises(rtd.Error, match="a worker died"):
        other.run(Job("dies", b"", [1], jobs.dies, jobs.bracketed))


def test_a_corrupted_shard_is_refused_and_the_rest_is_kept(executor: RayExecutor, tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    (tmp_path / "marks" / "broken-7").touch()
    job = marked(20, 0.0, tmp_path / "marks")
    with RayExecutor(checkpoint=tmp_path / "store") as other:
        with pytest.raises(rtd.Error, match="part 7 is bad; the other 19 of 20 parts are in the checkpoint"):
            other.run(job)
        (tmp_path / "marks" / "broken-7").unlink()
        assert other.run(job) == merged(20)
        assert other.measured.restored == 19


def test_a_file_that_is_damaged_meanwhile_is_named(executor: RayExecutor, tmp_path: Path) -> None:
    class Damages:
        """Damages a file after the first pass."""

        workers = 2

        def __init__(self, name: str, change: Callable[[bytes], bytes]) -> None:
            self.place, self.change = Path(name), change

        def run(self, job: Job, tell: Any = None) -> bytes:
            self.place.write_bytes(self.change(self.place.read_bytes()))
            return executor.run(job, tell)

    for change, words in [
        (lambda good: good[:4] + b"\xff" * 400 + good[404:], "shard-02.parquet"),
        (lambda good: good[:-1], "shard-02.parquet has changed"),
    ]:
        names = jobs.shards(tmp_path, rows=20_000, count=4)
        with pytest.raises(rtd.Error, match=words):
            rtd.evaluate(names, discount=0.9, executor=Damages(names[2], change))


def test_a_node_that_is_removed_and_one_that_is_added(cluster: Any, executor: RayExecutor, tmp_path: Path) -> None:
    extra = cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
    cluster.wait_for_nodes()
    removed = []

    def tell(done: int, total: int, messages: list[str]) -> None:
        if done >= 6 and not removed:
            removed.append(cluster.remove_node(extra, allow_graceful=False))

    assert executor.run(marked(30, 0.1, tmp_path), tell) == merged(30)
    assert removed
    # At most what ran there, or whose state was there, was computed again.
    assert len(list(tmp_path.iterdir())) <= 30 + 16


def test_a_task_on_a_slow_node_is_repeated(executor: RayExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robust_td.executor.PATIENCE", 0.5)
    tasks = [(k, 600 if k == 5 else 0, str(tmp_path)) for k in range(12)]
    assert executor.run(Job("slow", b"", tasks, jobs.slow_once, jobs.bracketed)) == merged(12)
    assert executor.measured.repeated >= 1


def test_a_killed_driver_computes_only_what_is_missing(cluster: Any, executor: RayExecutor, tmp_path: Path) -> None:
    marks, store = tmp_path / "marks", tmp_path / "store"
    marks.mkdir()
    program = [sys.executable, str(TESTS / "cluster_jobs.py"), cluster.address, str(store), str(marks), "24", "0.15"]
    first = subprocess.Popen(program)

    def stored() -> int:
        return len(list(store.glob("*/*.state")))

    soon(lambda: stored() >= 5)
    first.send_signal(signal.SIGKILL)
    first.wait()
    before = settled(lambda: len(list(marks.iterdir())))
    kept = stored()
    again = subprocess.run(program, capture_output=True, text=True, timeout=120, check=True)
    state, restored = again.stdout.split()
    assert state.encode() == merged(24) and 5 <= int(restored) <= kept
    assert len(list(marks.iterdir())) - before == 24 - int(restored)


def test_wrong_arguments_are_named(executor: RayExecutor) -> None:
    for options, words in [
        ({"max_retries": -1}, "max_retries is -1"),
        ({"max_in_flight": 0}, "max_in_flight is 0"),
        ({"address": "ray://127.0.0.1:1"}, "connected to a Ray cluster already"),
    ]:
        with pytest.raises(rtd.Error, match=words):
            RayExecutor(**options)


def test_ray_start_with_a_token(tmp_path: Path) -> None:
    """A head and a worker by `ray start`, with a token; a program without it is refused."""
    token = tmp_path / "token"
    token.write_text(secrets.token_hex(32))
    port = "16379"
    inside = {**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
    inside.pop("RAY_AUTH_TOKEN")
    start = [str(Path(sys.executable).parent / "ray"), "start", "--block", "--num-cpus=1", f"--object-store-memory={MEMORY}"]
    head = [*start, "--head", f"--port={port}", "--include-dashboard=false"]
    head += ["--min-worker-port=20100", "--max-worker-port=20199"]
    worker = [*start, f"--address=127.0.0.1:{port}"]
    worker += ["--min-worker-port=20200", "--max-worker-port=20299"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True, "env": inside}
    nodes = [subprocess.Popen(head, **quiet)]  # type: ignore[call-overload]
    try:
        time.sleep(3)
        nodes.append(subprocess.Popen(worker, **quiet))  # type: ignore[call-overload]
        words = f"""
import time, cluster_jobs as jobs
from robust_td.ray import RayExecutor
for attempt in range(40):
    try:
        executor = RayExecutor("127.0.0.1:{port}")
        break
    except Exception as error:
        if attempt == 39: raise
        time.sleep(0.5)
executor._looked = 0
for attempt in range(100):
    executor._looked = -1000
    if executor.workers == 2: break
    time.sleep(0.2)
print(executor.workers, jobs.sweep(executor, cells=200) == jobs.sweep(cells=200))
"""
        run = dict(capture_output=True, text=True, timeout=150)
        found = subprocess.run([sys.executable, "-c", words], env=inside, **run)  # type: ignore[call-overload]
        assert found.stdout.split() == ["2", "True"], found.stderr
        outside = {**os.environ, "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        once = words.replace("range(40)", "range(1)").replace("attempt == 39", "attempt == 0")
        refused = subprocess.run([sys.executable, "-c", once], env=outside, **run)  # type: ignore[call-overload]
        assert refused.returncode != 0
    finally:
        for node in reversed(nodes):
            os.killpg(node.pid, signal.SIGTERM)
        for node in nodes:
            try:
                node.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(node.pid, signal.SIGKILL)
                node.wait()
