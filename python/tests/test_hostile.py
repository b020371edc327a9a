"""Hostile arrays and streams: what is read has the numbers of a plain copy, and what cannot be read is one error."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import robust_td as rtd
from conftest import DISCOUNT, frame, walk

ROWS = 300
#: The number of random inputs; they are the same ones in every run.
BUDGET = 400


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    # Small whole numbers, which every type of number can hold.
    log = walk(ROWS)
    return {name: np.round(values) if values.dtype == float else values for name, values in log.items()}


def answer(log: Any, **options: Any) -> list[float] | str:
    """The weights, or the message of the one error that may be raised."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [float(x) for x in rtd.evaluate(log, discount=DISCOUNT, **options).theta]
    except rtd.Error as error:
        text = str(error)
        assert text and "\n" not in text and len(text) < 1000, text
        return text


def strided(values: Any, step: int) -> Any:
    wide = np.full((len(values) * abs(step), *values.shape[1:]), np.nan)
    wide[::step] = values
    return wide[::step]


def unaligned(values: Any) -> Any:
    memory = np.zeros(values.nbytes + 1, dtype=np.uint8)
    view = memory[1:].view(np.uint8)[: values.nbytes]
    shifted: Any = np.ndarray(values.shape, dtype=values.dtype, buffer=view.data)
    shifted[...] = values
    return shifted


class Wrapped:
    """An object that is an array only when it is asked."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.values, dtype=dtype)


class Liar:
    """An object whose length, conversions and text fail."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("no array\nfor you")

    def __len__(self) -> int:
        raise ZeroDivisionError

    def __float__(self) -> float:
        raise ZeroDivisionError

    def __repr__(self) -> str:
        raise ZeroDivisionError


#: The same numbers in other clothes.
SAME: list[Callable[[Any], Any]] = [
    np.asfortranarray,
    lambda x: x.astype(">f8"),
    lambda x: x.astype("<f4").astype(">f4"),
    lambda x: x.astype(np.float16),
    lambda x: x.astype(np.longdouble),
    lambda x: x.astype(">i2"),
    lambda x: x.astype(np.int8),
    lambda x: x.astype(object),
    lambda x: x[::-1].copy()[::-1],
    lambda x: strided(x, 3),
    lambda x: strided(x, -2),
    unaligned,
    lambda x: x.view(np.recarray) if x.ndim == 1 else x,
    lambda x: np.ma.MaskedArray(x),
    lambda x: np.ma.MaskedArray(x, np.zeros(x.shape, dtype=bool)),
    lambda x: x.tolist(),
    lambda x: tuple(x.tolist()),
    lambda x: Wrapped(x),
    lambda x: np.lib.stride_tricks.as_strided(x, x.shape, x.strides, writeable=False),
    lambda x: np.concatenate([x, x])[: len(x)],
    lambda x: memoryview(np.ascontiguousarray(x)),
]

#: Other numbers, or none.
WRONG: list[Callable[[Any], Any]] = [
    lambda x: x.astype(complex),
    lambda x: x.astype("datetime64[s]"),
    lambda x: x.astype("timedelta64[s]"),
    lambda x: x.astype("U8"),
    lambda x: x.astype("S8"),
    lambda x: np.zeros(len(x), dtype=[("a", "f8"), ("b", "i4")]),
    lambda x: np.zeros(len(x), dtype="V8"),
    lambda x: np.where(np.arange(x.size).reshape(x.shape) == 7, np.nan, x),
    lambda x: np.where(np.arange(x.size).reshape(x.shape) == 7, np.inf, x),
    lambda x: np.where(np.arange(x.size).reshape(x.shape) == 7, -np.inf, x).astype(np.float16),
    lambda x: np.ma.MaskedArray(x, np.arange(x.size).reshape(x.shape) == 7),
    lambda x: x[:0],
    lambda x: x[:-1],
    lambda x: x[..., None, None],
    lambda x: np.zeros((len(x), 0)),
    lambda x: x.reshape(-1)[0],
    lambda x: (value for value in x),
    lambda x: iter(x.tolist()),
    lambda x: Liar(),
    lambda x: [Liar() for _ in x],
    lambda x: np.frompyfunc(lambda _: Liar(), 1, 1)(np.zeros(len(x))),
    lambda x: [10**400] * len(x),
    lambda x: [[1.0], [1.0, 2.0]] * (len(x) // 2),
    lambda x: [b"\xff\xfe"] * len(x),
    lambda x: ["\ud800"] * len(x),
    lambda x: [{}] * len(x),
    lambda x: {"a": 1},
    lambda x: np.array(None),
    lambda x: b"12345678" * len(x),
    lambda x: np.broadcast_to(0.5, (10**12, *x.shape[1:])),
    lambda x: np.broadcast_to(np.float32(0.5), (2**40, *x.shape[1:])),
    lambda x: np.longdouble("1e4000") * np.ones(x.shape),
]


@pytest.mark.parametrize("change", range(len(SAME)))
@pytest.mark.parametrize("name", ["obs", "next_obs", "reward"])
def test_the_same_numbers_give_the_same_answer(plain: dict[str, Any], name: str, change: int) -> None:
    changed = SAME[change](plain[name])
    found = answer({**plain, name: changed})
    assert found == answer(plain), found


@pytest.mark.parametrize("change", range(len(WRONG)))
def test_other_inputs_are_read_as_their_copy_or_refused(plain: dict[str, Any], change: int) -> None:
    for name in ("obs", "next_obs", "reward", "terminated", "truncated", "episode"):
        values = WRONG[change](np.asarray(plain[name]))
        found = answer({**plain, name: values})
        if isinstance(found, str):
            continue
        # Accepted: names of episodes, numbers that are wide enough, a missing next observation of a terminated row.
        assert np.isfinite(found).all()
        if isinstance(values, np.ndarray) and values.dtype.kind in "biuf" and values.size < 10**6:
            copy = np.array(values, dtype=np.float64)
            assert found == answer({**plain, name: copy}), (name, change)


def test_arrays_that_do_not_fit_are_refused_before_they_are_copied(plain: dict[str, Any]) -> None:
    huge = {"obs": np.broadcast_to(0.5, (10**12, 2)), "reward": np.broadcast_to(1.0, (10**12,))}
    found = answer(huge)
    assert isinstance(found, str) and "GB of memory" in found, found
    fit = rtd.evaluate(plain, discount=DISCOUNT)
    with pytest.raises(rtd.Error, match="GB of memory"):
        fit.predict(huge["obs"])
    # A constant column is as good as its copy.
    constant = np.broadcast_to(1.0, (ROWS,))
    assert answer({**plain, "reward": constant}) == answer({**plain, "reward": np.ones(ROWS)})
    rows = np.broadcast_to(np.array([1.0, 2.0]), (ROWS, 2))
    assert np.array_equal(fit.predict(rows), fit.predict(rows.copy()))


def test_names_of_episodes_of_every_kind(plain: dict[str, Any]) -> None:
    numbers = plain["episode"]
    exact = answer(plain)
    for names in (
        [int(number) + 2**70 for number in numbers],
        [f"é{number}" for number in numbers],
        np.array([f"{number}".encode() for number in numbers]),
        numbers.astype(np.uint64) + np.uint64(2**63),
        [None if number < 0 else int(number) for number in numbers],
    ):
        assert answer({**plain, "episode": names}) == exact
    assert "is not a name" in str(answer({**plain, "episode": [b"\xff"] * ROWS}))


def streams(log: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Arrow tables with the numbers of a log in other types, and with what cannot be read."""
    import pyarrow as pa

    table = pa.Table.from_pandas(frame(log), preserve_index=False)
    place = table.column_names.index("reward")
    reward = table.column("reward").to_numpy()

    def changed(array: Any) -> Any:
        return table.set_column(place, "reward", array)

    for kind in (pa.float32(), pa.float64(), pa.int8(), pa.int64(), pa.float16()):
        yield f"same {kind}", changed(pa.array(reward).cast(kind))
    yield "same chunks", pa.concat_tables([table.slice(0, 1), table.slice(1, 7), table.slice(8)])
    yield "same empty chunks", changed(pa.chunked_array([[], reward[:5], [], reward[5:], []], pa.float64()))
    yield "same dictionary", changed(pa.array(reward).dictionary_encode())
    yield "same sliced", pa.concat_tables([table.slice(0, 3), table]).slice(3)
    yield "same combined", table.combine_chunks()
    holes = [None if k == 7 else value for k, value in enumerate(reward)]
    yield "null", changed(pa.array(holes))
    yield "all null", changed(pa.nulls(ROWS))
    yield "nan", changed(pa.array(np.where(np.arange(ROWS) == 7, np.nan, reward)))
    for odd in (
        pa.array([str(value) for value in reward]),
        pa.array([b"x"] * ROWS),
        pa.array([{"a": value} for value in reward]),
        pa.array([[value] * (k % 3) for k, value in enumerate(reward)]),
        pa.array(reward.astype(int)).cast(pa.timestamp("s")),
        pa.array([True] * ROWS),
    ):
        yield f"odd {odd.type}", changed(odd)
    yield "decimal", changed(pa.array(reward.astype(int)).cast(pa.decimal128(30, 2)))
    yield "no rows", table.slice(0, 0)
    yield "no columns", table.select([])
    yield "twice", table.append_column("reward", table.column("reward"))


def test_arrow_streams_of_every_kind(plain: dict[str, Any]) -> None:
    exact = answer(frame(plain))
    assert not isinstance(exact, str)
    seen = 0
    for name, table in streams(plain):
        found = answer(table)
        if name.startswith("same"):
            assert found == exact, (name, found)
        elif not isinstance(found, str):
            # Read as the numbers that it shows.
            columns = {column: table.column(column).to_numpy(zero_copy_only=False).astype(float) for column in table.column_names}
            assert found == answer(rebuilt(columns)), name
        seen += 1
    assert seen > 20


def rebuilt(columns: dict[str, Any]) -> Any:
    import pandas

    return pandas.DataFrame(columns)


class Broken:
    """A table whose stream is not one."""

    def __init__(self, give: Callable[[], Any]) -> None:
        self.give = give

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.give()


def test_streams_that_fail_are_errors(plain: dict[str, Any]) -> None:
    import pyarrow as pa

    table = pa.Table.from_pandas(frame(plain), preserve_index=False)

    def failing() -> Iterator[Any]:
        yield table.to_batches()[0].slice(0, 10)
        raise OSError("the disk is gone")

    def other_schema() -> Iterator[Any]:
        yield table.to_batches()[0].slice(0, 10)
        yield pa.record_batch({"x": [1]})

    cases: list[Any] = [
        Broken(lambda: 3),
        Broken(lambda: None),
        Broken(lambda: (_ for _ in ()).throw(KeyError("no"))),
        Broken(lambda: table.schema.__arrow_c_schema__()),
    ]
    for make in (failing, other_schema):
        cases.append(Broken(lambda make=make: pa.RecordBatchReader.from_batches(table.schema, make()).__arrow_c_stream__()))
    for case in cases:
        for call in (lambda log: rtd.evaluate(log, discount=DISCOUNT), rtd.inspect):
            with pytest.raises(rtd.Error):
                call(case)
    consumed = table.__arrow_c_stream__()
    pa.RecordBatchReader._import_from_c_capsule(consumed).read_all()
    with pytest.raises(rtd.Error):
        rtd.inspect(Broken(lambda: consumed))


def test_random_combinations_are_read_right_or_refused(plain: dict[str, Any]) -> None:
    draw = np.random.default_rng(20)
    exact = answer(plain)
    read = refused = 0
    for _ in range(BUDGET):
        log, is_same = dict(plain), True
        for name in draw.permutation(list(plain))[: draw.integers(1, 4)]:
            numbers = name in ("obs", "next_obs", "reward")
            wrong = draw.random() < 0.25
            changes = WRONG if wrong else SAME
            if not (wrong or numbers):
                continue
            log[name] = changes[draw.integers(len(changes))](np.asarray(plain[name]))
            is_same &= not wrong
        found = answer(log)
        if is_same:
            assert found == exact
        refused += isinstance(found, str)
        read += not isinstance(found, str)
        if not isinstance(found, str):
            assert np.isfinite(found).all()
    assert read > BUDGET / 4 and refused > BUDGET / 10, (read, refused)


def test_predictions_of_hostile_arrays(plain: dict[str, Any]) -> None:
    fit = rtd.evaluate(plain, discount=DISCOUNT)
    obs = plain["obs"]
    exact = fit.predict(obs)
    for change in SAME:
        values = change(obs)
        if isinstance(values, memoryview):
            with pytest.raises(rtd.Error, match="memoryview"):
                fit.predict(values)
        else:
            assert np.array_equal(fit.predict(values), exact)
    for change in WRONG:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = fit.predict(change(obs))
        except rtd.Error as error:
            assert "\n" not in str(error)
        else:
            assert np.isfinite(found).all()
