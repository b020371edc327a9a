"""Measures what intervals of an average of learners are worth, on chains whose TD fixed point is known.

    python benches/averaged_learners.py [--logs 60] [--rows 40000] [--states 20] [--dimension 4] [--discount 0.9] [--episode 0] [--seed 1]

For every algorithm and number of learners: the logs whose average has an interval, how often it covers the value of the policy and the values of five
states, how often the t interval of the spread alone would cover in all logs, and the mean rho, error and standard error.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import robust_td as rtd

METHODS: list[tuple[str, dict[str, float]]] = [
    ("lstd", {}),
    ("samsonov", {"step": 0.2, "drop": 1}),
    ("samsonov", {"step": 0.02, "drop": 1}),
    ("bhandari-b", {"step": 0.05, "radius": 1e3}),
    ("alg1", {}),
    ("alg1", {"c": 0.05}),
]
#: The 97.5 % quantiles of Student's t with 7 and 31 degrees of freedom.
LEARNERS = {8: 2.3646, 32: 2.0395}


class Chain:
    """A random chain with noisy rewards and random features, the first of them constant."""

    def __init__(self, seed: int, states: int, dimension: int, discount: float) -> None:
        random = np.random.default_rng(seed)
        self.steps = random.dirichlet(np.full(states, 0.5), size=states)
        self.rewards = random.normal(size=states)
        self.features = random.normal(size=(states, dimension)) / np.sqrt(dimension)
        self.features[:, 0] = 1.0 / np.sqrt(dimension)
        values, vectors = np.linalg.eig(self.steps.T)
        stationary = np.real(vectors[:, np.argmax(np.real(values))])
        stationary /= stationary.sum()
        weighted = self.features.T * stationary
        self.theta = np.linalg.solve(weighted @ (self.features - discount * self.steps @ self.features), weighted @ self.rewards)
        self.value = float(stationary @ self.features @ self.theta)

    def write(self, path: Path, rows: int, episode: int, random: np.random.Generator) -> None:
        """A log of one trajectory, or of episodes that are cut after this number of rows."""
        sums = self.steps.cumsum(axis=1)
        sums[:, -1] = 1.0
        states = np.empty(rows + 1, dtype=int)
        states[0] = random.integers(len(sums))
        for t, draw in enumerate(random.random(rows)):
            states[t + 1] = np.searchsorted(sums[states[t]], draw)
        here, after = self.features[states[:-1]], self.features[states[1:]]
        columns: dict[str, Any] = {f"obs_{j}": here[:, j] for j in range(here.shape[1])}
        columns |= {f"next_obs_{j}": after[:, j] for j in range(here.shape[1])}
        columns["reward"] = self.rewards[states[:-1]] + random.normal(size=rows)
        if episode:
            place = np.arange(rows)
            columns |= {"episode": place // episode, "truncated": place % episode == episode - 1}
        pq.write_table(pa.table(columns), path)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in [("logs", 60), ("rows", 40_000), ("states", 20), ("dimension", 4), ("episode", 0), ("seed", 1)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--discount", type=float, default=0.9)
    given = parser.parse_args()
    chain = Chain(given.seed, given.states, given.dimension, given.discount)
    some = chain.features[:5]
    table: dict[tuple[str, str, int], list[dict[str, float]]] = {}
    for log in range(given.logs):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "log.parquet")
            chain.write(path, given.rows, given.episode, np.random.default_rng(1000 + log))
            for learners, quantile in LEARNERS.items():
                for name, parameters in METHODS:
                    fit = rtd.evaluate(path, given.discount, algorithm=name, learners=learners, check=False, **parameters)
                    value, known, states = fit.start_value, fit.learners, fit.predict_interval(some)
                    assert value is not None and known is not None
                    inside = (states.lower <= some @ chain.theta) & (some @ chain.theta <= states.upper)
                    error = abs(value.value - chain.value)
                    found = {
                        "shown": float(np.isfinite(value.upper)),
                        "value": float(value.lower <= chain.value <= value.upper),
                        "states": float(np.mean(inside)),
                        "plain": float(error <= quantile * known["standard_error"]),
                        "rho": known["worst_bias"],
                        "error": error,
                        "standard error": known["standard_error"],
                    }
                    table.setdefault((name, json.dumps(parameters), learners), []).append(found)
    for (name, parameters, learners), rows in table.items():
        shown = [row for row in rows if row["shown"]]

        def mean(key: str, rows: list[dict[str, float]]) -> float:
            return float(np.mean([row[key] for row in rows])) if rows else float("nan")

        print(
            f"{name} {parameters}, {learners} learners: {len(shown)} of {len(rows)} shown; cover value {mean('value', shown):.1%}, "
            f"states {mean('states', shown):.1%}; plain {mean('plain', rows):.1%}; rho {mean('rho', rows):.2f}, "
            f"error {mean('error', rows):.4f}, standard error {mean('standard error', rows):.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
