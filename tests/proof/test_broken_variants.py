"""Broken variants are usable: their texts are in the sources, and quick ones are caught."""

import pytest

from tests.fault_injection.replacements import build_sources
from tests.proof.broken_variants import BrokenVariant, mentions, run_variant
from tests.proof.row import load_row, load_rows
from tests.proof.row_environment import QUICK_SEED

VARIANTS = [(row, variant) for row in load_rows().values() for variant in row.variants]
# One of each row that runs in this process and needs about ten CPU seconds at most.
QUICK_VARIANTS = {
    "A4": "deny-only-in-its-role",  # version 3
    "D4": "differences-ignored",
    "D5": "quote-not-escaped",
    "D6": "parked-month-billed",
    "I4": "no-expiry",
    "T1": "typ-ignored",
    "T5": "unknown-name-shown",
    "T7": "wrong-issuer",
}
SECONDS_MAX = 300


def test_every_row_has_variants_with_names_of_their_own() -> None:
    for row in load_rows().values():
        names = [variant.name for variant in row.variants]
        assert names
        assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "variant", [pytest.param(each, id=f"{row.name}-{each.name}") for row, each in VARIANTS]
)
def test_every_old_text_occurs_exactly_once(variant: BrokenVariant) -> None:
    for file, text in build_sources(variant.replacements).items():
        if file.endswith(".py"):
            compile(text, file, "exec")


@pytest.mark.parametrize(("row", "name"), QUICK_VARIANTS.items())
def test_a_quick_variant_is_caught(row: str, name: str) -> None:
    """In a process of its own; `make prove` runs all variants."""
    (variant,) = [each for each in load_row(row).variants if each.name == name]

    result = run_variant(row, variant, seed=QUICK_SEED, seconds_max=SECONDS_MAX)

    assert result.caught, result.report


def test_a_reason_that_is_broken_into_lines_is_found() -> None:
    output = "    measured  86 wrong; items first\n              wrong in 86"

    assert mentions(output, "items first wrong in")
    assert not mentions(output, "tax first wrong in")
