"""Replaces texts of the product's sources if PRODUCT_REPLACEMENTS names a file.

Python imports a module of this name at the start of every process that has its folder in
PYTHONPATH: also of workers, and of processes that the product starts. The product itself has no
switch for it. The file contains a JSON list of replacements: a file below src/nimbill, a text that
occurs exactly once in it, and a new text.
"""

from __future__ import annotations

import json
import os
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

VARIABLE = "PRODUCT_REPLACEMENTS"
PACKAGE = f"{Path(__file__).parents[3]}/src/nimbill/"

Replacement = tuple[str, str, str]  # file, old text, new text


class StaleReplacement(Exception):
    """The old text does not occur exactly once."""


@cache
def active_replacements() -> list[Replacement]:
    """Read when a process, or a fork of it, reads the first source of the product."""
    name = os.environ.get(VARIABLE)
    return [tuple(each) for each in json.loads(Path(name).read_bytes())] if name else []


def replacements_of(path: str) -> list[Replacement]:
    file = path.removeprefix(PACKAGE)
    return [each for each in active_replacements() if each[0] == file] if file != path else []


def replace_texts(text: str, replacements: list[Replacement]) -> str:
    for file, old, new in replacements:
        if (count := text.count(old)) != 1:
            raise StaleReplacement(f"{file} contains {count} times: {old}")
        text = text.replace(old, new)
    return text


def install() -> None:
    """Modules, migrations among them, are read by the loader of files, and SQL by `read_text`."""
    path_stats, get_data = SourceFileLoader.path_stats, SourceFileLoader.get_data
    read_text = Path.read_text

    def path_stats_without_bytecode(loader: SourceFileLoader, path: str) -> Any:
        """Compiled modules are neither used nor written without the date of the source."""
        if replacements_of(path):
            raise OSError
        return path_stats(loader, path)

    def get_replaced_data(loader: SourceFileLoader, path: str) -> bytes:
        data = get_data(loader, path)
        replacements = replacements_of(path)
        return replace_texts(data.decode(), replacements).encode() if replacements else data

    def read_replaced_text(path: Path, *arguments: Any, **options: Any) -> str:
        return replace_texts(read_text(path, *arguments, **options), replacements_of(str(path)))

    SourceFileLoader.path_stats = path_stats_without_bytecode  # type: ignore[method-assign, assignment]
    SourceFileLoader.get_data = get_replaced_data  # type: ignore[method-assign, assignment]
    Path.read_text = read_replaced_text  # type: ignore[method-assign, assignment]


if __name__ == "sitecustomize" and VARIABLE in os.environ:
    install()
