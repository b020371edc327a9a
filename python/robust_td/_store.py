"""Stores the states of finished tasks in a directory or in object storage."""

from __future__ import annotations

import os
import re
import tempfile
from typing import Any

NAME = re.compile(r"(\d+)-(\d+)\.state")


class Store:
    """The states of one job: files named by level and index, each written as a whole or not at all."""

    def __init__(self, root: str, key: str) -> None:
        self.root = root
        self.key = key

    @property
    def is_remote(self) -> bool:
        """Whether it is a URI."""
        return "://" in self.root

    def name(self, node: tuple[int, int]) -> str:
        """The file of a node."""
        return f"{node[0]}-{node[1]}.state"

    def _folder(self) -> str:
        return os.path.join(self.root, self.key)

    def _remote(self) -> tuple[Any, str]:
        from . import _storage

        filesystem, path = _storage.filesystem(self.root)
        return filesystem, f"{path.rstrip('/')}/{self.key}"

    def nodes(self) -> set[tuple[int, int]]:
        """The nodes that are stored."""
        if self.is_remote:
            from pyarrow.fs import FileSelector

            filesystem, folder = self._remote()
            found = filesystem.get_file_info(FileSelector(folder, allow_not_found=True))
            names = [info.base_name for info in found]
        else:
            names = os.listdir(self._folder()) if os.path.isdir(self._folder()) else []
        matches = [NAME.fullmatch(name) for name in names]
        return {(int(match[1]), int(match[2])) for match in matches if match}

    def read_name(self, name: str) -> bytes:
        """A stored state."""
        if self.is_remote:
            filesystem, folder = self._remote()
            with filesystem.open_input_stream(f"{folder}/{name}") as stream:
                state: bytes = stream.read()
                return state
        with open(os.path.join(self._folder(), name), "rb") as file:
            return file.read()

    def write(self, node: tuple[int, int], state: bytes) -> None:
        """Stores a state: whoever reads finds all of it or nothing."""
        if self.is_remote:
            filesystem, folder = self._remote()
            # An object appears when it is complete.
            filesystem.create_dir(folder, recursive=True)
            with filesystem.open_output_stream(f"{folder}/{self.name(node)}") as stream:
                stream.write(state)
            return
        folder = self._folder()
        os.makedirs(folder, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as file:
            file.write(state)
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, os.path.join(folder, self.name(node)))

    def is_whole(self, node: tuple[int, int], job: Any) -> bool:
        """Whether a stored state is undamaged and of this job; otherwise it is computed again."""
        try:
            job.merge(job.description, [self.read_name(self.name(node))])
        except (ValueError, OSError):
            return False
        return True
