"""Receive files as multipart/form-data and stream them to a folder."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from hashlib import sha256
from io import BufferedWriter
from pathlib import Path

from multipart import MultipartError, MultipartSegment, PushMultipartParser, parse_options_header

from nimbill.foundation.errors import Invalid, Unavailable, Unreadable
from nimbill.foundation.fsync import create_folder, fsync_path

# See docs/choices.md, uploads.

UPLOAD_BYTES_MAX = 256 * 2**20
FILES_MAX = 100
FIELDS_MAX = 50
FIELD_BYTES_MAX = 4096
NAME_MAX = 120
SPACE_CHECK_BYTES = 8 * 2**20


@dataclass(slots=True)
class Upload:
    """Received files in their own folder, which is removed after the request unless moved."""

    folder: Path
    fields: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)  # name in the folder: sha256

    @property
    def fingerprint(self) -> bytes:
        content = sorted(self.fields.items()) + sorted(self.files.items())
        return repr(content).encode()

    def move_to(self, folder: Path) -> None:
        """Move the files to this folder and fsync it."""
        create_folder(folder.parent)
        self.folder.rename(folder)
        fsync_path(folder)
        fsync_path(folder.parent)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def is_multipart(content_type: str) -> bool:
    return bool(parse_options_header(content_type)[0] == "multipart/form-data")


async def receive_upload(
    content_type: str,
    stream: AsyncIterator[bytes],
    folder: Path,
    *,
    announced_bytes: int = 0,
    reserve_mib: int = 0,
) -> Upload:
    """Receive all fields and files. A refused upload leaves no file.

    The upload is refused if it is too large, or if less than `reserve_mib` of the disk would stay
    free: before it is received, if its size is announced, and while it is received.
    """
    boundary = parse_options_header(content_type)[1].get("boundary", "")
    if not boundary:
        raise _malformed_form()
    if announced_bytes > UPLOAD_BYTES_MAX:
        raise _too_large()
    await asyncio.to_thread(os.makedirs, folder)
    upload, writer = Upload(folder), _PartWriter(folder)
    try:
        parser = PushMultipartParser(
            boundary,
            max_segment_size=UPLOAD_BYTES_MAX,
            max_segment_count=FILES_MAX + FIELDS_MAX,
        )
        size = checked_at = 0
        _require_free_space(folder, announced_bytes, reserve_mib)
        with parser:
            async for chunk in stream:
                size += len(chunk)
                if size > UPLOAD_BYTES_MAX:
                    raise _too_large()
                if size - checked_at > SPACE_CHECK_BYTES:
                    checked_at = size
                    _require_free_space(folder, 0, reserve_mib)
                if chunk:
                    # Writing may block on the disk, so it runs in a thread.
                    await asyncio.to_thread(writer.write, parser, chunk)
        upload.fields, upload.files = writer.fields, writer.files
        return upload
    except (MultipartError, UnicodeError):
        upload.remove()
        raise _malformed_form() from None
    except OSError as error:
        upload.remove()
        raise Unavailable(
            "storage_full",
            "The files cannot be stored at the moment. Try again later.",
            retry_after=60,
        ) from error
    except BaseException:
        upload.remove()
        raise
    finally:
        writer.close()


def _require_free_space(folder: Path, needed: int, reserve_mib: int) -> None:
    """The database and imports that run already need the rest of the disk."""
    if shutil.disk_usage(folder).free - needed < reserve_mib * 2**20:
        raise Unavailable(
            "disk_space",
            f"The upload would leave less than {reserve_mib} MiB free on the server's disk. "
            "Try again when waiting imports have finished.",
            retry_after=60,
        )


class _PartWriter:
    """Writes the parts of the form: the current one and those already complete."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._name = ""
        self._file: BufferedWriter | None = None
        self._text = bytearray()
        self._digest = sha256()
        self.fields: dict[str, str] = {}
        self.files: dict[str, str] = {}

    def write(self, parser: PushMultipartParser, chunk: bytes) -> None:
        for event in parser.parse(chunk):
            if isinstance(event, MultipartSegment):
                self._start_part(event)
            elif event is None:
                self._end_part()
            elif self._file is not None:
                self._digest.update(event)
                self._file.write(event)
            else:
                self._text += event
                if len(self._text) > FIELD_BYTES_MAX:
                    raise _malformed_form()

    def _start_part(self, segment: MultipartSegment) -> None:
        if segment.filename is None:
            self._name, self._text = segment.name, bytearray()
            return
        self._name = _safe_name(segment.filename, len(self.files))
        if self._name in self.files or len(self.files) >= FILES_MAX:
            raise Invalid(
                "malformed_body",
                "Each file needs a unique name, and at most 100 files are accepted.",
            )
        self._digest = sha256()
        self._file = (self._folder / self._name).open("xb")

    def _end_part(self) -> None:
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._file = None
            self.files[self._name] = self._digest.hexdigest()
            return
        value = self._text.decode()
        if self._name in self.fields or "\0" in self._name + value:
            raise _malformed_form()
        self.fields[self._name] = value

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _safe_name(filename: str, number: int) -> str:
    """Return the last part of the path, with only characters that are safe in a file name."""
    base_name = re.split(r"[/\\]", filename)[-1]
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", base_name).lstrip(".")[-NAME_MAX:]
    return safe or f"file-{number}"


def _too_large() -> Unreadable:
    return Unreadable(413, "body_too_large", "The upload is larger than 256 MiB.")


def _malformed_form() -> Invalid:
    return Invalid("malformed_body", "The form cannot be read.")
