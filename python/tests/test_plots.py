"""Pictures, and what notebooks show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import robust_td as rtd
from conftest import DISCOUNT

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed() -> Any:
    yield
    pyplot.close("all")


def test_fits_are_drawn(log: dict[str, Any]) -> None:
    fit = rtd.evaluate(log, discount=DISCOUNT)
    ax = fit.plot_calibration()
    assert ax.get_xlabel() == "predicted value"
    own = pyplot.subplots()[1]
    assert fit.plot_values(own) is own and fit.plot_calibration(own) is own
    assert len(fit.plot_values(obs=log["obs"][:200]).get_lines()) == 2
    with pytest.raises(rtd.Error, match="no comparison"):
        rtd.evaluate(log, discount=DISCOUNT, check=False).plot_calibration()
    ax.figure.canvas.draw()


def test_sweeps_and_comparisons_are_drawn() -> None:
    p = rtd.problem("paper-ring", scale=0.0625)
    sweep = rtd.sweep(p, c=np.logspace(-2, 1, 4), horizon=2000, runs=4, scales=[0.0625, 1, 16])
    grid = sweep.plot_figure()
    assert grid.shape == (3, 3)
    grid[0, 0].figure.canvas.draw()
    ax = pyplot.subplots()[1]
    assert sweep.plot(ax) is ax and sweep.plot().get_ylabel() and sweep.plot(ax, quantity="ratio") is ax
    assert sweep.plot_curves().get_xlabel() == "t"
    with pytest.raises(rtd.Error, match="quantity"):
        sweep.plot(quantity="size")
    compared = rtd.compare(p, algorithms=["alg1:c=0.05", "lstd"], horizon=1000, runs=4)
    assert len(compared.plot().get_lines()) == 2
    assert rtd.expectation(p, horizon=100, c=1).plot().get_xlabel() == "t + 1"


def test_notebooks_show_tables(log: dict[str, Any]) -> None:
    p = rtd.problem("two-state")
    shown = [
        rtd.evaluate(log, discount=DISCOUNT),
        rtd.inspect(log),
        p,
        rtd.certify(p, horizon=10**6, c=50),
        rtd.expectation(p, horizon=100, c=1),
        rtd.sweep(p, c=np.logspace(-2, 1, 20), horizon=1000, runs=4),
        rtd.compare(p, algorithms=["alg1:c=0.05"], horizon=1000, runs=4),
        rtd.OnlineTD(discount=0.9, dimension=2),
    ]
    for result in shown:
        text = result._repr_html_()
        assert text.count("<table") == text.count("</table>") == 1
        assert "<script" not in text and len(repr(result)) < 2000
