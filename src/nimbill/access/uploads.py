"""Files sent as multipart/form-data, streamed to a folder and never held in memory."""

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

from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Invalid, Unavailable, Unreadable
from nimbill.foundation.fsync import fsync_path

basis = chosen("uploads")

UPLOAD_BYTES_MAX = 256 * 2**20
FILES_MAX = 100
FIELDS_MAX = 50
FIELD_BYTES_MAX = 4096
NAME_MAX = 120


@dataclass(slots=True)
class Upload:
    """What arrived: in a folder of its own, which goes with the request unless it is taken over."""

    folder: Path
    fields: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)  # name in the folder: sha256

    @property
    def fingerprint(self) -> bytes:
        told = sorted(self.fields.items()) + sorted(self.files.items())
        return repr(told).encode()

    def take_over(self, folder: Path) -> None:
        """The files live on there; on disk before anybody is told so."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        self.folder.rename(folder)
        fsync_path(folder)
        fsync_path(folder.parent)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def is_upload(content_type: str) -> bool:
    return bool(parse_options_header(content_type)[0] == "multipart/form-data")


async def receive(content_type: str, stream: AsyncIterator[bytes], folder: Path) -> Upload:
    """Everything, or nothing: what cannot be read leaves no file behind."""
    boundary = parse_options_header(content_type)[1].get("boundary", "")
    if not boundary:
        raise _malformed()
    await asyncio.to_thread(os.makedirs, folder)
    upload, receiving = Upload(folder), _Receiving(folder)
    try:
        parser = PushMultipartParser(
            boundary,
            max_segment_size=UPLOAD_BYTES_MAX,
            max_segment_count=FILES_MAX + FIELDS_MAX,
        )
        size = 0
        with parser:
            async for chunk in stream:
                size += len(chunk)
                if size > UPLOAD_BYTES_MAX:
                    raise Unreadable(413, "body_too_large", "an upload is at most 256 MiB")
                if chunk:
                    # writing may wait for the disk, and others must not wait with it
                    await asyncio.to_thread(receiving.take, parser, chunk)
        upload.fields, upload.files = receiving.fields, receiving.files
        return upload
    except (MultipartError, UnicodeError):
        upload.remove()
        raise _malformed() from None
    except OSError as error:
        upload.remove()
        raise Unavailable("storage_full", "the files cannot be kept now", retry_after=60) from error
    except BaseException:
        upload.remove()
        raise
    finally:
        receiving.close()


class _Receiving:
    """The part that is being written at the moment, and those that are done."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._name = ""
        self._file: BufferedWriter | None = None
        self._text = bytearray()
        self._digest = sha256()
        self.fields: dict[str, str] = {}
        self.files: dict[str, str] = {}

    def take(self, parser: PushMultipartParser, chunk: bytes) -> None:
        for event in parser.parse(chunk):
            if isinstance(event, MultipartSegment):
                self._begin(event)
            elif event is None:
                self._end()
            elif self._file is not None:
                self._digest.update(event)
                self._file.write(event)
            else:
                self._text += event
                if len(self._text) > FIELD_BYTES_MAX:
                    raise _malformed()

    def _begin(self, segment: MultipartSegment) -> None:
        if segment.filename is None:
            self._name, self._text = segment.name, bytearray()
            return
        self._name = _safe_name(segment.filename, len(self.files))
        if self._name in self.files or len(self.files) >= FILES_MAX:
            raise Invalid("malformed_body", "each file needs a name of its own, and 100 are enough")
        self._digest = sha256()
        self._file = (self._folder / self._name).open("xb")

    def _end(self) -> None:
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._file = None
            self.files[self._name] = self._digest.hexdigest()
            return
        value = self._text.decode()
        if self._name in self.fields or "\0" in self._name + value:
            raise _malformed()
        self.fields[self._name] = value

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _safe_name(told: str, number: int) -> str:
    """The last part of what the sender calls it, in letters that mean nothing to a file system."""
    last = re.split(r"[/\\]", told)[-1]
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", last).lstrip(".")[-NAME_MAX:]
    return plain or f"file-{number}"


def _malformed() -> Invalid:
    return Invalid("malformed_body", "the form cannot be read")
