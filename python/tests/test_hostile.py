"""Arrays from strangers: any shape, stride, type and number gives an answer that is consistent, or an error with a reason."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import robust_td as rtd

SEED, TRIALS = 20, 400
NUMBERS = [0.0, -0.0, 5e-324, 1e-308, 1e154, 1e308, -1e308, np.inf, -np.inf, np.nan, 1.0, -3.5]
INTEGERS = [0, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)]
TYPES = ["f2", "f4", "f8", ">f8", "i1", "u8", "i8", ">i4", "?", "c16", "O", "U5", "S3", "M8[s]", "m8[ns]", "longdouble"]


def numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Usual numbers, or some at the edges."""
    values = rng.normal(size=shape)
    if rng.random() < 0.5 and values.size:
        places = rng.random(shape) < rng.choice([0.02, 0.5, 1.0])
        values[places] = rng.choice(NUMBERS, size=int(places.sum()))
    return values


def typed(rng: np.random.Generator, values: Any) -> Any:
    kind = str(rng.choice(TYPES))
    with np.errstate(all="ignore"):
        try:
            return values.astype(np.dtype(kind))
        except (TypeError, ValueError, OverflowError):
            return values


def strided(rng: np.random.Generator, values: Any) -> Any:
    """The same numbers in another memory layout, or others by a stride of zero."""
    choice = rng.integers(6)
    if choice == 0:
        return np.asfortranarray(values)
    if choice == 1 and values.ndim:
        return np.repeat(values, 2, axis=0)[::2]
    if choice == 2 and values.ndim:
        return values[::-1]
    if choice == 3 and values.ndim and values.size:
        return np.broadcast_to(values[:1], values.shape)
    if choice == 4 and values.dtype.kind == "f":
        buffer = np.zeros(values.nbytes + 1, dtype="u1")
        odd = buffer[1:].view(values.dtype)[: values.size].reshape(values.shape)
        odd[...] = values
        return odd
    return values


def column(rng: np.random.Generator, rows: int, width: int | None) -> Any:
    shape: tuple[int, ...] = (rows,) if width is None else (rows, width)
    strange = rng.random()
    if strange < 0.05:
        shape = tuple(int(n) for n in rng.integers(0, 4, size=int(rng.integers(0, 4))))
    elif strange < 0.1:
        shape = (max(0, rows + int(rng.integers(-1, 2))), *shape[1:])
    values = strided(rng, typed(rng, numbers(rng, shape)) if rng.random() < 0.4 else numbers(rng, shape))
    if strange > 0.97:
        return values.tolist()
    if strange > 0.95:
        return rng.choice(np.array(INTEGERS, dtype=object), size=shape)
    if strange > 0.93:
        return rng.choice(np.array([None, "x", b"y", {}, object()], dtype=object))
    return values


def hostile(rng: np.random.Generator) -> dict[str, Any]:
    rows = int(rng.choice([0, 1, 2, 7, 60]))
    width = None if rng.random() < 0.1 else int(rng.choice([0, 1, 2, 3]))
    log = {"obs": column(rng, rows, width), "reward": column(rng, rows, None)}
    for name, chance in (("next_obs", 0.3), ("terminated", 0.3), ("truncated", 0.3), ("episode", 0.4), ("rho", 0.2)):
        if rng.random() < chance:
            flags = rng.random(rows) < 0.2
            log[name] = column(rng, rows, width) if name == "next_obs" else flags if rng.random() < 0.6 else column(rng, rows, None)
    return log


def assert_answered(log: Any, **options: Any) -> bool:
    """Whether there is an answer; a saved and restored one predicts the same bits."""
    try:
        fit = rtd.evaluate(log, discount=0.9, threads=1, **options)
    except (rtd.Error, ValueError, TypeError) as error:
        assert str(error), type(error)
        return False
    again = pickle.loads(pickle.dumps(fit))
    assert again.theta.tobytes() == fit.theta.tobytes()
    return True


@pytest.mark.parametrize("part", range(4))
def test_hostile_arrays_are_answered_or_refused(part: int) -> None:
    rng = np.random.default_rng([SEED, part])
    answers = sum(assert_answered(hostile(rng)) for _ in range(TRIALS // 4))
    assert 0 < answers < TRIALS // 4


def test_hostile_arrow_streams_are_answered_or_refused() -> None:
    arrow = pytest.importorskip("pyarrow")
    rng = np.random.default_rng([SEED, 99])
    answers = 0
    for _ in range(TRIALS // 4):
        rows = int(rng.choice([0, 1, 5, 60]))
        columns: dict[str, Any] = {}
        for name in ("obs_0", "reward", *rng.choice(["obs_1", "episode", "terminated", "obs_0"], size=2)):
            values = numbers(rng, (rows,))
            kind = arrow.float64() if rng.random() < 0.6 else rng.choice([arrow.float64(), arrow.float32(), arrow.int64(), arrow.bool_(), arrow.string(), arrow.list_(arrow.float64()), arrow.null()])
            missing = rng.choice([0.0, 0.0, 0.1])
            cells = [None if rng.random() < missing else float(x) for x in values]
            if arrow.types.is_list(kind):
                cells = [None if x is None else [x] * int(rng.integers(0, 3)) for x in cells]
            try:
                columns[str(name)] = arrow.array(cells if rng.random() < 0.9 else [str(x) for x in cells], type=kind, from_pandas=False)
            except (arrow.ArrowException, TypeError, ValueError):
                columns[str(name)] = arrow.array(values)
        table = arrow.table(columns)
        chunks = table.to_batches(max_chunksize=max(1, int(rng.integers(1, 9))))
        answers += assert_answered(arrow.Table.from_batches(chunks, schema=table.schema))
    assert 0 < answers < TRIALS // 4


@pytest.mark.parametrize("size", [2**31, 2**53 + 1, 2**63 - 1, -1, 0])
def test_huge_and_negative_sizes_are_refused(size: int) -> None:
    log = {"obs": np.zeros((10, 1)), "reward": np.ones(10)}
    for options in ({"horizon": size}, {"replicates": size}):
        try:
            rtd.evaluate(log, discount=0.9, algorithm="alg1", phi_inf=1.0, **options)
        except (rtd.Error, ValueError, TypeError, OverflowError) as error:
            assert str(error)
