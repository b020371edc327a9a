"""Files in object storage, by the file systems of pyarrow."""

from __future__ import annotations

import fnmatch
import functools
import hashlib
import os
import tempfile
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any

from ._native import Error


def is_remote(path: str) -> bool:
    """Whether a path is a URI such as ``s3://bucket/file``."""
    return "://" in path


def filesystem(uri: str) -> tuple[Any, str]:
    """The file system of a URI, and the path in it."""
    try:
        from pyarrow import fs
    except ImportError as error:
        raise Error(f"{uri}: object storage needs pyarrow; pip install 'robust-td[ray]'") from error
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    try:
        if uri.startswith("s3://") and endpoint and "?" not in uri:
            scheme, _, host = endpoint.partition("://")
            region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
            return fs.S3FileSystem(endpoint_override=host, scheme=scheme, region=region), uri.removeprefix("s3://")
        found, path = fs.FileSystem.from_uri(uri)
    except (OSError, ValueError, NotImplementedError) as error:
        raise Error(f"{uri}: {error}") from error
    return found, path


def folder() -> str:
    """Where files of object storage are kept on this machine; the variable ``ROBUST_TD_CACHE`` names another folder."""
    own = os.path.join(tempfile.gettempdir(), f"robust-td-{os.getuid() if hasattr(os, 'getuid') else 0}")
    return os.environ.get("ROBUST_TD_CACHE", own)


class Remote(dict[str, str]):
    """The URIs of files by their places on this machine."""

    def __init__(self) -> None:
        super().__init__()
        #: Places, sizes in bytes, times of the last change in nanoseconds.
        self.known: list[tuple[str, int, int]] = []


def stage(paths: list[str]) -> tuple[list[str], Remote]:
    """The places on this machine of the files that paths and patterns name, and the URIs of those that are remote, by place."""
    places: list[str] = []
    remote = Remote()
    for path in paths:
        if not is_remote(path):
            places.append(path)
            continue
        for uri, info in _find(path):
            changed = info.mtime_ns or 0
            digest = hashlib.sha256(f"{uri}\n{info.size}\n{changed}".encode()).hexdigest()[:24]
            place = os.path.join(folder(), f"{digest}-{changed}", info.base_name)
            if place in remote:
                raise Error(f"{uri} is named twice; its rows would count twice")
            places.append(place)
            remote[place] = uri
            remote.known.append((place, info.size, changed))
    return places, remote


def _find(pattern: str) -> list[tuple[str, Any]]:
    """The files that a URI names, which may have ``*``, ``?`` and ``[...]`` in its last part."""
    from pyarrow import fs

    uri, _, query = pattern.partition("?") if pattern.startswith(("s3://", "gs://")) and "=" in pattern else (pattern, "", "")
    store, path = filesystem(pattern)
    parent, _, name = path.rpartition("/")
    try:
        if not any(sign in name for sign in "*?["):
            found = [store.get_file_info(path)]
        else:
            all_ = store.get_file_info(fs.FileSelector(parent, allow_not_found=True))
            found = sorted((info for info in all_ if fnmatch.fnmatchcase(info.base_name, name)), key=lambda info: info.path)
    except OSError as error:
        raise Error(f"{pattern}: {error}") from error
    found = [info for info in found if info.type == fs.FileType.File]
    if not found:
        raise Error(f"{pattern}: there is no such file")
    start = uri[: len(uri) - len(name)]
    ending = f"?{query}" if query else ""
    return [(f"{start}{info.base_name}{ending}", info) for info in found]


def fetch(place: str, uri: str) -> None:
    """Copies a file of object storage to its place, unless it is there."""
    if os.path.exists(place):
        return
    store, path = filesystem(uri)
    directory = os.path.dirname(place)
    os.makedirs(folder(), mode=0o700, exist_ok=True)
    if hasattr(os, "getuid") and os.stat(folder()).st_uid != os.getuid():
        raise Error(f"{folder()} belongs to another user; set ROBUST_TD_CACHE to a folder of your own")
    os.makedirs(directory, mode=0o700, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=directory, suffix=".part", delete=False) as file:
        try:
            with store.open_input_stream(path) as stream:
                while piece := stream.read(1 << 22):
                    file.write(piece)
        except OSError as error:
            os.unlink(file.name)
            raise Error(f"{uri}: {error}") from error
    # The time of the last change is part of what identifies a job.
    changed = int(os.path.basename(directory).rpartition("-")[2])
    os.utime(file.name, ns=(changed, changed))
    os.replace(file.name, place)


class Ranges:
    """Reads parts of files of object storage, by their places on this machine; can be pickled.

    Parameters
    ----------
    remote
        The files.
    """

    def __init__(self, remote: Remote) -> None:
        self._files = {place: (remote[place], size, changed) for place, size, changed in remote.known}

    def argument(self, places: Iterable[str]) -> tuple[dict[str, int], Callable[[str, int, int], bytes]]:
        """What Rust takes: the sizes of those of the places that are remote, and a function that reads."""
        return {place: self._files[place][1] for place in places if place in self._files}, self.read

    def __bool__(self) -> bool:
        return bool(self._files)

    def read(self, place: str, start: int, length: int) -> bytes:
        """Some bytes of a file."""
        uri, size, changed = self._files[place]
        try:
            found: bytes = _opened(uri, size, changed).read_at(length, start)
        except OSError as error:
            raise Error(f"{uri}: {error}") from error
        return found

    def uris(self) -> dict[str, str]:
        """The URIs by places."""
        return {place: uri for place, (uri, _, _) in self._files.items()}


@functools.lru_cache(maxsize=64)
def _opened(uri: str, size: int, changed: int) -> Any:
    """A file that is read from any place, if it is still the one that was found."""
    store, path = filesystem(uri)
    info = store.get_file_info(path)
    if (info.size, info.mtime_ns or 0) != (size, changed):
        raise Error(f"{uri} has changed since the evaluation began")
    return store.open_input_file(path)


@contextmanager
def naming(remote: dict[str, str]) -> Generator[None, None, None]:
    """Names the URIs of files in errors, instead of their places."""
    try:
        yield
    except Error as error:
        if not remote:
            raise
        raise Error(named(str(error), remote)) from None


def named(message: str, remote: dict[str, str]) -> str:
    """A message with the URIs of files instead of their places."""
    for place, uri in remote.items():
        message = message.replace(place, uri)
    return message
