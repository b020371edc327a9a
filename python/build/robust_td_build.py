"""Builds the wheel with maturin, without the paths of the building machine.

Rust keeps the paths of source files for the messages of panics. The flags below shorten those of the dependencies and of this
repository. They apply to all crates, so that the wheel is built in a directory of its own: in the shared one every build by cargo
alone would start from scratch, and the other way round.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import maturin

ROOT = Path(__file__).resolve().parents[2]
# Without an isolated build, maturin's program is beside the interpreter.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


def _prepare() -> None:
    # The sources of the dependencies must be there, so that their folders are known.
    subprocess.run(["cargo", "fetch", "--locked", "--quiet"], cwd=ROOT, check=True)
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    pairs = [(target / "wheel", "target"), (ROOT, ".")]
    pairs += [(source, "crates") for source in sorted(home.glob("registry/src/*"))] + [(home, "cargo")]
    # The last flag that matches wins.
    flags = [f"--remap-path-prefix={old}={new}" for old, new in reversed(pairs)]
    given = os.environ.get("RUSTFLAGS", "").split()
    os.environ["CARGO_ENCODED_RUSTFLAGS"] = "\x1f".join(given + flags)
    os.environ["CARGO_TARGET_DIR"] = str(target / "wheel")
    # It would be stripped.
    os.environ["CARGO_PROFILE_RELEASE_DEBUG"] = "false"


def build_wheel(*arguments: Any, **options: Any) -> str:
    _prepare()
    return maturin.build_wheel(*arguments, **options)


def build_editable(*arguments: Any, **options: Any) -> str:
    _prepare()
    return maturin.build_editable(*arguments, **options)


build_sdist = maturin.build_sdist
get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
get_requires_for_build_editable = maturin.get_requires_for_build_editable
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist
prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_editable
