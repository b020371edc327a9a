"""Compares `robust-td evaluate` with least squares in NumPy/BLAS, on the same files.

    pip install numpy polars pyarrow
    cargo build --release -p robust-td-cli
    python benches/least_squares.py [--sizes 10,100,300,1000] [--rounds 5] [--directory DIR] [--cpu] [--arguments '--algorithm lstd']

Both read a log of d observations, standardise them, add a constant and solve the LSTD equations for discount 0.99. NumPy takes CSV
from polars and Parquet from pyarrow, whole, and multiplies matrices once. Every run is a new process with the same
number of threads and cores; the time of NumPy leaves out starting Python and imports, that of robust-td is the whole process. The runs take turns and the
fastest counts. `--cpu` measures CPU time instead of elapsed time, for busy machines. `ratio` is the time of robust-td over that of NumPy, `speedup` that of one thread over two of robust-td, and `difference` the largest
difference of the values of 100 rows, relative to the largest value; above 1e-8 the script fails.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DISCOUNT = 0.99
ROWS = {10: 2_000_000, 100: 300_000, 300: 100_000, 1000: 40_000}
# The number of rows whose values are compared.
COMPARED = 100
TOLERANCE = 1e-8
FEATURES = "standardise + bias"


def make(directory, d):
    """Writes a log as CSV and Parquet, and its first rows: x' = 0.9 x + noise, reward w.x + 1 + noise."""
    import numpy as np
    import polars

    rng, rows = np.random.default_rng(d), ROWS.get(d, 20_000_000 // d)
    x = rng.standard_normal((rows, d))
    for t in range(1, rows):
        x[t] = 0.9 * x[t - 1] + 0.19**0.5 * x[t]
    # Fewer digits than a float has, as logs have; both formats hold the same numbers.
    x = (x * np.linspace(1, 10, d) + np.linspace(0, 5, d)).round(6)
    reward = (x @ rng.standard_normal(d) / d + 1 + rng.standard_normal(rows)).round(6)
    frame = polars.DataFrame(x, schema=[f"obs_{k}" for k in range(d)]).with_columns(reward=reward)
    frame.write_csv(directory / f"{d}.csv")
    frame.write_parquet(directory / f"{d}.parquet", row_group_size=1 << 16)
    frame.head(COMPARED).write_csv(directory / f"{d}.head.csv")


def numpy_child(path, clock):
    """Prints the seconds of least squares in NumPy, and the values of the first rows."""
    import numpy as np
    import polars
    import pyarrow
    import pyarrow.parquet

    pyarrow.set_cpu_count(int(os.environ["OMP_NUM_THREADS"]))
    started = clock()
    if path.endswith(".csv"):
        frame = polars.read_csv(path)
        reward, x = frame["reward"].to_numpy(), frame.drop("reward").to_numpy()
    else:
        table = pyarrow.parquet.read_table(path)
        reward = table["reward"].to_numpy()
        x = np.stack([column.to_numpy() for column in table.drop(["reward"]).columns], axis=1)
    phi = np.ones((len(x), x.shape[1] + 1))
    phi[:, :-1] = (x - x.mean(axis=0)) / x.std(axis=0)
    now, following = phi[:-1], phi[1:]
    theta = np.linalg.solve(now.T @ (now - DISCOUNT * following), now.T @ reward[:-1])
    print(clock() - started)
    print(*(phi[:COMPARED] @ theta).tolist())


class RobustTd:
    """The command, with the options that this version has."""

    def __init__(self, binary, extra, clock):
        self.binary, self.extra, self.clock = binary, extra, clock
        self.help = subprocess.run([binary, "evaluate", "--help"], capture_output=True, text=True, check=True).stdout

    def evaluate(self, path, threads, out=None):
        options = ["--discount", str(DISCOUNT), "--features", FEATURES, "--json", *self.extra]
        options += ["--no-check"] if "--no-check" in self.help else []
        options += ["--threads", str(threads)] if "--threads" in self.help else []
        options += ["--out", out] if out else []
        started = self.clock()
        run([self.binary, "evaluate", path, *options], threads)
        return self.clock() - started

    def values(self, path, head):
        with tempfile.TemporaryDirectory() as folder:
            model = f"{folder}/model.json"
            self.evaluate(path, 1, model)
            text = run([self.binary, "predict", model, head], 1)
        return [float(line.split(",")[0]) for line in text.splitlines()[1:]]


def run(command, threads):
    """The output of a command with this number of threads and cores."""
    names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS"]
    environment = os.environ | dict.fromkeys(names, str(threads))
    cores = sorted(os.sched_getaffinity(0))[-threads:]
    limit = lambda: os.sched_setaffinity(0, cores)
    done = subprocess.run([str(part) for part in command], env=environment, preexec_fn=limit, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stderr}")
    return done.stdout


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compare(robust_td, path, head, rounds):
    """The line of one file, and the difference of the answers."""
    numpy_times, own_times = {1: [], 2: []}, {1: [], 2: []}
    for _ in range(rounds):
        for threads in (1, 2):
            cpu = ["--cpu"] if robust_td.clock is cpu_of_children else []
            seconds, values = run([sys.executable, __file__, "--child", path, *cpu], threads).splitlines()
            numpy_times[threads].append(float(seconds))
            own_times[threads].append(robust_td.evaluate(path, threads))
    numpy_best, own = ({n: min(found) for n, found in times.items()} for times in (numpy_times, own_times))
    expected = [float(value) for value in values.split()]
    found = robust_td.values(path, head)
    difference = max(abs(x - y) for x, y in zip(expected, found, strict=True)) / max(map(abs, expected))
    times = " | ".join(f"{numpy_best[n]:.2f} s | {own[n]:.2f} s | {own[n] / numpy_best[n]:.2f}" for n in (1, 2))
    return f"{times} | {own[1] / own[2]:.2f} | {difference:.0e} |", difference


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sizes", default="10,100,300,1000", help="numbers of observations")
    arguments.add_argument("--rounds", type=int, default=5, help="runs of each command; the fastest counts")
    arguments.add_argument("--directory", type=Path, help="where logs are kept; made there if missing")
    arguments.add_argument("--cpu", action="store_true", help="measure CPU time")
    arguments.add_argument("--binary", default="target/release/robust-td")
    arguments.add_argument("--arguments", default="", help="further arguments of robust-td evaluate")
    arguments.add_argument("--child", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.child:
        return numpy_child(options.child, time.process_time if options.cpu else time.perf_counter)
    clock = cpu_of_children if options.cpu else time.perf_counter
    robust_td = RobustTd(options.binary, options.arguments.split(), clock)
    print("| d | rows | file | NumPy, 1 thread | robust-td | ratio | NumPy, 2 threads | robust-td | ratio | speedup | difference |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    largest = 0
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.directory or Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        for d in map(int, options.sizes.split(",")):
            head = directory / f"{d}.head.csv"
            if not head.exists():
                make(directory, d)
            for kind in ("csv", "parquet"):
                line, difference = compare(robust_td, directory / f"{d}.{kind}", head, options.rounds)
                print(f"| {d} | {ROWS.get(d, 20_000_000 // d)} | {kind} | {line}", flush=True)
                largest = max(largest, difference)
    if largest > TOLERANCE:
        sys.exit(f"the answers differ by {largest:.1e}, more than {TOLERANCE}")


if __name__ == "__main__":
    main()
