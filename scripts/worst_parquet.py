"""Measures the time and memory that Parquet files of 1 MB can take.

Writes files of at most 1,000,000 bytes that expand as far as the limits allow (constant columns, lists, strings, many columns, many row groups), padded
to that size because the limit on values grows with it, and runs `inspect`, `evaluate` and `predict` on each with GNU time.

    python scripts/worst_parquet.py --binary target/release/robust-td
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SIZE = 1_000_000
#: What the program accepts in a file of this size: 2^23 values and 24 per byte.
VALUES = 2**23 + 24 * SIZE
#: And this number of rows.
ROWS = 2_800_000


def write(path: Path, table: pa.Table, row_group_size: int | None = None, **options: object) -> None:
    """Writes a table, padded to the size with a note in the footer."""
    note = 0
    for _ in range(2):
        with pq.ParquetWriter(path, table.schema, store_schema=False, **options) as writer:
            writer.write_table(table, row_group_size=row_group_size)
            writer.add_key_value_metadata({"pad": "x" * note})
        note += SIZE - path.stat().st_size
        if note < 0:
            raise SystemExit(f"{path.name} has {path.stat().st_size} bytes")


def most_rows(columns: int) -> int:
    """The number of rows that a file may have."""
    return min(ROWS, VALUES // columns - 1)


def counting(rows: int) -> pa.Table:
    return pa.table({"obs_0": np.arange(rows), "reward": np.ones(rows)})


def constant(rows: int, columns: int) -> pa.Table:
    zeros = np.zeros(rows)
    names = [f"obs_{k}" for k in range(columns - 1)]
    return pa.table({**dict.fromkeys(names, zeros), "reward": zeros + 1})


def lists(rows: int, length: int) -> pa.Table:
    values = pa.array(np.zeros(rows * length))
    offsets = pa.array(np.arange(0, rows * length + 1, length, dtype=np.int32))
    return pa.table({"obs": pa.ListArray.from_arrays(offsets, values), "reward": np.ones(rows)})


def strings(rows: int, length: int) -> pa.Table:
    names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int32)), pa.array(["x" * length]))
    return pa.table({"obs_0": np.zeros(rows), "reward": np.ones(rows), "episode": names})


def categories(rows: int, levels: int) -> pa.Table:
    places = pa.array((np.arange(rows) * levels // rows).astype(np.int32))
    names = pa.DictionaryArray.from_arrays(places, pa.array([f"{k:07}" for k in range(levels)]))
    return pa.table({"obs_0": names, "reward": np.ones(rows)})


def episodes(rows: int, names: np.ndarray) -> pa.Table:
    return pa.table({"obs_0": np.zeros(rows), "reward": np.ones(rows), "episode": names[:rows]})


ZSTD = {"compression": "zstd", "compression_level": 19}
EPISODES = {"use_dictionary": ["obs_0", "reward"], "column_encoding": {"episode": "DELTA_BINARY_PACKED"}, **ZSTD}
FILES: dict[str, tuple[Callable[[], pa.Table], dict[str, object]]] = {
    "2 constant columns": (lambda: constant(most_rows(2), 2), {}),
    "2 constant columns, plain, zstd": (lambda: constant(most_rows(2), 2), {"use_dictionary": False, **ZSTD}),
    "2 columns, all rows differ": (
        lambda: counting(most_rows(2)),
        {"use_dictionary": ["reward"], "column_encoding": {"obs_0": "DELTA_BINARY_PACKED"}},
    ),
    "20 constant columns": (lambda: constant(most_rows(20), 20), {}),
    "200 constant columns": (lambda: constant(most_rows(200), 200), {}),
    "2,000 constant columns": (lambda: constant(most_rows(2000), 2000), {}),
    "lists of 1": (lambda: lists(most_rows(2), 1), {}),
    "lists of 100": (lambda: lists(most_rows(101), 100), {}),
    "lists of 2,400": (lambda: lists(most_rows(2401), 2400), {}),
    "lists of 60,000": (lambda: lists(most_rows(60_001), 60_000), {}),
    "lists of 100,000": (lambda: lists(most_rows(100_001), 100_000), {}),
    "names of 1,000 bytes": (lambda: strings(most_rows(3), 1000), {"write_statistics": False}),
    "names of 400,000 bytes": (lambda: strings(most_rows(3), 400_000), {"write_statistics": False}),
    "names of 400,000 bytes, few rows": (lambda: strings(20_000, 400_000), {"write_statistics": False}),
    "50,000 categories": (lambda: categories(most_rows(2), 50_000), ZSTD),
    "an episode per row": (lambda: episodes(ROWS, np.arange(ROWS)), EPISODES),
    "an episode per two rows": (lambda: episodes(ROWS, np.arange(ROWS) // 2), EPISODES),
    "100,000 episodes in turn": (lambda: episodes(ROWS, np.arange(ROWS) % 100_000), EPISODES),
    "1,000,000 episodes in turn": (lambda: episodes(ROWS, np.arange(ROWS) % 1_000_000), EPISODES),
    "many row groups": (lambda: constant(2000, 2), {"row_group_size": 1}),
    "rows that differ": (lambda: pa.table({"obs_0": np.random.default_rng(1).normal(size=60_000), "reward": np.zeros(60_000)}), {}),
}


def measure(words: list[str], place: Path) -> str:
    """Exit code, seconds, megabytes, seconds of CPU and the message."""
    times, errors = place / "times", place / "errors"
    # A small process starts the program: the memory of this one would count as its own.
    timed = ["/usr/bin/time", "-o", str(times), "-f", "%e %M %U %S", *words]
    with errors.open("wb") as sink:
        code = subprocess.run(timed, stdout=subprocess.DEVNULL, stderr=sink, check=False).returncode
    seconds, size, user, system = map(float, times.read_text().split()[-4:])
    text = errors.read_text(errors="replace").strip().splitlines()
    message = text[-1].split(".parquet: ")[-1][:90] if text else ""
    return f"{code} | {seconds:.1f} | {user + system:.1f} | {size / 1000:.0f} | {message} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default="target/release/robust-td")
    parser.add_argument("--only")
    arguments = parser.parse_args()
    print("| file | bytes | command | exit | seconds | of CPU | MB | |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        log, model = place / "log.csv", place / "model.json"
        log.write_text("obs_0,reward\n" + "".join(f"{k % 7},{k % 3}\n" for k in range(100)))
        subprocess.run([arguments.binary, "evaluate", log, "--discount", "0.9", "--out", model], check=True, capture_output=True)
        for name, (make, options) in FILES.items():
            if arguments.only and arguments.only not in name:
                continue
            path = place / "file.parquet"
            write(path, make(), **options)
            for command in (["inspect"], ["evaluate", "--discount", "0.9"], ["predict", str(model)]):
                words = [arguments.binary, *command, str(path)]
                print(f"| {name} | {path.stat().st_size} | {command[0]} | {measure(words, place)}", flush=True)


if __name__ == "__main__":
    main()
