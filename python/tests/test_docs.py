"""The tour in docs/python.md and the README runs as written, with the output that is shown."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

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
