"""Small results: estimates, predictions, findings."""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _html


class Estimate(NamedTuple):
    """A value with the ends of its confidence interval, which are infinite where the error is not known."""

    #: The estimate.
    value: float
    #: The lower end.
    lower: float
    #: The upper end.
    upper: float
    #: The number of rows, or episodes, that it is the mean of.
    size: int = 0

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return f"Estimate(value={self.value:.6g}, lower={self.lower:.6g}, upper={self.upper:.6g})"


class Prediction(NamedTuple):
    """Values with the ends of their confidence intervals, which are infinite where the error is not known."""

    #: The values.
    value: NDArray[np.float64]
    #: The lower ends.
    lower: NDArray[np.float64]
    #: The upper ends.
    upper: NDArray[np.float64]


class Finding(NamedTuple):
    """Something that a reader of the result must know."""

    #: What kind, such as ``features-do-not-fit``.
    kind: str
    #: In words.
    message: str
    #: The file where it first occurs.
    file: str | None = None
    #: The row there, from 1.
    row: int | None = None
    #: How often it occurs.
    occurrences: int = 1

    def __str__(self) -> str:
        return self.message


def findings(listed: list[dict[str, Any]]) -> list[Finding]:
    """Findings out of a report."""
    names = ("kind", "message", "file", "row", "count")
    return [Finding(*(found[name] for name in names)) for found in listed]


class Inspection:
    """What a log holds, and what looks wrong with it."""

    def __init__(self, report: dict[str, Any]) -> None:
        self._report = report

    @property
    def findings(self) -> list[Finding]:
        """What looks wrong, most serious first."""
        return findings(self._report["findings"])

    @property
    def rows(self) -> int:
        """Good rows."""
        return int(self._report["rows"])

    @property
    def transitions(self) -> int:
        """Transitions that they yield."""
        return int(self._report["transitions"])

    @property
    def dimension(self) -> int:
        """The length of observations."""
        return int(self._report["dimension"])

    @property
    def episodes(self) -> int:
        """The number of episodes."""
        return int(self._report["episodes"]["count"])

    def to_dict(self) -> dict[str, Any]:
        """What ``robust-td inspect --json`` prints.

        Returns
        -------
        dict
            The columns, counts and findings.
        """
        return self._report

    def __repr__(self) -> str:
        found = "\n".join(f"  - {finding}" for finding in self.findings) or "  nothing looks wrong"
        counts = ((self.rows, "row"), (self.transitions, "transition"), (self.episodes, "episode"))
        words = ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in counts)
        return f"Inspection: {words}\n{found}"

    def _repr_html_(self) -> str:
        rows = [("rows", self.rows), ("transitions", self.transitions), ("episodes", self.episodes)]
        return _html.block("Log", rows) + html_findings(self.findings)


def html_findings(listed: list[Finding]) -> str:
    """Findings as a list."""
    if not listed:
        return ""
    return "<ul>" + "".join(f"<li>{escape(found.message)}</li>" for found in listed) + "</ul>"
