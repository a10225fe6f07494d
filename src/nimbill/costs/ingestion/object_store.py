"""Files in an object store, listed and copied here over the S3 protocol."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import parse_qsl, urlsplit

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.ingestion.delivery_errors import refused
from nimbill.costs.ingestion.parts import Limits
from nimbill.costs.ingestion.storage_sources import FetchedFile, Found

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, S3FileSystem

CHUNK_BYTES = 4 * 2**20
PARAMETERS = frozenset({"anonymous", "endpoint_override", "region", "scheme"})
CONNECT_SECONDS = 10
ATTEMPTS_MAX = 4

# how the errors of the store are told apart: by words of their text, there is nothing else
DENIED = (
    "ACCESS_DENIED",
    "FORBIDDEN",
    "status 403",
    "INVALID_ACCESS_KEY",
    "SIGNATURE",
    "status 401",
)
MISSING = ("NO_SUCH_BUCKET", "NO_SUCH_KEY", "status 404", "does not exist", "Path does not exist")


class StoredFiles:
    """What lies under `s3://bucket/prefix`, or the one object of that name."""

    def __init__(self, name: str, store: S3FileSystem, found: Sequence[Found]) -> None:
        self.name = name
        self._store = store
        self._found = found

    def files(self) -> Sequence[Found]:
        return self._found

    @contextmanager
    def _reading(self, found: Found) -> Iterator[BinaryIO]:
        with _told(found.name), self._store.open_input_stream(found.key, compression=None) as file:
            yield file

    def open(self, found: Found) -> AbstractContextManager[BinaryIO]:
        return self._reading(found)

    def bring(self, found: Found, spool: Path, number: int) -> FetchedFile:
        """Copied under a name of ours, fsynced, hashed on the way."""
        path = spool / f"{number:05d}.stored"
        digest = hashlib.sha256()
        copied = 0
        with self._reading(found) as file, path.open("wb") as copy:
            while chunk := file.read(CHUNK_BYTES):
                digest.update(chunk)
                copied += copy.write(chunk)
            copy.flush()
            os.fsync(copy.fileno())
        with _told(found.name):
            now = self._store.get_file_info(found.key)
        if copied != found.bytes or _of_info(now, found.at) != found:
            path.unlink()
            raise refused(found.name, "changed")
        return FetchedFile(path, copied, digest.hexdigest())


def stored_files(address: str, limits: Limits) -> tuple[StoredFiles, bool]:
    """What is at this address, and whether that is one object rather than a folder of them."""
    from pyarrow.fs import FileSelector, FileType

    parts = urlsplit(address)
    shown = f"s3://{parts.netloc.rpartition('@')[2]}{parts.path}"
    if parts.fragment:
        raise refused(shown, "address", "keys with # or ? cannot be named")
    store = _store(parts.netloc, dict(parse_qsl(parts.query, keep_blank_values=True)), shown)
    key = (parts.netloc + parts.path).rstrip("/")
    with _told(shown):
        one = store.get_file_info(key)
        if one.type == FileType.File:
            at = PurePosixPath(PurePosixPath(key).name)
            return StoredFiles(shown, store, [_of_info(one, at)]), True
        listed = store.get_file_info(FileSelector(key, recursive=True, allow_not_found=False))
    if len(listed) > limits.listed_max:
        raise refused(shown, "too_many_files", limits.listed_max)
    found = [
        _of_info(info, PurePosixPath(info.path).relative_to(key))
        for info in listed
        if info.type == FileType.File and not info.base_name.startswith(".")
    ]
    return StoredFiles(shown, store, sorted(found, key=lambda file: file.at)), False


def _of_info(info: FileInfo, at: PurePosixPath) -> Found:
    written = datetime.fromtimestamp(info.mtime_ns // 10**9, UTC) if info.mtime_ns else None
    return Found(at, info.path, info.size or 0, written)


def _store(bucket: str, parameters: Mapping[str, str], shown: str) -> S3FileSystem:
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem

    if not bucket or "@" in bucket:
        raise refused(shown, "address", "credentials belong into the environment")
    if parameters.keys() - PARAMETERS:
        raise refused(shown, "address", f"it may carry {', '.join(sorted(PARAMETERS))}")
    parameters = {**_environment(parameters), **parameters}
    try:
        return S3FileSystem(
            anonymous=parameters.get("anonymous") == "true",
            endpoint_override=parameters.get("endpoint_override"),
            region=parameters.get("region") or _region(bucket, parameters),
            scheme=parameters.get("scheme"),
            connect_timeout=CONNECT_SECONDS,
            retry_strategy=AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS_MAX),
        )
    except (OSError, ValueError):
        raise refused(shown, "address", "the object store cannot be set up") from None


def _environment(parameters: Mapping[str, str]) -> dict[str, str]:
    """The endpoint as other clients of AWS take it from there; pyarrow does not by itself."""
    url = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if not url or "endpoint_override" in parameters:
        return {}
    return {"endpoint_override": urlsplit(url).netloc, "scheme": urlsplit(url).scheme}


def _region(bucket: str, parameters: Mapping[str, str]) -> str | None:
    """Asked of AWS itself, which answers anybody; None where another store or setting decides."""
    from pyarrow.fs import resolve_s3_region

    settled = ("AWS_REGION", "AWS_DEFAULT_REGION")
    if "endpoint_override" in parameters or any(map(os.environ.get, settled)):
        return None
    return str(resolve_s3_region(bucket))


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Errors of the store in our own words: its texts hold addresses and request ids."""
    try:
        yield
    except CostFileError:
        raise
    except FileNotFoundError:
        raise refused(name, "source_missing") from None
    except OSError as error:
        if error.errno is not None:
            raise  # of our own disk: the store's have none
        text = str(error)
        if any(words in text for words in DENIED):
            raise refused(name, "source_denied") from None
        if any(words in text for words in MISSING):
            raise refused(name, "source_missing") from None
        raise refused(name, "source_unreachable") from None
