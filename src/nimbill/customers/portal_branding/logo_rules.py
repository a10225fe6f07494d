"""Rules of a logo: a PNG or JPEG file of limited size, recognised by its content."""

import zlib
from collections.abc import Iterator
from typing import NamedTuple

from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation

basis = chosen("portal-branding")

LOGO_BYTES_MAX = 200 * 1024
SIDE_MIN = 16
SIDE_MAX = 2000
PNG, JPEG = "image/png", "image/jpeg"

_PNG_START = b"\x89PNG\r\n\x1a\n"
_JPEG_START = b"\xff\xd8\xff"
_JPEG_END = b"\xff\xd9"
# Frames that have a size; the codes between them are tables.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_SCAN = 0xDA


class LogoFile(NamedTuple):
    media_type: str
    width: int
    height: int


def find_logo_violations(content: bytes) -> Iterator[Violation]:
    """Check the content of a file; what its sender says about it does not count."""
    if len(content) > LOGO_BYTES_MAX:
        yield Violation("content", f"at most {LOGO_BYTES_MAX // 1024} KiB")
        return
    logo = read_logo(content)
    if logo is None:
        yield Violation("content", "a complete PNG or JPEG file; other formats are refused")
    elif not all(SIDE_MIN <= side <= SIDE_MAX for side in (logo.width, logo.height)):
        yield Violation("content", f"from {SIDE_MIN} to {SIDE_MAX} pixels wide and high")


def read_logo(content: bytes) -> LogoFile | None:
    """Return the format and size of an image; None for anything else or a damaged file."""
    if content.startswith(_PNG_START):
        return _read_png(content)
    if content.startswith(_JPEG_START) and content.endswith(_JPEG_END):
        return _read_jpeg(content)
    return None


def _read_png(content: bytes) -> LogoFile | None:
    """Follow the chunks to the end of the file; nothing may come after the last one."""
    position, kinds, header = len(_PNG_START), [], b""
    while position + 12 <= len(content):
        length = int.from_bytes(content[position : position + 4])
        kind = content[position + 4 : position + 8]
        data = content[position + 8 : position + 8 + length]
        position += 12 + length
        checksum = content[position - 4 : position]
        if zlib.crc32(kind + data).to_bytes(4) != checksum:
            return None
        header = header or data
        kinds.append(kind)
    is_complete = position == len(content) and b"IDAT" in kinds
    if not is_complete or (kinds[0], kinds[-1]) != (b"IHDR", b"IEND") or len(header) != 13:
        return None
    return LogoFile(PNG, int.from_bytes(header[:4]), int.from_bytes(header[4:8]))


def _read_jpeg(content: bytes) -> LogoFile | None:
    """Follow the segments to the picture itself; one of them has the size."""
    position, size = 2, None
    while position + 4 <= len(content) and content[position] == 0xFF:
        kind = content[position + 1]
        length = int.from_bytes(content[position + 2 : position + 4])
        if kind in _FRAMES and length >= 8:
            height = int.from_bytes(content[position + 5 : position + 7])
            width = int.from_bytes(content[position + 7 : position + 9])
            size = LogoFile(JPEG, width, height)
        if kind == _SCAN:
            return size
        position += 2 + length
    return None
