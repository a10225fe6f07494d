"""Extracts the CSV and JSON files of a zip file into the spool, as gzip files.

Zip and gzip use the same compression, so that a member only needs another header and trailer and
is not decompressed here. Its size and checksum are verified when the text is read.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from nimbill.costs.ingestion.delivery_errors import delivery_error
from nimbill.costs.ingestion.parts import FileType, Limits, Part
from nimbill.costs.ingestion.storage_sources import is_hidden
from nimbill.costs.ingestion.unpacked_size import UnpackedSize

CHUNK_BYTES = 2**20
DIRECTORY_BYTES_MAX = 16 * 2**20
GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
ENCRYPTED_FLAG = 0x1
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")  # beside CSV files they are something else
COMPRESSED_SUFFIXES = (".gz", ".zip", ".bz2", ".xz", ".zst", ".7z", ".parquet")

_END, _END_BYTES, _COMMENT_MAX = b"PK\x05\x06", 22, 65_535
_END64, _LOCATOR, _LOCATOR_BYTES = b"PK\x06\x06", b"PK\x06\x07", 20
_LOCAL_HEADER = struct.Struct("<4s22xHH")


def extract_csv_members(
    name: str, path: Path, *, target: Path, limits: Limits, total: UnpackedSize
) -> list[Part]:
    """The names inside the zip file are never used as paths.

    The sizes in its directory are counted in the `total` of the delivery before anything is read.
    Members are not synced to disk: a preparation that is repeated extracts them again.
    """
    with path.open("rb") as file:
        try:
            _refuse_large_directory(name, file)
            with zipfile.ZipFile(file) as archive:
                infos = archive.infolist()
                total.add_zip_members(name, len(infos))
                members = _select_csv_members(name, infos, limits)
        except (zipfile.BadZipFile, struct.error, ValueError, EOFError, NotImplementedError):
            raise delivery_error(name, "truncated") from None
        for member in members:
            total.add_file(member.compress_size)
            total.add_content(_member_name(name, member), member.file_size)
        return [
            _extract(name, file, member, target.with_name(f"{target.name}-{position:05d}"))
            for position, member in enumerate(members)
        ]


def _select_csv_members(
    name: str, infos: Sequence[zipfile.ZipInfo], limits: Limits
) -> list[zipfile.ZipInfo]:
    end = 0
    for member in sorted(infos, key=lambda info: info.header_offset):
        if member.header_offset < end:
            raise delivery_error(name, "corrupt")  # overlapping members: damage, or a bomb
        end = member.header_offset + _LOCAL_HEADER.size + member.compress_size
    files = [info for info in infos if not info.is_dir() and not _is_hidden(info.filename)]
    for info in files:
        if info.filename.lower().endswith(COMPRESSED_SUFFIXES):
            raise delivery_error(_member_name(name, info), "nested")
    members = _list_ending(files, ".csv") or _list_ending(files, *JSON_SUFFIXES)
    if not members:
        raise delivery_error(name, "no_parts")
    for member in members:
        _validate_member(_member_name(name, member), member, limits)
    return members


def _list_ending(files: Sequence[zipfile.ZipInfo], *suffixes: str) -> list[zipfile.ZipInfo]:
    return [info for info in files if info.filename.lower().endswith(suffixes)]


def _is_hidden(member: str) -> bool:
    return member.startswith("__MACOSX/") or is_hidden(PurePosixPath(member))


def _member_name(name: str, member: zipfile.ZipInfo) -> str:
    return f"{name}/{member.filename.rpartition('/')[2]}"


def _validate_member(name: str, member: zipfile.ZipInfo, limits: Limits) -> None:
    if member.flag_bits & ENCRYPTED_FLAG:
        raise delivery_error(name, "encrypted")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise delivery_error(name, "compression")
    if member.file_size > limits.part_bytes_max:
        raise delivery_error(name, "too_large", limits.part_bytes_max)
    allowed = max(limits.bomb_bytes_min, member.compress_size * limits.bomb_ratio_max)
    if member.file_size > allowed:
        raise delivery_error(name, "bomb", f"more than {limits.bomb_ratio_max}")


def _extract(archive_name: str, file: BinaryIO, member: zipfile.ZipInfo, target: Path) -> Part:
    name = _member_name(archive_name, member)
    stored = member.compress_type == zipfile.ZIP_STORED
    file_type: FileType = "csv" if stored else "csv.gz"
    path = target.with_suffix(f".{file_type}")
    digest = hashlib.sha256()
    checksum = 0
    with path.open("wb") as copy:
        for chunk in _read_member(name, file, member):
            if stored:
                checksum = zlib.crc32(chunk, checksum)
            copy.write(chunk)
            digest.update(chunk)
        size = copy.tell()
    if stored and checksum != member.CRC:
        raise delivery_error(name, "bad_checksum")
    return Part(name, path, file_type, size, digest.hexdigest())


def _read_member(name: str, file: BinaryIO, member: zipfile.ZipInfo) -> Iterator[bytes]:
    deflated = member.compress_type == zipfile.ZIP_DEFLATED
    if deflated:
        yield GZIP_HEADER
    file.seek(member.header_offset)
    header = file.read(_LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size:
        raise delivery_error(name, "truncated")
    signature, name_bytes, extra_bytes = _LOCAL_HEADER.unpack(header)
    if signature != b"PK\x03\x04":
        raise delivery_error(name, "corrupt")
    file.seek(name_bytes + extra_bytes, os.SEEK_CUR)
    remaining = member.compress_size
    while remaining:
        chunk = file.read(min(CHUNK_BYTES, remaining))
        if not chunk:
            raise delivery_error(name, "truncated")
        remaining -= len(chunk)
        yield chunk
    if deflated:
        yield struct.pack("<II", member.CRC, member.file_size & 0xFFFF_FFFF)


def _refuse_large_directory(name: str, file: BinaryIO) -> None:
    """The standard library reads the whole directory, so its size is checked first."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - _END_BYTES - _COMMENT_MAX, 0))
    tail = file.read()
    position = len(tail) - _END_BYTES
    if not (tail[position:].startswith(_END) and tail.endswith(b"\0\0")):
        position = tail.rfind(_END)
    if position < 0:
        raise zipfile.BadZipFile
    (directory_bytes,) = struct.unpack_from("<I", tail, position + 12)
    locator = tail[max(position - _LOCATOR_BYTES, 0) : position]
    if locator.startswith(_LOCATOR):
        (offset,) = struct.unpack_from("<Q", locator, 8)
        file.seek(min(offset, size))
        header = file.read(56)
        if header.startswith(_END64):
            (directory_bytes,) = struct.unpack_from("<Q", header, 40)
    if directory_bytes > DIRECTORY_BYTES_MAX:
        raise delivery_error(name, "too_many_files", DIRECTORY_BYTES_MAX)
    file.seek(0)
