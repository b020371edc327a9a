"""Problems, certificates, expectations, sweeps and comparisons: the numbers of the command."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robust_td as rtd

P = np.array([[0.2, 0.8], [0.8, 0.2]])
R = np.array([[0.2, 1.0], [-1.0, 0.4]])
PHI = np.array([[0.3, 1.0], [-0.3, 1.0]])


def test_a_problem_of_arrays_is_that_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "problem.toml"
    file.write_text(
        "discount = 0.9\ntransition = [[0.2, 0.8], [0.8, 0.2]]\n"
        "reward = [[0.2, 1.0], [-1.0, 0.4]]\nfeatures = [[0.3, 1.0], [-0.3, 1.0]]\n"
    )
    scipy = pytest.importorskip("scipy.sparse")
    told = rtd.problem(file)
    for p in (rtd.Problem(P, R, PHI, 0.9), rtd.Problem(np.asfortranarray(P), scipy.coo_array(R), PHI, discount=0.9)):
        assert np.array_equal(p.theta_star, told.theta_star)
        assert (p.omega, p.kappa, p.phi_inf) == (told.omega, told.kappa, told.phi_inf)
        assert np.array_equal(p.P, P) and np.array_equal(p.r, R) and np.array_equal(p.Phi, PHI)
    # Two features for two states: the fixed point has the true values.
    assert told.Phi @ told.theta_star == pytest.approx(told.true_values)
    mean = (P * R).sum(axis=1)
    assert told.true_values == pytest.approx(np.linalg.solve(np.eye(2) - 0.9 * P, mean))
    assert told.stationary == pytest.approx([0.5, 0.5])
    assert told.f(told.theta_star) == 0 and told.f([0, 0]) == pytest.approx(told.f_zero)
    sparse = rtd.Problem(scipy.csr_array(P), mean, PHI, 0.9, start=1)
    assert sparse.start == 1 and sparse.theta_star == pytest.approx(told.theta_star)


def test_problems_pickle() -> None:
    for p in (rtd.problem("two-state", epsilon=0.1), rtd.Problem(P, R, PHI, 0.9)):
        again = pickle.loads(pickle.dumps(p))
        assert np.array_equal(again.theta_star, p.theta_star) and again.name == p.name


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"P": [[0.5, 0.6], [0.8, 0.2]]}, "row 0"),
        ({"P": [[1.0, 0.0]]}, "1 x 2, but must be square"),
        ({"Phi": PHI[:1]}, "features"),
        ({"Phi": [1.0, 2.0]}, "Phi has 1 dimensions"),
        ({"discount": 1.0}, "discount"),
        ({"start": 2}, "start"),
        ({"r": [1.0, 2.0, 3.0]}, "reward"),
        ({"r": [[np.nan, 0], [0, 0]]}, "reward"),
    ],
)
def test_wrong_problems_are_named(change: dict[str, Any], words: str) -> None:
    parts: dict[str, Any] = {"P": P, "r": R, "Phi": PHI, "discount": 0.9, "start": 0}
    with pytest.raises(rtd.Error, match=words):
        rtd.Problem(**{**parts, **change})
    with pytest.raises(rtd.Error, match='did you mean "two-state"'):
        rtd.problem("two-sate")
    with pytest.raises(rtd.Error, match="2 features"):
        rtd.problem("two-state").f([1.0])


def test_the_catalog(command: Any) -> None:
    told = command("problems", "--json")
    names = [entry["name"] for entry in rtd.problems()]
    assert "paper-ring" in names and len(names) == len(told["problems"] if isinstance(told, dict) else told)
    told = command("problems", "paper-ring", "--set", "scale=0.0625", "--json")
    assert rtd.problem("paper-ring", scale=0.0625).to_dict() == told


def test_certificates_are_those_of_the_command(command: Any) -> None:
    told = command("certify", "paper-ring", "--horizon", "1e7", "--c", "50", "--json")
    found = rtd.certify(rtd.problem("paper-ring"), horizon=10**7, c=50)
    assert found.to_dict() == told
    assert found.bounds == {name.upper(): entry["bound"] for name, entry in told["certificates"].items()}
    assert found.proved == {"P": False, "X": True, "Y": True, "C": True}
    assert found.why_not("P") == told["certificates"]["p"]["why_not"] and found.why_not("Y") is None
    best = rtd.certify("paper-ring", horizon=10**7)
    assert best.c == best.recommended_c == told["recommended"]["c"]
    assert list(best.coordinates) == ["identity", "diagonal", "whitened", "optimised"]
    assert best.coordinates["identity"] == told["recommended"]["bound"]
    with pytest.raises(rtd.Error):
        rtd.certify("paper-ring", horizon=1)


def test_expectations_agree_with_the_exact_sweep() -> None:
    p = rtd.problem("paper-ring", scale=0.0625)
    found = rtd.expectation(p, horizon=2000, c=0.01)
    assert np.array_equal(found.t, np.arange(2001))
    assert found.norm_sq[0] == 0 and found.f[0] == pytest.approx(p.f_zero)
    assert found.max_norm_sq == found.norm_sq.max() and found.norm_sq[found.peak_step] == found.max_norm_sq
    row = rtd.sweep(p, c=[0.01], horizon=2000, mode="exact")
    assert row["gap"][0] == pytest.approx(found.f_average, rel=1e-9)
    norm = p.theta_star @ p.theta_star
    assert row["ratio"][0] == pytest.approx(found.max_norm_sq / norm, rel=1e-9)
    for schedule in ("constant", "plain"):
        assert rtd.expectation(p, horizon=100, c=0.01, schedule=schedule).t[-1] == 100
    with pytest.raises(rtd.Error, match="schedule"):
        rtd.expectation(p, horizon=100, c=1, schedule="fast")


def test_long_expectations_are_thinned() -> None:
    found = rtd.expectation("two-state", horizon=200_000, c=1)
    assert len(found.t) < 2000 and found.t[0] == 0 and found.t[-1] == 200_000


def test_sweeps_are_those_of_the_command(command: Any, tmp_path: Path) -> None:
    spec = tmp_path / "sweep.toml"
    spec.write_text(
        'problem = "paper-ring"\nset = { scale = 0.0625 }\nschedule = ["decaying", "constant"]\n'
        "c = [0.001, 0.1, 10]\nsteps = 20000\nruns = 16\nseed = 7\n"
    )
    command("sweep", spec, "--out", tmp_path / "out")
    p = rtd.problem("paper-ring", scale=0.0625)
    options: dict[str, Any] = {"c": [0.001, 0.1, 10], "horizon": 20_000, "runs": 16, "seed": 7}
    found = rtd.sweep(p, schedule=["decaying", "constant"], **options)
    text = (tmp_path / "out/results.csv").read_text()
    assert found.to_csv() == text
    assert found["gap"].tolist() == [float(line.split(",")[9]) for line in text.splitlines()[1:]]
    threads = [rtd.sweep(p, schedule=["decaying", "constant"], threads=n, **options).to_csv() for n in (1, 2)]
    assert threads == [text, text]
    frame, arrow = found.to_pandas(), found.to_arrow()
    assert frame["ratio"].tolist() == arrow["ratio"].to_pylist() == found["ratio"].tolist()
    assert len(found) == 6 and found.curves["t"].max() == 20_000
    assert len(found.to_polars()) == 6
    found.write(tmp_path / "own")
    assert (tmp_path / "own/report.html").exists()
    with pytest.raises(rtd.Error, match="c is -1"):
        rtd.sweep(p, c=[-1], horizon=100)


def test_the_authors_families_schedules_and_projections(command: Any, tmp_path: Path) -> None:
    p = rtd.problem("e3", eps2=1e-4, mode="weak")
    assert p.omega == pytest.approx(1.6666666458e-09, rel=1e-9)
    assert np.linalg.norm(p.theta_star) == pytest.approx(4.7894838090e03, rel=1e-9)
    assert "mode='weak'" in repr(p) and np.array_equal(pickle.loads(pickle.dumps(p)).theta_star, p.theta_star)
    assert np.array_equal(rtd.problem("metastable-trap", eps2="1e-4").theta_star, p.theta_star)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"mode": "fast"}, "mode is fast, but must be signed, weak or zero"),
        ({"eps1": 1}, "eps1 is 1, but must be from 1e-15 to 0.999"),
        ({"eps1": "small"}, '"small" is not a number'),
    ]
    for settings, words in wrong:
        with pytest.raises(rtd.Error, match=words):
            rtd.problem("e3", **settings)
    spec = tmp_path / "sweep.toml"
    spec.write_text(
        'problem = "e7"\nset = { beta = 0.1, mode = "uniform" }\nschedule = ["theory", "inv_c"]\n'
        'projection = ["none", "oracle"]\nmode = "tdx"\nc = [0.1]\nsteps = 5000\nruns = 2\n'
    )
    command("sweep", spec, "--out", tmp_path / "out")
    e7 = rtd.problem("e7", beta=0.1)
    options: dict[str, Any] = {"c": 0.1, "horizon": 5000, "runs": 2, "mode": "tdx"}
    found = rtd.sweep(e7, schedule=["theory", "inv_c"], projection=["none", "oracle"], **options)
    assert found.to_csv() == (tmp_path / "out/results.csv").read_text()
    # What the authors' program prints: f of the average.
    assert found["gap"] == pytest.approx([10.64391584095, 0.5523666601635, 10.64391584095, 0.0279046737186], rel=1e-9)
    with pytest.raises(rtd.Error, match='schedule is "fast", but must be "decaying"'):
        rtd.sweep(e7, schedule="fast", **options)
    with pytest.raises(rtd.Error, match='projection is "ball", but must be "none"'):
        rtd.sweep(e7, projection="ball", **options)


def test_the_paper_is_reproduced(command: Any, tmp_path: Path) -> None:
    options = ["--c-index", "29,30,31", "--simulate", "30000"]
    command("reproduce", "fig1", *options, "--out", tmp_path)
    found = rtd.reproduce("fig1", c_index=[29, 30, 31], simulate=30_000)
    assert found.to_csv() == (tmp_path / "results.csv").read_text()
    # Printed in the paper.
    assert found["ratio"][:3] == pytest.approx([2.9099573e10, 51399.672, 3.9505569], rel=1e-6)
    with pytest.raises(rtd.Error, match="outside the paper's grid"):
        rtd.reproduce("fig1", c_index=[97])
    with pytest.raises(rtd.Error, match="not a figure"):
        rtd.reproduce("fig3")
    assert len(rtd.paper_constants()) == 97


def test_comparisons_are_those_of_the_command(command: Any) -> None:
    told = command(
        "compare", "two-state", "--algorithms", "alg1:c=0.05,bhandari-a", "--horizon", "10000", "--runs", "8", "--json"
    )
    found = rtd.compare(rtd.problem("two-state"), algorithms=["alg1:c=0.05", "bhandari-a"], horizon=10**4, runs=8)
    assert found.to_dict() == told
    frame = found.to_pandas()
    assert frame["f"].tolist() == [entry["f"]["mean"] for entry in told["algorithms"]]
    assert frame["label"].tolist() == ["alg1:c=0.05", "bhandari-a"] and "| `alg1:c=0.05`" in found.to_markdown()
    with pytest.raises(rtd.Error, match='did you mean "alg1"'):
        rtd.compare("two-state", algorithms=["alg2"], horizon=100)
