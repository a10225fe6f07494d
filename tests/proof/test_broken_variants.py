"""Broken variants are usable: their patches apply, and the quickest ones are caught."""

import re

import pytest

from tests.proof.broken_variants import (
    VARIANTS,
    BrokenVariant,
    check_patches,
    mentions,
    run_variant,
    variants_of,
)
from tests.proof.row import load_rows
from tests.proof.row_environment import QUICK_SEED

ROWS = load_rows()
ALL = [variant for row in ROWS for variant in variants_of(row)]
QUICKEST = ("A4-deny-only-in-its-role",)
SECONDS_MAX = 300


def test_every_patch_belongs_to_a_row_and_every_row_has_one() -> None:
    patches = {path.name for path in VARIANTS.glob("*.patch")}

    assert patches == {variant.patch.name for variant in ALL}
    assert {variant.row for variant in ALL} == set(ROWS)


def test_every_patch_applies() -> None:
    check_patches(ALL)


def test_a_patch_changes_only_the_product() -> None:
    for variant in ALL:
        for path in re.findall(r"^\+\+\+ b/(.*)$", variant.patch.read_text(), re.MULTILINE):
            assert path.startswith("src/nimbill/"), f"{variant.patch.name} changes {path}"


@pytest.mark.parametrize(
    "variant",
    [variant for variant in ALL if variant.patch.stem in QUICKEST],
    ids=lambda variant: variant.patch.stem,
)
def test_a_quick_variant_is_caught(variant: BrokenVariant) -> None:
    result = run_variant(variant, seed=QUICK_SEED, seconds_max=SECONDS_MAX)

    assert result.caught, result.report


def test_the_quick_variants_exist() -> None:
    assert set(QUICKEST) <= {variant.patch.stem for variant in ALL}


def test_a_reason_that_is_broken_into_lines_is_found() -> None:
    output = "    measured  86 wrong; items first\n              wrong in 86"

    assert mentions(output, "items first wrong in")
    assert not mentions(output, "tax first wrong in")
