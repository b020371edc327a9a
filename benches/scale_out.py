"""Measures work in parts, and simulates its schedule on more machines than there are here.

    python benches/scale_out.py measure [--rows 4000000] [--workers 2] [--write measured.json]
    python benches/scale_out.py measure --long          # an evaluation of some five minutes on two quiet cores: 34 million rows, 300 features
    python benches/scale_out.py simulate --measured measured.json          # what `measure --write` wrote
    python benches/scale_out.py campaign [--minutes 5]

`measure` compares an evaluation and a sweep on the threads of this process with the same on Ray, on as many workers. `simulate` needs no cluster: it
replays the schedule of the executor (two tasks per CPU in flight, 64 states per merge) with the measured distribution of task times. `campaign` runs
jobs on a cluster while their workers are killed at random, and compares bytes.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import random
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python/tests"))
#: Transitions of a part.
NODE = 262_144
FAN = 64


def environment() -> None:
    """What workers need to import the jobs."""
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "python/tests"), os.environ.get("PYTHONPATH", "")])
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"


def measure(rows: int, workers: int, features: str, sweeps: bool = True) -> dict[str, Any]:
    """Seconds per part, bytes per state, overhead per task, start-up; against threads."""
    environment()
    import cluster_jobs as jobs

    import robust_td as rtd
    from robust_td.executor import Job, LocalExecutor
    from robust_td.ray import RayExecutor

    found: dict[str, Any] = {"rows": rows, "workers": workers, "features": features}
    start = time.perf_counter()
    executor = RayExecutor(cpus=workers, object_store_memory=300_000_000)
    found["start_seconds"] = time.perf_counter() - start
    with executor, tempfile.TemporaryDirectory() as folder:
        tasks = [(k, 0.0, "") for k in range(1000)]
        executor.run(Job("warm", b"", tasks[: 4 * workers], jobs.written, jobs.bracketed))
        start = time.perf_counter()
        executor.run(Job("empty", b"", tasks, jobs.written, jobs.bracketed))
        found["overhead_seconds_per_task"] = (time.perf_counter() - start) / len(tasks)
        names = jobs.shards(Path(folder), rows=rows)
        passes: list[dict[str, Any]] = []

        class Noting:
            """Notes what each pass took."""

            def __init__(self, inside: Any) -> None:
                self.inside = inside
                self.workers = inside.workers

            def run(self, job: Job, tell: Any = None) -> bytes:
                state: bytes = self.inside.run(job, tell)
                known = self.inside.measured
                passes.append(
                    {
                        "name": job.name,
                        "parts": known.tasks,
                        "seconds": known.seconds,
                        "task_seconds": list(known.task_seconds),
                        "merge_seconds": known.merge_seconds,
                        "largest_state": known.largest_state,
                        "largest_merged": known.largest_merged,
                    }
                )
                return state

        options: dict[str, Any] = dict(discount=0.9, features=features)
        answers = []
        for name, run in [
            ("threads", lambda: rtd.evaluate(names, threads=workers, **options)),
            ("ray", lambda: rtd.evaluate(names, threads=workers, executor=Noting(executor), **options)),
        ]:
            start, cpu = time.perf_counter(), cpu_seconds()
            answers.append(jobs.answer(run(), Path(folder)))
            found[f"evaluate_{name}_seconds"] = time.perf_counter() - start
            found[f"evaluate_{name}_cpu_seconds"] = cpu_seconds() - cpu
        assert answers[0] == answers[1], "the bytes differ"
        found["passes"] = passes
        if not sweeps:
            return found
        local = LocalExecutor(workers)
        texts = []
        for name, which in [("threads", None), ("local", local), ("ray", executor)]:
            start, cpu = time.perf_counter(), cpu_seconds()
            texts.append(jobs.sweep(which, cells=2000, horizon=20_000))
            found[f"sweep_{name}_seconds"] = time.perf_counter() - start
            found[f"sweep_{name}_cpu_seconds"] = cpu_seconds() - cpu
        local.close()
        assert texts[0] == texts[1] == texts[2], "the bytes differ"
    return found


def schedule(task_seconds: list[float], parts: int, cpus: int, overhead: float, merge: float, submit: float, slow: float = 0.0) -> float:
    """The time of a pass: tasks start as CPUs become free, and the driver submits one at a time; 64 states are merged at a time.

    A share `slow` of the CPUs takes four times as long.
    """
    draw = random.Random(1)
    speeds = [4.0 if draw.random() < slow else 1.0 for _ in range(cpus)]
    free = [(0.0, k) for k in range(cpus)]
    heapq.heapify(free)
    ready: list[float] = []
    # Above 40,000 tasks, some of them are scheduled, and the time is scaled.
    drawn = min(parts, max(40_000, 3 * cpus))
    for k in range(drawn):
        at, cpu = heapq.heappop(free)
        begin = max(at, (k + 1) * submit)
        end = begin + overhead + speeds[cpu] * draw.choice(task_seconds)
        ready.append(end)
        heapq.heappush(free, (end, cpu))
    end = max(ready) * parts / drawn
    level = parts
    while level > 1:
        level = -(-level // FAN)
        # All merges but the last ones of each level overlap with tasks.
        end += overhead + merge * FAN
    return end


def simulate(measured: dict[str, Any]) -> str:
    """A table of times over nodes and rows."""
    lines = ["| rows | nodes of 32 CPUs | all passes | with 2 % slow CPUs | CPU hours |", "|---|---|---|---|---|"]
    passes = measured["passes"]
    overhead = measured["overhead_seconds_per_task"]
    for rows in (1e8, 1e9, 1e10, 1e11, 1e12):
        for nodes in (1, 10, 100, 1000):
            parts, cpus = max(1, int(rows / NODE)), 32 * nodes
            if cpus > 20 * parts:
                continue
            times = []
            for slow in (0.0, 0.02):
                total = 0.0
                for each in passes:
                    merges = max(1, -(-each["parts"] // FAN))
                    merge = each["merge_seconds"] / merges / max(1, min(FAN, each["parts"]))
                    # Rows are counted for 16 files at a time; files of a million rows are assumed.
                    count = -(-parts // 64) if each["name"] == "rows" else parts
                    total += schedule(each["task_seconds"], count, cpus, overhead, merge, submit=overhead / 4, slow=slow)
                times.append(total)
            means = [sum(each["task_seconds"]) / len(each["task_seconds"]) for each in passes if each["name"] != "rows"]
            work = parts * sum(means) / 3600
            lines.append(f"| {rows:.0e} | {nodes} | {hours(times[0])} | {hours(times[1])} | {work:.1f} |")
    return "\n".join(lines)


def hours(seconds: float) -> str:
    """A time in words."""
    for size, name in [(86400.0, "days"), (3600.0, "h"), (60.0, "min")]:
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {name}"
    return f"{seconds:.1f} s"


def campaign(minutes: float) -> None:
    """Jobs whose workers are killed at random give the same bytes."""
    environment()
    import cluster_jobs as jobs

    import robust_td as rtd
    from robust_td.ray import RayExecutor

    end = time.monotonic() + 60 * minutes
    kills = rounds = 0
    with tempfile.TemporaryDirectory() as folder, RayExecutor(cpus=2, max_retries=20, object_store_memory=300_000_000) as executor:
        names = jobs.shards(Path(folder), rows=1_600_000)
        options: dict[str, Any] = dict(discount=0.9, features="polynomial(degree=3)")
        alone = jobs.answer(rtd.evaluate(names, **options), Path(folder))
        learners: dict[str, Any] = dict(discount=0.9, algorithm="lstd", features="polynomial(degree=3)", learners=24)
        averaged = jobs.answer(rtd.evaluate(names, **learners), Path(folder))
        text = jobs.sweep(horizon=3000)
        draw = random.Random(0)

        def kill(done: int, total: int) -> None:
            nonlocal kills
            if draw.random() < 0.02 and (workers := tasks_running()):
                os.kill(draw.choice(workers), signal.SIGKILL)
                kills += 1

        while time.monotonic() < end:
            found = rtd.evaluate(names, executor=executor, progress=kill, **options)
            assert jobs.answer(found, Path(folder)) == alone, "the bytes of an evaluation differ"
            found = rtd.evaluate(names, executor=executor, progress=kill, **learners)
            assert jobs.answer(found, Path(folder)) == averaged, "the bytes of an average of learners differ"
            assert jobs.sweep(executor, horizon=3000) == text, "the bytes of a sweep differ"
            rounds += 1
    print(f"{rounds} rounds, {kills} kills, the same bytes")


def processes() -> dict[int, tuple[bytes, float]]:
    """This process and those below it: what they run, and the seconds of CPU that they took."""
    parents: dict[int, int] = {}
    found: dict[int, tuple[bytes, float]] = {}
    tick = os.sysconf("SC_CLK_TCK")
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(stat[1])
                # Its own time, and that of its children that ended.
                found[int(entry.name)] = words, sum(map(int, stat[11:15])) / tick
            except (OSError, IndexError, ValueError):
                continue

    def is_own(process: int) -> bool:
        while process > 1:
            if process == os.getpid():
                return True
            process = parents.get(process, 0)
        return False

    return {process: known for process, known in found.items() if is_own(process)}


def cpu_seconds() -> float:
    """The CPU time of this process and of those below it so far."""
    return sum(seconds for _, seconds in processes().values())


def tasks_running() -> list[int]:
    """The processes of workers below this one that compute something."""
    return [process for process, (words, _) in processes().items() if words.startswith(b"ray::_remote")]


def main(stack: ExitStack) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["measure", "simulate", "campaign"])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--features")
    parser.add_argument("--long", action="store_true", help="a job of some five minutes with two threads, without the sweep")
    parser.add_argument("--measured", type=Path)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--minutes", type=float, default=5)
    given = parser.parse_args()
    if given.what != "simulate" and os.geteuid() == 0:
        # Ray listens on all addresses of a machine.
        import network

        stack.enter_context(network.of_its_own())
    if given.what == "measure":
        rows, features = (34_000_000, "polynomial(degree=23)") if given.long else (4_000_000, "polynomial(degree=12)")
        found = measure(given.rows or rows, given.workers, given.features or features, sweeps=not given.long)
        if given.write:
            given.write.write_text(json.dumps(found))
        for name, value in found.items():
            if name != "passes":
                print(name, value)
        for what in ("seconds", "cpu_seconds"):
            ratio = found[f"evaluate_ray_{what}"] / found[f"evaluate_threads_{what}"]
            print(f"evaluate, {what}: Ray takes {ratio:.3f}x of threads")
        for each in found["passes"]:
            mean = sum(each["task_seconds"]) / len(each["task_seconds"])
            print(each["name"], each["parts"], "parts,", f"{mean:.3f} s each,", each["largest_state"], "bytes at most, merged", f"{each['largest_merged']},", f"merging {each['merge_seconds']:.3f} s")
    elif given.what == "simulate":
        if given.measured is None:
            parser.error("simulate needs --measured FILE, which measure --write FILE makes")
        print(simulate(json.loads(given.measured.read_text())))
    else:
        campaign(given.minutes)


if __name__ == "__main__":
    with ExitStack() as stack:
        main(stack)
