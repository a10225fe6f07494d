"""Lists and copies files of an object store over the S3 protocol."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import parse_qsl, urlsplit

from nimbill.costs.cost_file_error import CostFileError, printable_excerpt
from nimbill.costs.ingestion.delivery_errors import delivery_error
from nimbill.costs.ingestion.parts import Limits
from nimbill.costs.ingestion.storage_sources import FetchedFile, SourceFile, is_hidden
from nimbill.costs.store_errors import StoreError, classify_store_error

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, S3FileSystem

CHUNK_BYTES = 4 * 2**20
PARAMETERS = frozenset({"anonymous", "endpoint_override", "region", "scheme"})
CONNECT_SECONDS = 10
ATTEMPTS_MAX = 4


class ObjectStoreFiles:
    """The objects under `s3://bucket/prefix`, or the single object with that key."""

    def __init__(self, name: str, store: S3FileSystem, files: Sequence[SourceFile]) -> None:
        self.name = name
        self._store = store
        self._files = files

    def list_files(self) -> Sequence[SourceFile]:
        return self._files

    @contextmanager
    def _open_stream(self, file: SourceFile) -> Iterator[BinaryIO]:
        with (
            _translate_errors(file.name),
            self._store.open_input_stream(file.key, compression=None) as stream,
        ):
            yield stream

    def open(self, file: SourceFile) -> AbstractContextManager[BinaryIO]:
        return self._open_stream(file)

    def fetch(self, file: SourceFile, spool: Path, number: int) -> FetchedFile:
        """Refuse an object that was replaced while it was copied."""
        path = spool / f"{number:05d}.stored"
        digest = hashlib.sha256()
        size = 0
        with self._open_stream(file) as stream, path.open("wb") as copy:
            while chunk := stream.read(CHUNK_BYTES):
                digest.update(chunk)
                size += copy.write(chunk)
            copy.flush()
            os.fsync(copy.fileno())
        with _translate_errors(file.name):
            current = self._store.get_file_info(file.key)
        if size != file.bytes or _build_source_file(current, file.path) != file:
            path.unlink()
            raise delivery_error(file.name, "changed")
        return FetchedFile(path, size, digest.hexdigest())


def list_object_store(address: str, limits: Limits) -> tuple[ObjectStoreFiles, bool]:
    """Return the files at the address, and whether it is a single object instead of a prefix."""
    from pyarrow.fs import FileSelector, FileType

    parts = urlsplit(address)
    name = f"s3://{parts.netloc.rpartition('@')[2]}{parts.path}"
    if parts.fragment:
        raise delivery_error(name, "address", "keys that contain # or ? are not supported")
    store = _open_store(parts.netloc, dict(parse_qsl(parts.query, keep_blank_values=True)), name)
    key = (parts.netloc + parts.path).rstrip("/")
    with _translate_errors(name):
        info = store.get_file_info(key)
        if info.type == FileType.File:
            path = PurePosixPath(PurePosixPath(key).name)
            return ObjectStoreFiles(name, store, [_build_source_file(info, path)]), True
        infos = store.get_file_info(FileSelector(key, recursive=True, allow_not_found=False))
    if len(infos) > limits.source_files_max:
        raise delivery_error(name, "too_many_files", limits.source_files_max)
    paths = {info.path: PurePosixPath(info.path).relative_to(key) for info in infos}
    files = [
        _build_source_file(info, paths[info.path])
        for info in infos
        if info.type == FileType.File and not is_hidden(paths[info.path])
    ]
    return ObjectStoreFiles(name, store, sorted(files, key=lambda file: file.path)), False


def _build_source_file(info: FileInfo, path: PurePosixPath) -> SourceFile:
    modified_at = datetime.fromtimestamp(info.mtime_ns // 10**9, UTC) if info.mtime_ns else None
    return SourceFile(path, info.path, info.size or 0, modified_at)


def _open_store(bucket: str, parameters: Mapping[str, str], name: str) -> S3FileSystem:
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem

    if not bucket or "@" in bucket:
        raise delivery_error(
            name, "address", "set credentials in the environment, not in the address"
        )
    if parameters.keys() - PARAMETERS:
        allowed = ", ".join(sorted(PARAMETERS))
        raise delivery_error(name, "address", f"only these parameters are allowed: {allowed}")
    parameters = {**_read_environment(parameters), **parameters}
    try:
        return S3FileSystem(
            anonymous=parameters.get("anonymous") == "true",
            endpoint_override=parameters.get("endpoint_override"),
            region=parameters.get("region") or _find_region(bucket, parameters),
            scheme=parameters.get("scheme"),
            connect_timeout=CONNECT_SECONDS,
            retry_strategy=AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS_MAX),
        )
    except (OSError, ValueError):
        raise delivery_error(name, "address", "its parameters are invalid") from None


def _read_environment(parameters: Mapping[str, str]) -> dict[str, str]:
    """Read the endpoint from the variables that other AWS clients use; pyarrow ignores them."""
    url = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if not url or "endpoint_override" in parameters:
        return {}
    return {"endpoint_override": urlsplit(url).netloc, "scheme": urlsplit(url).scheme}


def _find_region(bucket: str, parameters: Mapping[str, str]) -> str | None:
    """Ask AWS, which requires no credentials for it; None if an endpoint or variable is set."""
    from pyarrow.fs import resolve_s3_region

    variables = ("AWS_REGION", "AWS_DEFAULT_REGION")
    if "endpoint_override" in parameters or any(map(os.environ.get, variables)):
        return None
    return str(resolve_s3_region(bucket))


@contextmanager
def _translate_errors(name: str) -> Iterator[None]:
    """Replace the store's error texts, which contain addresses and request ids."""
    try:
        yield
    except CostFileError:
        raise
    except OSError as error:
        kind = classify_store_error(error)
        if kind is None and not isinstance(error, FileNotFoundError):
            raise  # an error of the local disk
        if kind is StoreError.bucket_missing:
            raise CostFileError(name, "source_missing", _describe_missing_bucket(name)) from None
        if kind is StoreError.denied:
            raise delivery_error(name, "source_denied") from None
        if kind is StoreError.unreachable:
            raise delivery_error(name, "source_unreachable") from None
        raise delivery_error(name, "source_missing") from None


def _describe_missing_bucket(name: str) -> str:
    return f"The bucket {printable_excerpt(urlsplit(name).netloc)} does not exist."
