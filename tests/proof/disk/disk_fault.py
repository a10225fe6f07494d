"""Which call of the file system fails, and how."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class DiskFault:
    """The n-th counted call fails; with `lasting`, all that follow fail too."""

    number: int = 0  # 0: none fails
    code: int = 0  # the error number
    calls: tuple[str, ...] = ()  # names of the calls that count; none: all
    below: str = "/"  # only paths that begin so count
    lasting: bool = False
    counted: int = 0
    failed: str = ""  # the first call that failed, with its path

    def count(self, call: str, path: str) -> int:
        """The error number with which this call shall fail, or 0."""
        if not self.number or not path.startswith(self.below):
            return 0
        if self.calls and call not in self.calls:
            return 0
        self.counted += 1
        if self.counted == self.number or (self.lasting and self.counted > self.number):
            self.failed = self.failed or f"{call} {path}"
            return self.code
        return 0
