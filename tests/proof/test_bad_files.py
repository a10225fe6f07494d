"""A bad file of the corpus is refused with its place and rule when the delivery is read.

Row D2 checks complete imports; these tests need no service. In `make test` both together try every
file of the first importer, and one in three of each other importer. The corpora have nearly the
same faults in the same order, and each importer begins at another one. The full row tries all.
"""

from __future__ import annotations

import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from nimbill.costs.cost_file_error import CostFileError
from nimbill.demo.vendor_files.dialects import Dialect
from tests.costs.delivery_reader import DeliveryResult, read_delivery
from tests.proof.bad_files import IMPORTERS, BadFile, bad_files, odd_but_valid, plain
from tests.proof.bombs import BOMB_IMPORTERS, bombs
from tests.proof.rows.d2 import ONE_FILE_IN, VARIANTS, choose_for_make_test


def read(bad: BadFile, folder: Path) -> DeliveryResult:
    shutil.rmtree(folder, ignore_errors=True)
    paths = bad.write(folder / "files")
    sources = [folder / "files"] if len(paths) > 1 else paths
    return read_delivery(sources, folder, vendor=bad.vendor, month=bad.month)


def complaint(bad: BadFile, folder: Path) -> str | None:
    """What is wrong with the refusal."""
    try:
        read(bad, folder)
    except CostFileError as broken:
        message = f"{bad.title}: {broken}"
        if broken.rule not in bad.rules:
            return f"{message}; expected {' or '.join(bad.rules)}"
        if bad.line not in (None, broken.line) or bad.column not in (None, broken.column):
            return f"{message}; expected line {bad.line}, column {bad.column}"
        if not broken.file.startswith(bad.expected_file):
            return f"{message}; expected {bad.expected_file}"
        return None
    return f"{bad.title}: was accepted"


def files_to_read(dialect: Dialect) -> list[BadFile]:
    number, corpus = IMPORTERS.index(dialect), [*bad_files(dialect)]
    if number == 0:
        imported = {bad.title for bad in choose_for_make_test(corpus)}
        return [bad for bad in corpus if bad.title not in imported]
    return corpus[number % ONE_FILE_IN :: ONE_FILE_IN]


@pytest.mark.parametrize("dialect", IMPORTERS)
def test_a_bad_file_is_refused_with_its_place_and_rule(tmp_path: Path, dialect: Dialect) -> None:
    complaints = [complaint(bad, tmp_path / "bad") for bad in files_to_read(dialect)]

    assert len(complaints) > 50
    assert [text for text in complaints if text] == []


def test_make_test_imports_the_bad_file_of_the_broken_variant() -> None:
    """Without it, the variant would stay green, and only the next full run would tell."""
    (variant,) = [each for each in VARIANTS if each.name == "underscores-accepted"]
    imported = choose_for_make_test([*bad_files(IMPORTERS[0])])

    assert [bad.title for bad in imported if variant.expected_text.startswith(bad.title)]


@pytest.mark.parametrize("bomb", [*bombs(BOMB_IMPORTERS[0])], ids=lambda bomb: bomb.title)
def test_every_bomb_is_refused(tmp_path: Path, bomb: BadFile) -> None:
    assert complaint(bomb, tmp_path / "bomb") is None
    assert all(path.stat().st_size < 4_000_000 for path in (tmp_path / "bomb/files").iterdir())


@pytest.mark.parametrize("dialect", IMPORTERS)
def test_an_unusual_but_valid_file_is_accepted(tmp_path: Path, dialect: Dialect) -> None:
    money = sums(plain(dialect), tmp_path)

    assert len(money) > 5
    for odd in odd_but_valid(dialect):
        assert sums(odd, tmp_path) == money, odd.title


def sums(bad: BadFile, folder: Path) -> dict[object, Decimal]:
    return read(bad, folder / "odd").sums("payer_id", "customer_id", "line_type", "currency")
