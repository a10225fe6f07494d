"""Replaced texts of the product's sources, for processes that a test starts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from tests.fault_injection.startup.sitecustomize import (
    VARIABLE,
    Replacement,
    active_replacements,
    replace_texts,
    replacements_of,
)

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "nimbill"
# Of every process that a proof starts; the first folder contains the loader.
PYTHON_PATH = os.pathsep.join(map(str, (Path(__file__).parent / "startup", ROOT / "src", ROOT)))


def read_source(file: str | Path) -> str:
    """A file below src/nimbill as this process sees it, with its replacements."""
    path = PACKAGE / file
    return replace_texts(path.read_bytes().decode(), replacements_of(str(path)))


def build_sources(replacements: Iterable[Replacement]) -> dict[str, str]:
    """The changed files. Raise StaleReplacement if an old text does not occur exactly once."""
    texts: dict[str, str] = {}
    for each in replacements:
        file = each[0]
        texts[file] = replace_texts(texts.get(file) or read_source(file), [each])
    return texts


def environment_with(replacements: Iterable[Replacement], folder: Path) -> dict[str, str]:
    """Variables for a process that has these replacements after those of this process."""
    file = write_replacements([*active_replacements(), *replacements], folder)
    return {VARIABLE: str(file), "PYTHONPATH": PYTHON_PATH}


def write_replacements(replacements: Iterable[Replacement], folder: Path) -> Path:
    file = folder / "replacements.json"
    file.write_text(json.dumps([*replacements]))
    return file


def write_replaced_sources(folder: Path) -> list[Path]:
    """Sources with the replacements of this process, for programs that read them as text."""
    written = []
    for number, file in enumerate(sorted({each[0] for each in active_replacements()})):
        path = folder / f"{number}-{Path(file).name}"
        path.write_text(read_source(file))
        written.append(path)
    return written
