"""Any dialect, any form, any split and any order of a month gives the same sums."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nimbill.demo.vendor_files.writing import Dialect, Month, costs_of, costs_told, write_files
from tests.costs.reading import Read, read_delivery

FORMS = ("csv", "csv.gz", "csv.zip", "parquet")


def read(month: Month, dialect: Dialect, folder: Path, **how: Any) -> Read:
    written = write_files(month, dialect, folder / "files", **how)
    return read_delivery(written.parts, folder, vendor=month.vendor)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dialect", Dialect)
def test_every_dialect_in_every_form_tells_the_same_money(
    tmp_path: Path, dialect: Dialect, form: str
) -> None:
    for vendor in dialect.vendors:
        month = Month(vendor=vendor, lines=400, seed=7)  # type: ignore[arg-type]

        found = read(month, dialect, tmp_path / vendor, form=form)

        assert found.sums("customer_id", "line_type") == costs_told(month, dialect)
        assert found.wrong == []
        assert found.converted.month == "2026-09"
        assert {row["payer_id"] for row in found.rows} == {month.payer_id}


@pytest.mark.parametrize("dialect", [Dialect.aws_cur_snake, Dialect.azure_ea, Dialect.focus_1_2])
def test_doubles_give_back_what_the_vendor_printed(tmp_path: Path, dialect: Dialect) -> None:
    month = Month(vendor=dialect.vendors[0], lines=2_000, seed=3)  # type: ignore[arg-type]

    found = read(month, dialect, tmp_path, form="parquet", numbers="double")

    assert sum(found.sums("kind").values(), Decimal(0)) == sum(costs_of(month).values(), Decimal(0))
    assert found.wrong == []


@settings(max_examples=12)
@given(st.data())
def test_any_split_and_any_order_gives_the_same_sums(data: st.DataObject) -> None:
    dialect = data.draw(st.sampled_from(list(Dialect)))
    month = Month(vendor=dialect.vendors[0], lines=300, seed=data.draw(st.integers(0, 99)))  # type: ignore[arg-type]
    cuts = sorted(data.draw(st.lists(st.integers(0, 300), max_size=5)))
    parts = [after - before for before, after in zip([0, *cuts], [*cuts, 300], strict=True)]
    how = {
        "form": data.draw(st.sampled_from(FORMS)),
        "parts": [size for size in parts if size],
        "order": data.draw(st.none() | st.integers(0, 9)),
    }
    with TemporaryDirectory() as folder:
        found = read(month, dialect, Path(folder), **how)

        assert found.sums("customer_id", "line_type") == costs_told(month, dialect)
        assert found.wrong == []


def test_tags_and_services_are_the_same_in_every_dialect_of_a_vendor(tmp_path: Path) -> None:
    month = Month(lines=500, seed=11)
    seen = []
    for dialect in (Dialect.aws_cur, Dialect.aws_cur2):
        found = read(month, dialect, tmp_path / dialect)
        seen.append(
            sorted(
                (str(row["cost"]), row["service"], tuple(sorted(dict(row["tags"]).items())))
                for row in found.rows
            )
        )

    assert seen[0] == seen[1]
