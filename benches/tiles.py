"""Evaluates a log with millions of tile-coded features, and compares the answer with the exact values.

    pip install numpy polars
    cargo build --release -p robust-td-cli
    python benches/tiles.py [--rows 1e7] [--bins 999] [--threads 2] [--directory DIR]

The log is one trajectory of a walk on the unit square, whose opposite sides are joined: x' = x + uniform steps of up to +-0.05. The reward is cos(2 pi x_0)
plus noise, so the value is cos(2 pi x_0) / (1 - gamma lambda) with lambda = sin(0.1 pi) / (0.1 pi). Eight tilings of (bins + 1)^2 tiles: 8,000,000
features with 999 bins. Prints elapsed time, CPU time, peak memory, and the root mean square of values and of their errors over some rows.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

DISCOUNT = 0.99
STEP = 0.05
# The number of rows whose values are compared with the exact ones.
COMPARED = 2000


def make(path, rows):
    """Writes the log to a Parquet file."""
    import numpy as np
    import polars

    rng = np.random.default_rng(1)
    x = (np.cumsum(rng.uniform(-STEP, STEP, (rows, 2)), axis=0) % 1).astype("float32")
    reward = np.cos(2 * np.pi * x[:, 0]) + 0.3 * rng.standard_normal(rows)
    frame = polars.DataFrame({"obs_0": x[:, 0], "obs_1": x[:, 1], "reward": reward.astype("float32")})
    frame.write_parquet(path, row_group_size=1 << 18)
    frame.head(COMPARED).write_parquet(path.with_suffix(".head.parquet"))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=float, default=1e7)
    arguments.add_argument("--bins", type=int, default=999, help="per coordinate")
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--directory", type=Path, help="where the log is kept; made there if missing")
    arguments.add_argument("--binary", default="target/release/robust-td")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.directory or Path(temporary)
        path = directory / f"walk-{options.rows:.0e}.parquet"
        if not path.exists():
            make(path, int(options.rows))
        model, values = directory / "walk.json", directory / "values.csv"
        features = f"tiles(tilings=8,bins={options.bins},low=0,high=1)"
        command = [options.binary, "evaluate", path, "--discount", DISCOUNT, "--features", features, "--json", "--no-check"]
        started = time.perf_counter()
        process = subprocess.run([*map(str, command), "--threads", str(options.threads), "--out", str(model)], capture_output=True, text=True)
        elapsed, used = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
        if process.returncode:
            raise SystemExit(process.stderr)
        found = json.loads(process.stdout)
        head = path.with_suffix(".head.parquet")
        subprocess.run([options.binary, "predict", model, head, "--out", values], check=True, capture_output=True)
        report(found, elapsed, used, head, values)
        if not options.directory:
            return
        for file in (model, values):
            os.remove(file)


def report(found, elapsed, used, head, values):
    import numpy as np
    import polars

    turn = 2 * math.pi * STEP
    exact = np.cos(2 * np.pi * polars.read_parquet(head)["obs_0"].to_numpy()) / (1 - DISCOUNT * math.sin(turn) / turn)
    error = polars.read_csv(values)["value"].to_numpy() - exact
    size = lambda x: float(np.sqrt(np.mean(x**2)))
    print(f"features {found['dimension']}, transitions {found['steps']}, products {found.get('products')}")
    print(f"elapsed {elapsed:.0f} s, CPU {used.ru_utime + used.ru_stime:.0f} s, peak memory {used.ru_maxrss / 2**20:.2f} GB")
    print(f"relative residual {found['relative_residual']:.2e}, converged {found['converged']}, value of the policy {found['start_value']}")
    print(f"values {size(exact):.3f}, errors {size(error):.3f} (root mean square)")


if __name__ == "__main__":
    main()
