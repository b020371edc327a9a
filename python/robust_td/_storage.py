"""Files in object storage, by the file systems of pyarrow."""

from __future__ import annotations

import os
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
