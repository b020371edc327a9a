"""Tables of results, as the command writes them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Columns of whole numbers and of words; all others are numbers.
WHOLE = {"figure", "c_index", "peak_step", "t", "updates", "samples"}
WORDS = {"mode", "label", "id", "standing", "guarantee_quantity", "schedule", "projection"}


class Table:
    """Columns by name. Numbers read back from the command's file have the same bits."""

    def __init__(self, text: str) -> None:
        rows = list(csv.reader(io.StringIO(text)))
        self._names = rows[0]
        self._cells = {name: [row[k] for row in rows[1:]] for k, name in enumerate(rows[0])}

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._names)

    def __len__(self) -> int:
        return len(self._cells[self._names[0]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __getitem__(self, name: str) -> NDArray[Any]:
        values = self.values(name)
        if name in WORDS:
            return np.array([value or "" for value in values])
        if name == "oracle" or (name in WHOLE and None not in values):
            return np.array(values)
        return np.array([np.nan if value is None else value for value in values], dtype=float)

    def values(self, name: str) -> list[Any]:
        """The cells of a column.

        Parameters
        ----------
        name
            The column.

        Returns
        -------
        list
            Numbers or words; None where there is none.
        """
        return [_cell(name, cell) for cell in self._cells[name]]

    def rows(self) -> list[list[Any]]:
        """The cells row by row.

        Returns
        -------
        list of list
            In the order of :attr:`columns`.
        """
        return [list(row) for row in zip(*(self.values(name) for name in self._names))]

    def to_arrow(self) -> Any:
        """A pyarrow table.

        Returns
        -------
        pyarrow.Table
            Empty cells are null.
        """
        import pyarrow

        return pyarrow.table({name: pyarrow.array(self.values(name), self._type(name)) for name in self._names})

    def _type(self, name: str) -> Any:
        import pyarrow

        if name in WORDS:
            return pyarrow.string()
        if name == "oracle":
            return pyarrow.bool_()
        return pyarrow.int64() if name in WHOLE else pyarrow.float64()

    def to_pandas(self) -> Any:
        """A pandas data frame.

        Returns
        -------
        pandas.DataFrame
            Empty cells are NaN, or None among words.
        """
        import pandas

        frame: dict[str, Any] = {}
        for name in self._names:
            values = self.values(name)
            frame[name] = pandas.Series(values, dtype=object) if name in WORDS and None in values else self[name]
        return pandas.DataFrame(frame)

    def to_polars(self) -> Any:
        """A polars data frame.

        Returns
        -------
        polars.DataFrame
            Empty cells are null.
        """
        import polars

        return polars.DataFrame({name: self.values(name) for name in self._names}, strict=False)


def _cell(name: str, cell: str) -> Any:
    if cell == "":
        return None
    if name in WORDS:
        return cell
    if name == "oracle":
        return cell == "true"
    return int(cell) if name in WHOLE else float(cell)
