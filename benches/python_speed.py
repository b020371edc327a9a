"""Measures the Python package against the Rust library, the command, NumPy, scikit-learn and numba; prints a Markdown table.

    pip install . scikit-learn numba
    cargo build --release -p robust-td-cli
    cargo build --release -p robust-td-py --example stream_speed
    python benches/python_speed.py [--rows 1000000] [--rounds 3] [--write docs/speed.md]

All figures are CPU time, with one thread each: they hold on a busy machine as well, up to the caches that are shared. The contestants of a line take
turns, round by round, and the median counts. `--write` replaces the table between the marks in a page.
"""

from __future__ import annotations

import argparse
import datetime
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np

import robust_td as rtd

DISCOUNT = 0.9
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "release"
Clock = Callable[[], float]


def own(work: Callable[[], object]) -> Clock:
    """Measures a call in this process."""

    def measured() -> float:
        started = time.process_time()
        work()
        return time.process_time() - started

    return measured


def child(*command: object) -> float:
    """The CPU time of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in command], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def turns(rounds: int, *contestants: Clock) -> list[float]:
    """The median time of each contestant."""
    times: list[list[float]] = [[] for _ in contestants]
    for _ in range(rounds):
        for found, contestant in zip(times, contestants):
            found.append(contestant())
    return [statistics.median(found) for found in times]


class Table:
    """Lines of what was measured, against what, and the ratio."""

    def __init__(self) -> None:
        self.lines = ["| task | Python | against | its time | ratio | at most |", "|---|---|---|---|---|---|"]

    def add(self, task: str, mine: float, other: str, theirs: float, limit: str = "") -> None:
        self.lines.append(f"| {task} | {mine:.3g} s | {other} | {theirs:.3g} s | {mine / theirs:.2f} | {limit} |")
        print(self.lines[-1], flush=True)


def evaluations(table: Table, rows: int, d: int, rounds: int) -> None:
    """`evaluate` from arrays against its native part and against plain linear algebra."""
    rng = np.random.default_rng(0)
    obs = rng.standard_normal((rows, d))
    reward = obs @ rng.standard_normal(d) + rng.standard_normal(rows)
    log = {"obs": obs, "reward": reward}
    size = f"{rows:,} x {d} arrays"
    shares: list[float] = []

    def full() -> None:
        started = time.perf_counter()
        fit = rtd.evaluate(log, discount=DISCOUNT, threads=1)
        shares.append((time.perf_counter() - started) / fit.to_dict()["seconds"])

    def lstd() -> None:
        phi = np.ones((rows, d + 1))
        np.divide(obs - obs.mean(axis=0), obs.std(axis=0), out=phi[:, :d])
        now, following = phi[:-1], phi[1:]
        np.linalg.solve(now.T @ now - DISCOUNT * (now.T @ following), now.T @ reward[:-1])

    from sklearn.linear_model import Ridge

    whole, plain, numpy_lstd, ridge = turns(
        rounds,
        own(full),
        own(lambda: rtd.evaluate(log, discount=DISCOUNT, threads=1, check=False)),
        own(lstd),
        own(lambda: Ridge(solver="cholesky").fit(obs, reward)),
    )
    share = statistics.median(shares)
    table.add(f"`evaluate`, {size}", whole, "the Rust library on the same memory (elapsed time within each call)", whole / share, "1.1")
    table.add("the same, without check", plain, "LSTD in NumPy, standardised, without intervals", numpy_lstd)
    table.add("the same, without check", plain, "`Ridge` of scikit-learn on the same arrays", ridge)


def streams(table: Table, rows: int, rounds: int) -> None:
    """`OnlineTD.learn_many` against loops in Rust and numba."""
    import numba

    @numba.njit
    def td0(x, reward, step):  # type: ignore[no-untyped-def]
        theta = np.zeros(x.shape[1])
        average = np.zeros(x.shape[1])
        for t in range(len(x) - 1):
            delta = reward[t] + DISCOUNT * (x[t + 1] @ theta) - x[t] @ theta
            eta = step / (np.log(t + 3.0) * np.sqrt(t + 1.0))
            theta += eta * delta * x[t]
            average += eta * theta
        return average

    for d in (10, 100):
        n = rows // d * 10
        x = np.random.default_rng(0).random((n + 1, d)) - 0.5
        reward = x[:, 0].copy()
        td0(x[:10], reward[:10], 0.1)

        def loop(method: str, *constant: float) -> Clock:
            program = TARGET / "examples/stream_speed"
            return lambda: child(program, method, d, n, 2, *constant) - child(program, method, d, n, 1, *constant)

        def learn(algorithm: str, **options: float) -> Clock:
            return own(lambda: rtd.OnlineTD(DISCOUNT, d, algorithm, **options).learn_many(x[:-1], reward[:-1], x[1:]))

        given = {"c": 1.0, "phi_inf": float(d), "horizon": 2**40}
        mine, estimator, learner, alg1, rust_alg1, compiled = turns(
            rounds,
            learn("auto"),
            loop("estimator"),
            loop("auto"),
            learn("alg1", **given),
            loop("alg1", 1.0),
            own(lambda: td0(x, reward, 0.1)),
        )
        task = f"`OnlineTD.learn_many`, {n:,} x {d}"
        table.add(f"{task}, `auto`", mine, "`Estimator` in Rust, row by row", estimator, "1.3")
        table.add(f"{task}, `auto`", mine, "the same learner in Rust, row by row", learner)
        table.add(f"{task}, `alg1`", alg1, "the same learner in Rust, row by row", rust_alg1)
        table.add(f"{task}, `alg1`", alg1, "TD(0) in numba, with the same steps and average", compiled)


def sweeps(table: Table, rounds: int) -> None:
    """`sweep` against the command, which writes its tables and figures, too."""
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "sweep.toml"
        spec.write_text('problem = "paper-ring"\nc = { from = 1e-4, to = 1e2, per_decade = 6 }\nsteps = 1_000_000\nruns = 48\n')
        c = np.logspace(-4, 2, 37)
        mine, command = turns(
            rounds,
            own(lambda: rtd.sweep("paper-ring", c=c, horizon=10**6, runs=48, threads=1)),
            lambda: child(TARGET / "robust-td", "sweep", spec, "--threads", 1, "--out", Path(folder) / "out"),
        )
    table.add("`sweep`, 37 constants, 48 runs of 1e6 steps", mine, "`robust-td sweep`", command, "1.0")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=1_000_000)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--write", type=Path, help="a page whose table is replaced")
    options = arguments.parse_args()
    table = Table()
    print("\n".join(table.lines))
    evaluations(table, options.rows, 100, options.rounds)
    streams(table, options.rows, options.rounds)
    sweeps(table, options.rounds)
    load = os.getloadavg()[0]
    caption = (
        f"Made on {datetime.date.today():%d %B %Y} with `python benches/python_speed.py`: median CPU time of {options.rounds} rounds, one thread "
        f"each, robust-td {rtd.__version__}, NumPy {np.__version__}, {os.cpu_count()} CPUs, load average {load:.1f} at the end."
    )
    print(caption)
    if options.write:
        text = options.write.read_text()
        start, end = "<!-- speed -->\n", "<!-- /speed -->"
        before, rest = text.split(start)
        options.write.write_text(before + start + "\n" + "\n".join(table.lines) + f"\n\n{caption}\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    sys.exit(main())
