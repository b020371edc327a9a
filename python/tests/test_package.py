"""The package itself: what it imports, its types, its command."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import robust_td as rtd
from conftest import ROOT

SCRIPT = """
import numpy as np

import robust_td as rtd
from robust_td.sklearn import ValueEstimator

obs = np.random.default_rng(0).normal(size=(100, 2))
fit = rtd.evaluate({"obs": obs, "reward": obs[:, 0]}, discount=0.9, columns={"obs": "obs"}, progress=True)
value = fit.start_value
if value is not None:
    print(value.value, value.lower, value.upper)
print(fit.predict(obs).mean(), fit.predict_interval(obs).lower, fit.converged, fit.algorithm, fit.theta, fit.steps)
for finding in fit.findings:
    print(finding.kind, finding.message)
print(fit.to_dict()["seconds"], fit.feature_names)
fit.save("model.json")
print(rtd.load("model.json"), rtd.inspect("log.csv").findings)
p = rtd.Problem(np.eye(2), np.ones(2), np.eye(2), 0.9, start=0)
print(p.theta_star, p.omega, p.kappa, p.stationary, p.phi_inf, p.f(p.theta_star))
print(rtd.certify(p, horizon=10**7, c=50).bounds["Y"])
expected = rtd.expectation(p, horizon=2000, c=0.01)
print(expected.t, expected.norm_sq, expected.f, expected.f_average, expected.max_norm_sq)
s = rtd.sweep(p, c=np.logspace(-4, 2, 37), horizon=10**6, runs=48, schedule="decaying", mode="algorithm", seed=1)
print(s.to_arrow(), s.to_pandas(), s.plot())
print(rtd.compare(p, algorithms=["alg1:c=0.05", "bhandari-a"], horizon=10**5, runs=48).to_pandas())
print(rtd.reproduce("fig1", c_index=[29, 30, 31], simulate=30_000))
td = rtd.OnlineTD(discount=0.99, dimension=4, algorithm="auto")
td.learn_one(obs[0], 1.0, obs[1], terminated=False)
td.learn_many(obs, obs[:, 0], obs, terminated=False)
print(td.value(obs[0]))
print(ValueEstimator(discount=0.99).fit(obs, obs[:, 0], next_obs=obs).predict(obs))
try:
    rtd.evaluate("log.csv", discount=2)
except rtd.Error as error:
    print(error)
"""


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)


def test_importing_it_imports_only_numpy() -> None:
    text = (
        "import sys, numpy; before = set(sys.modules); import time; start = time.process_time(); import robust_td;"
        "print(time.process_time() - start, *{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    done = run("-c", text)
    seconds, *modules = done.stdout.split()
    others = [name for name in modules if name not in ("robust_td", "numpy") and name not in sys.stdlib_module_names]
    assert others == [] and float(seconds) < 0.2


def test_everything_public_is_documented() -> None:
    for name in rtd.__all__:
        if name != "__version__":
            thing = getattr(rtd, name)
            assert thing.__doc__, name
            for method in vars(thing) if isinstance(thing, type) else ():
                if not method.startswith("_") and callable(getattr(thing, method)):
                    assert getattr(thing, method).__doc__, f"{name}.{method}"


CELL = re.compile(r"^```\{code-cell\} python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def tutorial(path: Path) -> str:
    """The program of a tutorial: its cells, with what they show printed."""
    cells = []
    for cell in CELL.findall(path.read_text()):
        last = ast.parse(cell).body[-1]
        if isinstance(last, ast.Expr):
            lines = cell.splitlines(keepends=True)
            shown = "".join(lines[last.lineno - 1 :]).rstrip().rstrip(";")
            cell = "".join(lines[: last.lineno - 1]) + f"print({shown})\n"
        cells.append(cell)
    return "\n".join(cells)


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_scripts_and_tutorials_pass_strict_type_checks(checker: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    scripts = {"script": SCRIPT}
    for path in [ROOT / "docs/tour.md", *sorted((ROOT / "docs/tutorials").glob("*.md"))]:
        scripts["tutorial_" + path.stem.replace("-", "_")] = tutorial(path)
    files = []
    for name, text in scripts.items():
        if text:
            files.append(tmp_path / f"{name}.py")
            files[-1].write_text(text)
    assert len(files) >= 7
    if checker == "mypy":
        done = run("-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), *map(str, files))
    else:
        config = tmp_path / "pyrightconfig.json"
        config.write_text(json.dumps({"typeCheckingMode": "strict", "include": [file.name for file in files]}))
        done = run("-m", "pyright", "--pythonpath", sys.executable, "-p", str(config))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_command_of_the_package_is_the_program(command: Any) -> None:
    own = run("-m", "robust_td", "certify", "two-state", "--horizon", "1e6", "--json")
    assert own.returncode == 0
    assert json.loads(own.stdout) == command("certify", "two-state", "--horizon", "1e6", "--json")
    wrong = run("-m", "robust_td", "certify", "two-sate", "--horizon", "1e6")
    assert wrong.returncode == 2 and wrong.stderr.startswith("error: ")
    assert run("-m", "robust_td", "--version").stdout.split() == ["robust-td", rtd.__version__]


def test_no_path_of_the_building_machine_is_inside() -> None:
    native = Path(str(importlib.util.find_spec("robust_td._native").origin))  # type: ignore[union-attr]
    if "site-packages" not in str(native):
        pytest.skip("this is a build for development, not an installed wheel")
    # What pip writes itself names the wheel that it installed.
    own = ("direct_url.json", "RECORD", "INSTALLER", "REQUESTED")
    for file in importlib.metadata.files("robust-td") or []:
        path = Path(str(file.locate()))
        if path.name in own or path.suffix == ".pyc" or path.parent.name == "bin":
            continue
        content = path.read_bytes()
        for part in (b"/registry/src", b"/.cargo", b"/home/", b"/root/", b"/tmp/", b"file://", str(ROOT).encode()):
            at = content.find(part)
            assert at < 0, (path.name, content[max(at - 40, 0) : at + 80])
