"""Broken twins stay usable: they apply, they say what they break, and the quickest are caught."""

import re

import pytest

from tests.proof.broken_variants import (
    TWINS,
    Twin,
    apply_patch,
    copy_of_project,
    run_twin,
    twins_of,
)
from tests.proof.row import all_rows
from tests.proof.stage import QUICK_SEED

ROWS = all_rows()
ALL = [twin for row in ROWS for twin in twins_of(row)]
QUICKEST = ("T1-typ-unread", "A1-no-refusal")
SECONDS_MAX = 300


def test_every_patch_belongs_to_a_row_and_every_row_has_one() -> None:
    named = {path.name for path in TWINS.glob("*.patch")}

    assert named == {twin.patch.name for twin in ALL}
    assert {twin.row for twin in ALL} == set(ROWS)


def test_every_patch_still_applies() -> None:
    with copy_of_project() as copy:
        for twin in ALL:
            apply_patch(copy, twin.patch, only_check=True)


def test_a_patch_touches_the_product_alone() -> None:
    for twin in ALL:
        for path in re.findall(r"^\+\+\+ b/(.*)$", twin.patch.read_text(), re.MULTILINE):
            assert path.startswith("src/nimbill/"), f"{twin.patch.name} changes {path}"


@pytest.mark.parametrize(
    "twin", [twin for twin in ALL if twin.patch.stem in QUICKEST], ids=lambda twin: twin.patch.stem
)
def test_a_quick_twin_is_caught(twin: Twin) -> None:
    caught = run_twin(twin, seed=QUICK_SEED, seconds_max=SECONDS_MAX)

    assert caught.caught, caught.report


def test_the_quick_twins_are_there() -> None:
    assert set(QUICKEST) <= {twin.patch.stem for twin in ALL}
