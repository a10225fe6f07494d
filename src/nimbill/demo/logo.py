"""Draws the small logos of the demo: a cloud on the colour of the reseller, as PNG."""

import struct
import zlib

SIDE = 64
WHITE = b"\xff\xff\xff"
# The circles of the cloud: centre and radius in pixels.
CIRCLES = ((22, 38, 10), (34, 30, 13), (44, 38, 9))
BASE = (22, 38, 44, 47)  # left, top, right and bottom of the part below them


def draw_logo(colour: str) -> bytes:
    """Return a square picture with a white cloud."""
    ground = bytes.fromhex(colour.removeprefix("#"))
    rows = (
        b"".join(WHITE if _is_in_cloud(x, y) else ground for x in range(SIDE)) for y in range(SIDE)
    )
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)  # 8 bits, red, green and blue
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    chunks = ((b"IHDR", header), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_build_chunk(kind, data) for kind, data in chunks)


def _is_in_cloud(x: int, y: int) -> bool:
    left, top, right, bottom = BASE
    in_base = left <= x <= right and top <= y <= bottom
    return in_base or any((x - a) ** 2 + (y - b) ** 2 <= r**2 for a, b, r in CIRCLES)


def _build_chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)
