"""What the tests share: the command, and logs with known values."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("MPLBACKEND", "agg")
ROOT = Path(__file__).resolve().parents[2]
DISCOUNT = 0.9


@pytest.fixture(scope="session")
def command() -> Callable[..., Any]:
    """Runs the program that cargo built, or the package's own where there is none; returns its JSON or its text."""
    built = Path(os.environ.get("ROBUST_TD", ROOT / "target/release/robust-td"))
    start = [str(built)] if built.exists() else [sys.executable, "-m", "robust_td"]

    def run(*arguments: object) -> Any:
        words = [str(argument) for argument in arguments]
        done = subprocess.run([*start, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if "--json" in words else done.stdout

    return run


def walk(rows: int = 20_000, seed: int = 0) -> dict[str, Any]:
    """x' = 0.8 x + noise, reward x: V(x) = x / (1 - 0.8 * 0.9), in episodes of 100 rows that are cut."""
    noise = np.random.default_rng(seed).normal(size=(rows, 2))
    x = np.zeros(rows + 1)
    obs, following = np.zeros((rows, 2)), np.zeros((rows, 2))
    for t in range(rows):
        if t % 100 == 0:
            x[t] = 2.0 + noise[t, 1]
        following[t, 0] = 0.8 * x[t] + noise[t, 0]
        obs[t] = x[t], np.sin(x[t])
        following[t, 1] = np.sin(following[t, 0])
        x[t + 1] = following[t, 0]
    return {
        "obs": obs,
        "reward": x[:rows] + noise[:, 1],
        "next_obs": following,
        "terminated": np.zeros(rows, dtype=bool),
        "truncated": np.arange(rows) % 100 == 99,
        "episode": np.arange(rows) // 100,
    }


#: The slope of the values of `walk`.
SLOPE = 1 / (1 - 0.8 * DISCOUNT)


def frame(log: dict[str, Any]) -> Any:
    """The same as a data frame."""
    import pandas

    columns: dict[str, Any] = {}
    for name, values in log.items():
        if values.ndim == 2:
            columns.update({f"{name}_{k}": values[:, k] for k in range(values.shape[1])})
        else:
            columns[name] = values
    return pandas.DataFrame(columns)


@pytest.fixture(scope="session")
def log() -> dict[str, Any]:
    return walk()


@pytest.fixture(scope="session")
def files(log: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the log as CSV and Parquet."""
    folder = tmp_path_factory.mktemp("logs")
    table = frame(log)
    table.to_csv(folder / "log.csv", index=False)
    table.to_parquet(folder / "log.parquet", index=False)
    table[:10_000].to_parquet(folder / "part-1.parquet", index=False)
    table[10_000:].to_parquet(folder / "part-2.parquet", index=False)
    return folder
