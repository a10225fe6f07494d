"""Which files are logos."""

from __future__ import annotations

import struct
import zlib

import pytest

from nimbill.customers.portal_branding.logo_rules import (
    JPEG,
    LOGO_BYTES_MAX,
    PNG,
    LogoFile,
    find_logo_violations,
    read_logo,
)
from nimbill.demo.logo import draw_logo

FORMAT = ["a complete PNG or JPEG file; other formats are refused"]
SIDES = ["from 16 to 2000 pixels wide and high"]
START = b"\x89PNG\r\n\x1a\n"


def chunk(kind: bytes, data: bytes = b"") -> bytes:
    checksum = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + checksum


def png(width: int = 64, height: int = 32, *, header: bytes = b"") -> bytes:
    sizes = header or struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return START + chunk(b"IHDR", sizes) + chunk(b"IDAT", b"x") + chunk(b"IEND")


def segment(kind: int, data: bytes) -> bytes:
    return bytes([0xFF, kind]) + struct.pack(">H", len(data) + 2) + data


def jpeg(width: int = 64, height: int = 32, *, frame: int = 0xC0) -> bytes:
    size = struct.pack(">BHHB", 8, height, width, 3)
    parts = (segment(0xE0, b"JFIF\0"), segment(frame, size), segment(0xDA, b"\0"))
    return b"\xff\xd8" + b"".join(parts) + b"pixels" + b"\xff\xd9"


def list_rules(content: bytes) -> list[str]:
    violations = list(find_logo_violations(content))
    assert {violation.field for violation in violations} <= {"content"}
    return [violation.rule for violation in violations]


@pytest.mark.parametrize("frame", [0xC0, 0xC1, 0xC2])
def test_a_jpeg_file_is_recognised(frame: int) -> None:
    assert read_logo(jpeg(120, 40, frame=frame)) == LogoFile(JPEG, 120, 40)


def test_a_png_file_is_recognised() -> None:
    assert read_logo(png(120, 40)) == LogoFile(PNG, 120, 40)
    assert read_logo(draw_logo("#1a5fb4")) == LogoFile(PNG, 64, 64)


@pytest.mark.parametrize("make", [png, jpeg])
@pytest.mark.parametrize(
    ("width", "height", "rules"),
    [
        (16, 16, []),
        (2000, 2000, []),
        (15, 16, SIDES),
        (16, 15, SIDES),
        (2001, 2000, SIDES),
        (2000, 2001, SIDES),
    ],
)
def test_the_sides_are_limited(make: object, width: int, height: int, rules: list[str]) -> None:
    assert callable(make)
    assert list_rules(make(width, height)) == rules


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        b"GIF89a",
        START,
        START + b"short",
        png()[:-1],  # not complete
        png() + b"<script>",  # something behind the end
        png() + chunk(b"tEXt", b"x"),
        START + chunk(b"IHDR", bytes(13)) + chunk(b"IEND"),  # without a picture
        START + chunk(b"IDAT", bytes(13)) + chunk(b"IEND"),  # without a header
        png(header=bytes(12)),
        png().replace(b"IDAT", b"IDAX"),  # a wrong checksum
        jpeg()[:-1],
        b"\xff\xd8\xff\xd9",
        b"\xff\xd8\xff\xe0\0\x02" + b"no segment" + b"\xff\xd9",
        b"\xff\xd8" + segment(0xDA, b"\0") + b"\xff\xd9",  # without a frame
        b"\xff\xd8" + segment(0xC0, b"\x08\0") + segment(0xDA, b"\0") + b"\xff\xd9",  # no size
        jpeg(frame=0xC4),  # a table has no size
    ],
)
def test_anything_else_is_refused(content: bytes) -> None:
    assert list_rules(content) == FORMAT


def test_a_large_file_is_refused() -> None:
    padding = LOGO_BYTES_MAX - len(jpeg())

    assert list_rules(jpeg()[:-2] + b"x" * padding + b"\xff\xd9") == []
    assert list_rules(jpeg()[:-2] + b"x" * (padding + 1) + b"\xff\xd9") == ["at most 200 KiB"]
