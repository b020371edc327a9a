"""Small tables for notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape


def words(value: object) -> str:
    """A cell: numbers in six digits."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.6g}"
    return str(value)


def block(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """Names and values under a title."""
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(words(value))}</td></tr>'
        for name, value in rows
    )
    return f"<table><caption style='text-align:left'><b>{escape(title)}</b></caption>{cells}</table>"


def table(title: str, names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with a header."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(words(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f"<table><caption style='text-align:left'><b>{escape(title)}</b></caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
