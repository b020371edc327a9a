"""Progress of long calls: a bar, a function of the caller, and the log of the package."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Union

logger = logging.getLogger("robust_td")

#: ``True`` for a bar, or a function that is called with (done, total); the total is 0 where it is not known.
Progress = Union[bool, Callable[[int, int], object], None]
Tell = Callable[[int, int, list[str]], None]


@contextmanager
def telling(progress: Progress, unit: str) -> Generator[Tell | None, None, None]:
    """The function that the native part calls now and then, or None if progress is not shown."""
    show: Callable[[int, int], object] | None
    bar: Any = None
    if progress is True:
        bar = _bar(unit)
        show = bar.show
    elif callable(progress):
        show = progress
    else:
        show = None
    logs = logger.isEnabledFor(logging.INFO)
    if show is None and not logs:
        yield None
        return

    def tell(done: int, total: int, messages: list[str]) -> None:
        for message in messages:
            logger.info(message)
        if show is not None:
            show(done, total)

    try:
        yield tell
    finally:
        if bar is not None:
            bar.close()


def _bar(unit: str) -> _Tqdm | _Line:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(unit)
    return _Tqdm(tqdm(unit=unit, unit_scale=True))


class _Tqdm:
    """A bar of tqdm."""

    def __init__(self, bar: Any) -> None:
        self.bar = bar

    def show(self, done: int, total: int) -> None:
        if total:
            self.bar.total = total
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        self.bar.close()


class _Line:
    """One line on standard error, where tqdm is not installed."""

    def __init__(self, unit: str) -> None:
        self.unit = unit

    def show(self, done: int, total: int) -> None:
        share = f"{100 * done / total:.0f} %" if total else f"{done:,}"
        print(f"\r{share} {self.unit}  ", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print(file=sys.stderr)
