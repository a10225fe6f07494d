"""The CSV files in a zip file, each put into the spool as the gzip file it nearly is already.

Zip and gzip share their compression, so that a member needs a new head and tail and nothing is
decompressed here: what would grow too large, or fails its checksum, is met where the text is read.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from nimbill.costs.ingestion.delivery_errors import refused
from nimbill.costs.ingestion.parts import Form, Limits, Part

CHUNK_BYTES = 2**20
DIRECTORY_BYTES_MAX = 16 * 2**20
GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
ENCRYPTED = 0x1
COMPRESSED = (".gz", ".zip", ".bz2", ".xz", ".zst", ".7z", ".parquet")

_END, _END_BYTES, _COMMENT_MAX = b"PK\x05\x06", 22, 65_535
_END64, _LOCATOR, _LOCATOR_BYTES = b"PK\x06\x06", b"PK\x06\x07", 20
_LOCAL = struct.Struct("<4s22xHH")


def csv_members(name: str, path: Path, *, spool: Path, number: int, limits: Limits) -> list[Part]:
    """Its CSV files, under names of ours; the names in the file are never used as paths."""
    with path.open("rb") as file:
        try:
            _refuse_a_huge_directory(name, file)
            with zipfile.ZipFile(file) as archive:
                members = _csv(name, archive.infolist(), limits)
        except (zipfile.BadZipFile, struct.error, ValueError, EOFError, NotImplementedError):
            raise refused(name, "truncated") from None
        return [
            _member(name, file, member, spool / f"{number:05d}-{at:05d}")
            for at, member in enumerate(members)
        ]


def _csv(name: str, listed: Sequence[zipfile.ZipInfo], limits: Limits) -> list[zipfile.ZipInfo]:
    if len(listed) > limits.parts_max:
        raise refused(name, "too_many_parts", limits.parts_max)
    end = 0
    for member in sorted(listed, key=lambda one: one.header_offset):
        if member.header_offset < end:
            raise refused(name, "corrupt")  # members in one another: damage, or a bomb
        end = member.header_offset + _LOCAL.size + member.compress_size
    files = [one for one in listed if not one.is_dir() and not _hidden(one.filename)]
    for one in files:
        if one.filename.lower().endswith(COMPRESSED):
            raise refused(_called(name, one), "nested")
    members = [one for one in files if one.filename.lower().endswith(".csv")]
    if not members:
        raise refused(name, "no_parts")
    for one in members:
        _refuse_unless_sound(_called(name, one), one, limits)
    return members


def _hidden(member: str) -> bool:
    return member.startswith("__MACOSX/") or member.rpartition("/")[2].startswith(".")


def _called(name: str, member: zipfile.ZipInfo) -> str:
    return f"{name}/{member.filename.rpartition('/')[2]}"


def _refuse_unless_sound(name: str, member: zipfile.ZipInfo, limits: Limits) -> None:
    if member.flag_bits & ENCRYPTED:
        raise refused(name, "encrypted")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise refused(name, "compression")
    if member.file_size > limits.part_bytes_max:
        raise refused(name, "too_large", limits.part_bytes_max)
    allowed = max(limits.bomb_bytes_min, member.compress_size * limits.bomb_ratio_max)
    if member.file_size > allowed:
        raise refused(name, "bomb", f"more than {limits.bomb_ratio_max}")


def _member(name: str, file: BinaryIO, member: zipfile.ZipInfo, to: Path) -> Part:
    called = _called(name, member)
    stored = member.compress_type == zipfile.ZIP_STORED
    form: Form = "csv" if stored else "csv.gz"
    path = to.with_suffix(f".{form}")
    digest = hashlib.sha256()
    check = 0
    with path.open("wb") as copy:
        for piece in _pieces(called, file, member):
            if stored:
                check = zlib.crc32(piece, check)
            copy.write(piece)
            digest.update(piece)
        size = copy.tell()
        copy.flush()
        os.fsync(copy.fileno())
    if stored and check != member.CRC:
        raise refused(called, "bad_checksum")
    return Part(called, path, form, size, digest.hexdigest())


def _pieces(name: str, file: BinaryIO, member: zipfile.ZipInfo) -> Iterator[bytes]:
    deflated = member.compress_type == zipfile.ZIP_DEFLATED
    if deflated:
        yield GZIP_HEAD
    file.seek(member.header_offset)
    head = file.read(_LOCAL.size)
    if len(head) < _LOCAL.size:
        raise refused(name, "truncated")
    mark, name_bytes, extra_bytes = _LOCAL.unpack(head)
    if mark != b"PK\x03\x04":
        raise refused(name, "corrupt")
    file.seek(name_bytes + extra_bytes, os.SEEK_CUR)
    left = member.compress_size
    while left:
        piece = file.read(min(CHUNK_BYTES, left))
        if not piece:
            raise refused(name, "truncated")
        left -= len(piece)
        yield piece
    if deflated:
        yield struct.pack("<II", member.CRC, member.file_size & 0xFFFF_FFFF)


def _refuse_a_huge_directory(name: str, file: BinaryIO) -> None:
    """Before it is read as a whole: found as the standard library will find it."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - _END_BYTES - _COMMENT_MAX, 0))
    tail = file.read()
    at = len(tail) - _END_BYTES
    if not (tail[at:].startswith(_END) and tail.endswith(b"\0\0")):
        at = tail.rfind(_END)
    if at < 0:
        raise zipfile.BadZipFile
    (directory,) = struct.unpack_from("<I", tail, at + 12)
    locator = tail[max(at - _LOCATOR_BYTES, 0) : at]
    if locator.startswith(_LOCATOR):
        (offset,) = struct.unpack_from("<Q", locator, 8)
        file.seek(min(offset, size))
        head = file.read(56)
        if head.startswith(_END64):
            (directory,) = struct.unpack_from("<Q", head, 40)
    if directory > DIRECTORY_BYTES_MAX:
        raise refused(name, "too_many_files", DIRECTORY_BYTES_MAX)
    file.seek(0)
