"""The documentation: what it shows runs as written, and every public function says what it takes and returns."""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import inspect
import io
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import robust_td as rtd
import robust_td.sklearn
from conftest import ROOT

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")


def shown(block: str, names: dict[str, Any]) -> str:
    """What a notebook shows for a block: what it prints, and its last expression."""
    tree, out = ast.parse(block), io.StringIO()
    with contextlib.redirect_stdout(out):
        last = tree.body[-1]
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(tree.body[:-1], []), "docs", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "docs", "eval"), names)
            if value is not None:
                print(repr(value))
        else:
            exec(compile(tree, "docs", "exec"), names)
    return out.getvalue()


def same(found: str, told: str) -> bool:
    """Whether texts are equal up to spaces, and numbers up to the last digits."""
    words = [re.sub(r"\s+", "", NUMBER.sub("#", text)) for text in (found, told)]
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (found, told)]
    return words[0] == words[1] and numbers[0] == pytest.approx(numbers[1], rel=1e-3)


def test_the_tour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    blocks = BLOCK.findall((ROOT / "docs/python.md").read_text())
    compared = 0
    for (kind, block), (next_kind, output) in zip(blocks, [*blocks[1:], ("text", "")]):
        if kind == "python":
            found = shown(block, names)
            if next_kind == "":
                assert same(found, output), f"{block}\n{found}"
                compared += 1
    assert compared >= 10


def test_the_quick_start() -> None:
    blocks = [block for kind, block in BLOCK.findall((ROOT / "README.md").read_text()) if kind == "python"]
    assert len(blocks) == 1
    names: dict[str, Any] = {}
    shown(blocks[0], names)
    told = re.search(r"# (Estimate\(.*\))", blocks[0])
    assert told is not None and same(repr(names["fit"].start_value), told.group(1))


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(rtd.__path__, "robust_td.")])
def test_the_examples_of_docstrings(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name in ("robust_td.__main__", "robust_td._native"):
        pytest.skip("has no docstrings")
    monkeypatch.chdir(tmp_path)
    done = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert done.failed == 0


def public() -> Iterator[tuple[str, Any]]:
    """All public functions and methods, by name."""
    things = {name: getattr(rtd, name) for name in rtd.__all__ if name != "__version__"}
    things["ValueEstimator"] = robust_td.sklearn.ValueEstimator
    for name, thing in things.items():
        if not isinstance(thing, type):
            yield name, thing
            continue
        for method, function in vars(thing).items():
            if inspect.isfunction(function) and not method.startswith("_"):
                yield f"{name}.{method}", function


@pytest.mark.parametrize(("name", "function"), list(public()))
def test_parameters_results_and_examples_are_documented(name: str, function: Any) -> None:
    text, signature = inspect.getdoc(function) or "", inspect.signature(function)
    parameters = [parameter for parameter in signature.parameters if parameter != "self"]
    listed = text.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    documented = re.findall(r"^(\w+)(?: : .*)?$", listed, re.MULTILINE)
    assert documented == parameters
    assert ("Returns\n-------" in text) == (signature.return_annotation != "None")
    assert ">>>" in text or "." in name


def test_the_first_check_after_installing() -> None:
    text = (ROOT / "docs/install.md").read_text()
    found = re.search(r'python -c "(.*)"\n(<.*>)', text)
    assert found is not None and same(shown(found.group(1), {}), found.group(2))
