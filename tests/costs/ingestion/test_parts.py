"""The limits on a delivery are those that docs/cost-files.md lists."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from nimbill.costs.ingestion.parts import Limits
from nimbill.costs.ingestion.raw_lines import BATCH_LINES

PAGE = (Path(__file__).parents[3] / "docs" / "cost-files.md").read_text()
UNITS = {"GiB": 2**30, "MiB": 2**20, "KiB": 2**10, "MB": 10**6}
LIMITS = Limits()


def format_limit(name: str, unit: str | None) -> str:
    number = getattr(LIMITS, name)
    if unit is None:
        return f"{number:,}"
    return f"{(Decimal(number) / UNITS[unit]).normalize():f} {unit}"


@pytest.mark.parametrize(
    ("rule", "name", "unit", "text"),
    [
        ("too_many_files", "source_files_max", None, "| {} files"),
        ("too_many_parts", "parts_max", None, "| {} parts"),
        ("too_many_parts", "zip_members_max", None, "; {} members"),
        ("too_large", "part_bytes_max", "GiB", "| {} decompressed"),
        ("too_large", "manifest_bytes_max", "MiB", "; {} for a manifest"),
        ("delivery_too_large", "delivery_bytes_max", "GiB", "| {} decompressed"),
        ("bomb", "bomb_bytes_min", "MB", "more than {} decompressed"),
        ("bomb", "bomb_ratio_max", None, "at a ratio above {};"),
        ("line_too_long", "line_bytes_max", "MiB", "| {} |"),
        ("value_too_long", "value_bytes_max", "KiB", "| {} in one value"),
    ],
)
def test_each_limit_is_the_documented_one(
    rule: str, name: str, unit: str | None, text: str
) -> None:
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{rule}` |")]

    assert text.format(format_limit(name, unit)) in row


def test_a_parquet_file_may_have_4_kib_of_text_per_line() -> None:
    assert LIMITS.batch_text_bytes_max == BATCH_LINES * 4 * 2**10
    assert "Parquet: 4 KiB of text per line on average" in PAGE
