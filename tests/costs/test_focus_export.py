"""nimbill export focus MONTH"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nimbill.costs.cost_line import EntryType, LineKind
from nimbill.costs.focus_columns import COLUMNS, OWN_COLUMNS
from nimbill.costs.focus_export import charge_of, default_name, write_focus
from nimbill.costs.lake.parquet_files import Lake
from nimbill.costs.lake.records import CountingFile
from tests.costs.generated_months import (
    Line,
    line,
    month,
    monthly_sums_by_hand,
    tag_sums_by_hand,
    write_month,
)
from tests.costs.reading import Read, read_delivery

FORMATS = Path(__file__).parents[3] / "shared" / "formats.md"
TYPES = {
    "String": pa.string(),
    "JSON": pa.string(),
    "Decimal": pa.decimal128(38, 22),
    "Date/Time": pa.timestamp("us", tz="UTC"),
}
PAYERS = frozenset({"836060457634", "000000000001"})


def exported(lines: list[Line], folder: Path, vendor: str = "aws") -> Path:
    lake = Lake(str(folder / "lake"))
    names = lake.put(write_month(lines, folder / "spool"), under=f"org/{vendor}/2026-09/imp")
    files = [CountingFile(vendor, name, PAYERS) for name in names]
    write_focus(lake, files, "2026-09", folder / "out.parquet")
    return folder / "out.parquet"


def rows(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return found


def test_every_column_has_the_type_and_nullability_of_focus_1_2(tmp_path: Path) -> None:
    schema = pq.read_schema(exported([line()], tmp_path))

    for name, column in (dict(COLUMNS) | dict(OWN_COLUMNS)).items():
        found = schema.field(name)
        assert (found.type, found.nullable) == (column.type, column.nullable), name
    assert schema.names == [*COLUMNS, *OWN_COLUMNS]
    assert all(name.startswith("x_") for name in OWN_COLUMNS)


@pytest.mark.skipif(not FORMATS.exists(), reason="the specification is not beside this checkout")
def test_the_columns_are_those_of_the_standard() -> None:
    stated = re.findall(
        r"^\| (\w+) \| \S+ \| \S+ \| ([MCR])(\??) \| (\S+) \|$", FORMATS.read_text(), re.MULTILINE
    )

    assert len(stated) == len(COLUMNS) == 57
    for name, _, nullable, kind in stated:
        assert (COLUMNS[name].type, COLUMNS[name].nullable) == (TYPES[kind], bool(nullable)), name


def test_a_plain_line(tmp_path: Path) -> None:
    usage = line(usage_type="BoxUsage", invoice_id="42", tags=[("team", "値")], region="us-east-1")

    (found,) = rows(exported([usage], tmp_path))

    told = {name: str(value) for name, value in found.items() if value is not None}
    assert told == {
        "BilledCost": "1.5000000000000000000000",
        "BillingAccountId": "836060457634",
        "BillingAccountType": "Billing Account",
        "BillingCurrency": "USD",
        "BillingPeriodEnd": "2026-10-01 00:00:00+00:00",
        "BillingPeriodStart": "2026-09-01 00:00:00+00:00",
        "ChargeCategory": "Usage",
        "ChargeFrequency": "Usage-Based",
        "ChargePeriodEnd": "2026-09-02 00:00:00+00:00",
        "ChargePeriodStart": "2026-09-01 00:00:00+00:00",
        "ContractedCost": "1.5000000000000000000000",
        "EffectiveCost": "1.5000000000000000000000",
        "InvoiceId": "42",
        "InvoiceIssuerName": "AWS",
        "ListCost": "1.5000000000000000000000",
        "PricingCategory": "Standard",
        "ProviderName": "AWS",
        "PublisherName": "AWS",
        "RegionId": "us-east-1",
        "RegionName": "us-east-1",
        "ServiceCategory": "Other",
        "ServiceName": "AmazonEC2",
        "ServiceSubcategory": "Other (Other)",
        "SkuMeter": "BoxUsage",
        "SubAccountId": "011254002932",
        "SubAccountType": "Account",
        "Tags": '{"team":"値"}',
        "x_NimbillBillingEntity": "AWS",
        "x_NimbillKind": "usage",
        "x_NimbillLineType": "Usage",
    }


@pytest.mark.parametrize(
    ("line_type", "kind", "entry_type", "charge"),
    [
        ("RIFee", "usage", None, ("Usage", None)),
        ("SavingsPlanUpfrontFee", "entry", "Upfront", ("Purchase", None)),
        ("Fee", "entry", "Fee", ("Purchase", None)),
        ("Refund", "entry", "Refund", ("Usage", "Correction")),
        ("Credit", "entry", "Credit", ("Credit", None)),
        ("Tax", "tax", None, ("Tax", None)),
        ("EdpDiscount", "discount", None, ("Credit", None)),
        ("FlatRateSubscription", "unknown", None, ("Adjustment", None)),
        ("Adjustment", "entry", "Fee", ("Adjustment", None)),
        ("Usage Correction", "entry", "Refund", ("Usage", "Correction")),
    ],
)
def test_what_focus_calls_a_line(
    line_type: str, kind: str, entry_type: str | None, charge: tuple[str, str | None]
) -> None:
    assert charge_of(line_type, kind, entry_type) == charge


def test_every_kind_and_entry_type_has_a_category_of_focus() -> None:
    categories = {"Usage", "Purchase", "Tax", "Credit", "Adjustment"}

    for kind in LineKind:
        for entry_type in (*EntryType, None):
            charge = charge_of("a word nobody knows", kind, entry_type)
            assert charge.category in categories
            assert charge.class_ in (None, "Correction")


# ── and in again ─────────────────────────────────────────────────────────────────────────────────


def in_again(path: Path, folder: Path, vendor: str = "aws") -> Read:
    again = read_delivery([path], folder, vendor=vendor)
    assert again.wrong == []
    return again


def lines_of(read: Read) -> list[Line]:
    return [{**row, "tags": list(row["tags"])} for row in read.rows]


@pytest.mark.parametrize("seed", range(4))
def test_a_file_taken_in_again_gives_the_same_sums(tmp_path: Path, seed: int) -> None:
    lines = [_told_apart(one) for one in month(seed, 300)]

    again = lines_of(in_again(exported(lines, tmp_path), tmp_path / "again"))

    assert monthly_sums_by_hand(again) == monthly_sums_by_hand(lines)
    assert tag_sums_by_hand(again) == tag_sums_by_hand(lines)


def _told_apart(one: Line) -> Line:
    """A tag without a value is none once it was written as text."""
    return one | {"tags": [(key, value) for key, value in one["tags"] if value is not None]}


def test_kinds_and_entries_come_back_as_they_went(tmp_path: Path) -> None:
    types = [
        ("Usage", "usage", None),
        ("RIFee", "usage", None),
        ("Fee", "entry", "Fee"),
        ("SavingsPlanUpfrontFee", "entry", "Upfront"),
        ("Refund", "entry", "Refund"),
        ("Credit", "entry", "Credit"),
        ("Tax", "tax", None),
        ("EdpDiscount", "discount", None),
        ("FlatRateSubscription", "unknown", None),
        ("Usage Correction", "entry", "Refund"),
    ]
    lines = [
        line(line_type=line_type, kind=kind, entry_type=entry_type)
        for line_type, kind, entry_type in types
    ]

    again = in_again(exported(lines, tmp_path), tmp_path / "again")

    found = [(row["line_type"], row["kind"], row["entry_type"]) for row in again.rows]
    assert sorted(found, key=str) == sorted(types, key=str)


@pytest.mark.parametrize(
    ("entity", "marketplace"),
    [("AWS", False), ("AISPL", False), ("", False), ("AWS Marketplace", True), ("AWS", True)],
)
def test_who_sold_it_comes_back_as_it_went(tmp_path: Path, entity: str, marketplace: bool) -> None:
    sold = line(billing_entity=entity, marketplace=marketplace)

    (again,) = in_again(exported([sold], tmp_path), tmp_path / "again").rows

    assert (again["billing_entity"], again["marketplace"]) == (entity, marketplace)


@pytest.mark.parametrize("vendor", ["aws", "azure", "gcp"])
def test_the_vendor_is_known_again(tmp_path: Path, vendor: str) -> None:
    again = in_again(exported([line()], tmp_path, vendor), tmp_path / "again", vendor)

    assert again.converted.lines == 1
    assert again.converted.month == "2026-09"


def test_reservations_and_plans_are_told_apart_again(tmp_path: Path) -> None:
    lines = [line(reservation_id="arn:ri"), line(savings_plan_id="arn:sp"), line()]

    again = in_again(exported(lines, tmp_path), tmp_path / "again").rows

    found = {(row["reservation_id"], row["savings_plan_id"]) for row in again}
    assert found == {("arn:ri", None), (None, "arn:sp"), (None, None)}


def test_what_a_file_says_of_itself_is_believed_only_where_it_makes_sense(tmp_path: Path) -> None:
    table = pq.read_table(exported([line()], tmp_path))
    for name, word in (("x_NimbillKind", "gift"), ("x_NimbillEntryType", "Fee")):
        at = table.column_names.index(name)
        table = table.set_column(at, name, pa.array([word]))
    pq.write_table(table, tmp_path / "odd.parquet")

    (again,) = in_again(tmp_path / "odd.parquet", tmp_path / "again").rows

    assert (again["kind"], again["entry_type"]) == ("unknown", None)


# ── whole or not at all ──────────────────────────────────────────────────────────────────────────


def test_lines_of_a_payer_whose_month_counts_elsewhere_stay_out(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path / "lake"))
    both = [line(), line(payer_id="000000000001")]
    names = lake.put(write_month(both, tmp_path / "spool", files=1), under="org/aws/2026-09/imp")
    files = [CountingFile("aws", names[0], frozenset({"000000000001"}))]

    lines = write_focus(lake, files, "2026-09", tmp_path / "out.parquet")

    assert lines == 1
    assert [row["BillingAccountId"] for row in rows(tmp_path / "out.parquet")] == ["000000000001"]


@pytest.mark.parametrize(("where", "call"), [(os, "fsync"), (Path, "replace")])
def test_a_file_that_cannot_be_finished_leaves_the_one_before_it(
    tmp_path: Path, where: object, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = exported([line()], tmp_path)
    before = output.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(where, call, fail)
    lake = Lake(str(tmp_path / "lake"))
    files = [CountingFile("aws", name, PAYERS) for name in lake.names("org")]

    with pytest.raises(OSError, match="No space"):
        write_focus(lake, files, "2026-09", output)

    assert output.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lake", "out.parquet", "spool"]


def test_files_are_named_by_month_and_vendor() -> None:
    assert default_name("2026-09", None) == "focus-2026-09.parquet"
    assert default_name("2026-09", "aws") == "focus-aws-2026-09.parquet"
