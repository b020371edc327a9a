"""Jobs, logs and drivers that the tests of executors share; workers import it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import robust_td as rtd

#: More than two nodes of 262,144 rows.
ROWS = 560_000
SHARDS = 40


def written(description: bytes, task: Any) -> bytes:
    """The state of a task is its name. Tasks may sleep, fail, or note that they ran."""
    name, wait, folder = task
    if folder:
        Path(folder, f"{name}-{os.getpid()}-{time.monotonic_ns()}").touch()
    time.sleep(wait)
    if folder and Path(folder, f"broken-{name}").exists():
        raise rtd.Error(f"part {name} is bad")
    return str(name).encode()


def slow_once(description: bytes, task: Any) -> bytes:
    """A task that hangs the first time it is computed."""
    name, wait, folder = task
    mark = Path(folder, f"slow-{name}")
    if wait and not mark.exists():
        mark.touch()
        time.sleep(wait)
    return str(name).encode()


def dies(description: bytes, task: Any) -> bytes:
    """A task that kills its worker."""
    os.kill(os.getpid(), 9)
    return b""


def bracketed(description: bytes, states: Sequence[bytes]) -> bytes:
    """Writes down what was merged with what."""
    if any(state.startswith(b"damaged") for state in states):
        raise rtd.Error("a state is damaged")
    return b"(" + b"+".join(states) + b")" if len(states) > 1 else states[0]


def shards(folder: Path, rows: int = ROWS, count: int = SHARDS) -> list[str]:
    """x' = 0.8 x + noise, reward x, V(x) = x / (1 - 0.8 * 0.9); episodes of 100 rows, with an end; 40 files that cut through them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = np.random.default_rng(18)
    noise = random.normal(size=(rows // 100, 100))
    x = np.zeros((rows // 100, 100))
    x[:, 0] = 2.0 + noise[:, 0]
    for t in range(1, 100):
        x[:, t] = 0.8 * x[:, t - 1] + noise[:, t]
    x = x.ravel()
    place = np.arange(x.size)
    table = pa.table(
        {
            "obs_0": x,
            "obs_1": np.sin(x),
            "reward": x + random.normal(size=x.size),
            "truncated": place % 100 == 99,
            "episode": place // 100,
        }
    )
    names = []
    edges = np.linspace(0, x.size, count + 1).astype(int)
    for k, (start, end) in enumerate(zip(edges[:-1], edges[1:])):
        names.append(str(folder / f"shard-{k:02}.parquet"))
        pq.write_table(table.slice(start, end - start), names[-1], row_group_size=5000)
    return names


def sweep(executor: Any = None, cells: int = 2000, horizon: int = 300) -> str:
    """A sweep of 2,000 cells: 1,000 constants and two schedules."""
    c = np.logspace(-3, 3, cells // 2)
    s = rtd.sweep("two-state", c=c, horizon=horizon, runs=8, schedule=["decaying", "constant"], executor=executor)
    return s.to_csv() + s.curves.to_arrow().to_pandas().to_csv()


def answer(fit: rtd.Fit, folder: Path) -> tuple[str, bytes]:
    """All that is known about an answer, as bytes."""
    report = fit.to_dict()
    report.pop("seconds")
    fit.save(folder / "model.json")
    return repr(report), (folder / "model.json").read_bytes()


def drive(address: str, checkpoint: str, marks: str, parts: int, wait: float) -> None:
    """A driver to be killed: a job whose tasks leave marks."""
    from robust_td.executor import Job
    from robust_td.ray import RayExecutor

    tasks = [(k, wait, marks) for k in range(parts)]
    with RayExecutor(address, checkpoint=checkpoint) as executor:
        state = executor.run(Job("marks", b"", tasks, written, bracketed))
        print(state.decode(), executor.measured.restored, flush=True)


if __name__ == "__main__":
    drive(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5]))
