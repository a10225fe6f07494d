"""Adds up what all files of a delivery contain when they are unpacked, and limits the sum.

Each file may be within its own limits while a thousand of them would take hours to read.
"""

from __future__ import annotations

from nimbill.costs.ingestion.delivery_errors import delivery_error
from nimbill.costs.ingestion.parts import Limits

# Identical lines take almost no space in the file but would take hours to read. The lines of a
# vendor's file differ, and each takes some bytes.
ROWS_MIN = 1_000_000


class UnpackedSize:
    """The size of the files that were read so far, packed and unpacked."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._packed = self._rows = self._zip_members = 0
        self.unpacked_bytes = 0

    def add_file(self, size: int) -> None:
        """Count the bytes of a file before what it contains."""
        self._packed += size

    def add_zip_members(self, name: str, count: int) -> None:
        """Each member is opened several times, so that many small ones take long as well."""
        self._zip_members += count
        if self._zip_members > self._limits.zip_members_max:
            raise delivery_error(name, "too_many_parts", self._limits.zip_members_max)

    def add_content(self, name: str, unpacked: int, *, rows: int = 0) -> None:
        """Count content of the file; raise CostFileError if the delivery has become too large."""
        self.unpacked_bytes += unpacked
        self._rows += rows
        limits = self._limits
        if self._rows > ROWS_MIN and self._rows > self._packed:
            raise delivery_error(name, "bomb", "very many")
        if self.unpacked_bytes > limits.delivery_bytes_max:
            raise delivery_error(name, "delivery_too_large", limits.delivery_bytes_max)
        is_large = self.unpacked_bytes > limits.bomb_bytes_min
        if is_large and self.unpacked_bytes > self._packed * limits.bomb_ratio_max:
            raise delivery_error(name, "bomb", f"more than {limits.bomb_ratio_max}")
