"""Small tables for notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

# Styles are in the elements: notebooks and sites have sheets of their own, which centre tables and align cells differently.
_TABLE = 'style="margin:0 0 0.5em 0;width:auto;border-collapse:collapse"'
_CAPTION = 'style="caption-side:top;text-align:left;padding:0.2em 0;color:inherit"'
_WORDS = "text-align:left;padding:0.15em 1.2em 0.15em 0.3em;white-space:nowrap"
_NUMBERS = "text-align:right;padding:0.15em 1.2em 0.15em 0.3em;white-space:nowrap"
_TEXT = "text-align:left;padding:0.15em 1.2em 0.15em 0.3em"
#: Longer words are broken into lines.
_LONG = 30


def words(value: object) -> str:
    """A cell: numbers in six digits."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.6g}"
    return str(value)


def _style(value: object) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _NUMBERS
    return _TEXT if len(words(value)) > _LONG else _WORDS


def _table(title: str, inside: str) -> str:
    return f"<table {_TABLE}><caption {_CAPTION}><b>{escape(title)}</b></caption>{inside}</table>"


def block(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """Names and values under a title."""
    cells = "".join(
        f'<tr><th style="{_WORDS}">{escape(name)}</th><td style="{_TEXT}">{escape(words(value))}</td></tr>'
        for name, value in rows
    )
    return _table(title, f"<tbody>{cells}</tbody>")


def table(title: str, names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with a header."""
    listed = list(rows)
    styles = [_style(cell) for cell in listed[0]] if listed else [_WORDS] * len(names)
    head = "".join(f'<th style="{style}">{escape(name)}</th>' for style, name in zip(styles, names))
    body = "".join(
        "<tr>" + "".join(f'<td style="{_style(cell)}">{escape(words(cell))}</td>' for cell in row) + "</tr>"
        for row in listed
    )
    return _table(title, f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>")
