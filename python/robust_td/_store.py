"""Stores the states of finished tasks in a directory or in object storage."""

from __future__ import annotations

import os
import re
import tempfile
from typing import Any

NAME = re.compile(r"\d+-\d+-[0-9a-f]+\.state")


class Store:
    """The states of one job: files named by their places in the tree and by their tasks, each written as a whole or not at all."""

    def __init__(self, root: str, key: str) -> None:
        self.root = root
        self.key = key

    @property
    def is_remote(self) -> bool:
        """Whether it is a URI."""
        return "://" in self.root

    def _folder(self) -> str:
        return os.path.join(self.root, self.key)

    def _remote(self) -> tuple[Any, str]:
        from . import _storage

        filesystem, path = _storage.filesystem(self.root)
        return filesystem, f"{path.rstrip('/')}/{self.key}"

    def names(self) -> set[str]:
        """What is stored."""
        if self.is_remote:
            from pyarrow.fs import FileSelector

            filesystem, folder = self._remote()
            found = filesystem.get_file_info(FileSelector(folder, allow_not_found=True))
            names = [info.base_name for info in found]
        else:
            names = os.listdir(self._folder()) if os.path.isdir(self._folder()) else []
        return {name for name in names if NAME.fullmatch(name)}

    def read(self, name: str) -> bytes:
        """A stored state."""
        if self.is_remote:
            filesystem, folder = self._remote()
            with filesystem.open_input_stream(f"{folder}/{name}") as stream:
                state: bytes = stream.read()
                return state
        with open(os.path.join(self._folder(), name), "rb") as file:
            return file.read()

    def write(self, name: str, state: bytes) -> None:
        """Stores a state: whoever reads finds all of it or nothing."""
        if self.is_remote:
            filesystem, folder = self._remote()
            # An object appears when it is complete.
            filesystem.create_dir(folder, recursive=True)
            with filesystem.open_output_stream(f"{folder}/{name}") as stream:
                stream.write(state)
            return
        folder = self._folder()
        os.makedirs(folder, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as file:
            file.write(state)
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, os.path.join(folder, name))

    def is_whole(self, name: str, job: Any) -> bool:
        """Whether a stored state is undamaged and of this job; otherwise it is computed again."""
        try:
            job.merge(job.description, [self.read(name)])
        except (ValueError, OSError):
            return False
        return True
