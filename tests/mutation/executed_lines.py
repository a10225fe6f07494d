"""The record of which tests execute which lines of the mutated files, kept in .cache/mutants."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path

Lines = dict[str, list[int]]  # by mutated file


@dataclass(slots=True)
class RecordedTest:
    seconds: float
    passed: bool
    needs_service: bool
    lines: Lines = field(default_factory=dict)  # executed by the test itself
    set_up_lines: Lines = field(default_factory=dict)  # executed by its own fixtures


@dataclass(slots=True)
class RecordedFile:
    """One test file; digests tell whether it, or a mutated file that it executes, has changed."""

    path: str
    digests: dict[str, str]
    tests: dict[str, RecordedTest]
    shared_lines: Lines  # executed by fixtures that all tests of the file share

    def is_current(self, root: Path) -> bool:
        return all(
            (root / path).is_file() and digest_of(root / path) == digest
            for path, digest in self.digests.items()
        )


def digest_of(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()[:16]


def append_record(record: Path, recorded: RecordedFile) -> None:
    """In one piece, because several processes record at the same time."""
    line = json.dumps(asdict(recorded), separators=(",", ":")) + "\n"
    with record.open("ab", buffering=0) as file:
        file.write(line.encode())


def read_record(record: Path) -> dict[str, RecordedFile]:
    """By test file. What was recorded later counts."""
    if not record.is_file():
        return {}
    files = {}
    for line in record.read_text().splitlines():
        fields = json.loads(line)
        tests = {test: RecordedTest(**each) for test, each in fields.pop("tests").items()}
        files[fields["path"]] = RecordedFile(**fields, tests=tests)
    return files


def list_test_files(root: Path, folders: Iterable[str]) -> list[str]:
    found: dict[str, None] = {}
    for folder in folders:
        path = root / folder
        files = sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
        found |= {str(file.relative_to(root)): None for file in files}
    return list(found)
