"""Numbers that callers pass, checked."""

from __future__ import annotations

from typing import Any

from ._native import Error


def number(name: str, value: Any) -> float:
    """A number, or an error that names it."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise Error(f"{name} is {value!r}, but must be a number") from None


def whole(name: str, value: Any) -> int:
    """A whole number that is not negative, or an error that names it; 1e6 is one."""
    try:
        found = int(value)
    except (TypeError, ValueError, OverflowError):
        found = -1
    if found < 0 or found != value or found >= 2**63:
        raise Error(f"{name} is {value!r}, but must be a whole number that is not negative")
    return found
