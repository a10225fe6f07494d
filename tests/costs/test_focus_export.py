"""The FOCUS 1.2 file of a month, and importing it again."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nimbill.costs.cost_line import EXPORTED_TEXTS
from nimbill.costs.focus_columns import COLUMNS, COLUMNS_1_4, OWN_COLUMNS
from nimbill.costs.lake.parquet_files import Lake
from nimbill.costs.lake.records import CurrentLakeFile
from tests.contract.specification import read_table
from tests.costs.delivery_reader import DeliveryResult, read_delivery
from tests.costs.focus_rows import write_focus_file
from tests.costs.generated_months import (
    Line,
    build_line,
    compute_monthly_sums,
    compute_tag_sums,
    generate_month,
    write_month,
)

TYPES = {
    "String": pa.string(),
    "JSON": pa.string(),
    "Decimal": pa.decimal128(38, 22),
    "Date/Time": pa.timestamp("us", tz="UTC"),
}
PAYERS = frozenset({"836060457634", "000000000001"})


def export_lines(lines: list[Line], folder: Path, vendor: str = "aws") -> Path:
    lake = Lake(str(folder / "lake"))
    names = lake.put(write_month(lines, folder / "spool"), folder=f"org/{vendor}/2026-09/imp")
    files = [CurrentLakeFile(vendor, name, PAYERS) for name in names]
    write_focus_file(lake, files, "2026-09", folder / "out.parquet")
    return folder / "out.parquet"


def read_rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows


def test_every_column_has_the_type_and_nullability_of_focus_1_2(tmp_path: Path) -> None:
    schema = pq.read_schema(export_lines([build_line()], tmp_path))

    for name, column in (dict(COLUMNS) | dict(OWN_COLUMNS)).items():
        field = schema.field(name)
        assert (field.type, field.nullable) == (column.type, column.nullable), name
    assert schema.names == [*COLUMNS, *OWN_COLUMNS]
    assert all(name.startswith("x_") for name in OWN_COLUMNS)


def test_the_columns_equal_the_specification() -> None:
    rows = read_table("FOCUS 1.2 columns", "Column")

    assert len(rows) == 57
    assert [name for name, *_ in rows] == list(COLUMNS)
    for name, _, _, level, type_name in rows:
        expected = (TYPES[type_name], level.endswith("?"))
        assert (COLUMNS[name].type, COLUMNS[name].nullable) == expected, name


def test_the_columns_of_version_1_4_equal_the_specification() -> None:
    rows = read_table("FOCUS 1.4 columns", "Column")
    written = [row for row in rows if not row[0].startswith("PricingCurrency")]

    assert (len(rows), len(written)) == (65, 61)
    assert [row for row in rows if row not in written] == [
        ["PricingCurrency", "C", "String"],
        ["PricingCurrencyContractedUnitPrice", "C?", "Decimal"],
        ["PricingCurrencyEffectiveCost", "C", "Decimal"],
        ["PricingCurrencyListUnitPrice", "C?", "Decimal"],
    ]
    assert [name for name, *_ in written] == list(COLUMNS_1_4)
    for name, level, type_name in written:
        expected = (TYPES[type_name], level.endswith("?"))
        assert (COLUMNS_1_4[name].type, COLUMNS_1_4[name].nullable) == expected, name


def test_all_values_of_a_usage_line(tmp_path: Path) -> None:
    line = build_line(
        service_name="Amazon Elastic Compute Cloud",
        usage_type="BoxUsage",
        invoice_id="42",
        tags=[("team", "値")],
        region="us-east-1",
    )

    (row,) = read_rows(export_lines([line], tmp_path))

    values = {name: str(value) for name, value in row.items() if value is not None}
    assert values == {
        "BilledCost": "1.5000000000000000000000",
        "BillingAccountId": "836060457634",
        "BillingAccountType": "Billing Account",
        "BillingCurrency": "USD",
        "BillingPeriodEnd": "2026-10-01 00:00:00+00:00",
        "BillingPeriodStart": "2026-09-01 00:00:00+00:00",
        "ChargeCategory": "Usage",
        "ChargeDescription": "Amazon Elastic Compute Cloud",
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
        "SkuId": "BoxUsage",
        "SkuMeter": "BoxUsage",
        "SubAccountId": "011254002932",
        "SubAccountType": "Account",
        "Tags": '{"team":"値"}',
        "x_NimbillBillingEntity": "AWS",
        "x_NimbillKind": "usage",
        "x_NimbillLineType": "Usage",
        "x_NimbillServiceName": "Amazon Elastic Compute Cloud",
    }


# ── import again ─────────────────────────────────────────────────────────────────────────────────


def import_again(path: Path, folder: Path, vendor: str = "aws") -> DeliveryResult:
    result = read_delivery([path], folder, vendor=vendor)
    assert result.differences == []
    return result


def to_lines(result: DeliveryResult) -> list[Line]:
    return [{**row, "tags": list(row["tags"])} for row in result.rows]


@pytest.mark.parametrize("seed", range(4))
def test_an_imported_export_has_the_same_sums(tmp_path: Path, seed: int) -> None:
    lines = [_drop_empty_tags(line) for line in generate_month(seed, 300)]

    again = to_lines(import_again(export_lines(lines, tmp_path), tmp_path / "again"))

    assert compute_monthly_sums(again) == compute_monthly_sums(lines)
    assert compute_tag_sums(again) == compute_tag_sums(lines)


@pytest.mark.parametrize(("version", "cell", "count"), [("1.0", 1, 43), ("1.1", 2, 50)])
def test_a_file_with_the_columns_of_an_earlier_version_has_the_same_costs(
    tmp_path: Path, version: str, cell: int, count: int
) -> None:
    rows = read_table("FOCUS 1.2 columns", "Column")
    columns = [row[0] for row in rows if row[cell] != "—"]
    lines = [build_line(cost=Decimal(cost)) for cost in ("1.5", "0.0000000001", "20")]
    exported = export_lines(lines, tmp_path)
    pq.write_table(pq.read_table(exported, columns=columns), exported)

    again = to_lines(import_again(exported, tmp_path / "again"))

    assert len(columns) == count, version
    assert sorted(line["cost"] for line in again) == sorted(line["cost"] for line in lines)


def _drop_empty_tags(line: Line) -> Line:
    """JSON text has no tags without a value."""
    return line | {"tags": [(key, value) for key, value in line["tags"] if value is not None]}


def test_kinds_and_entry_types_survive_a_round_trip(tmp_path: Path) -> None:
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
        build_line(line_type=line_type, kind=kind, entry_type=entry_type)
        for line_type, kind, entry_type in types
    ]

    again = import_again(export_lines(lines, tmp_path), tmp_path / "again")

    imported_types = [(row["line_type"], row["kind"], row["entry_type"]) for row in again.rows]
    assert sorted(imported_types, key=str) == sorted(types, key=str)


@pytest.mark.parametrize(
    ("entity", "marketplace"),
    [("AWS", False), ("AISPL", False), ("", False), ("AWS Marketplace", True), ("AWS", True)],
)
def test_billing_entity_and_marketplace_survive_a_round_trip(
    tmp_path: Path, entity: str, marketplace: bool
) -> None:
    line = build_line(billing_entity=entity, marketplace=marketplace)

    (again,) = import_again(export_lines([line], tmp_path), tmp_path / "again").rows

    assert (again["billing_entity"], again["marketplace"]) == (entity, marketplace)


def test_a_vendor_of_the_settings_is_named_by_its_first_provider_name(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path / "lake"))
    lines = [build_line(billing_entity=""), build_line(billing_entity="ISV", marketplace=True)]
    names = lake.put(write_month(lines, tmp_path / "spool"), folder="org/oracle/2026-09/imp")
    files = [CurrentLakeFile("oracle", name, PAYERS) for name in names]
    path = tmp_path / "out.parquet"

    write_focus_file(lake, files, "2026-09", path, {"oracle": ["Oracle", "OCI"]})

    rows = read_rows(path)
    assert {row["ProviderName"] for row in rows} == {"Oracle"}
    assert [row["PublisherName"] for row in rows] == ["Oracle", "ISV"]
    assert {row["SubAccountType"] for row in rows} == {"Account"}


@pytest.mark.parametrize("vendor", ["aws", "azure", "gcp"])
def test_the_vendor_is_recognised(tmp_path: Path, vendor: str) -> None:
    again = import_again(export_lines([build_line()], tmp_path, vendor), tmp_path / "again", vendor)

    assert again.conversion.lines == 1
    assert again.conversion.month == "2026-09"


def test_reservations_and_savings_plans_survive_a_round_trip(tmp_path: Path) -> None:
    lines = [
        build_line(reservation_id="arn:ri"),
        build_line(savings_plan_id="arn:sp"),
        build_line(),
    ]

    again = import_again(export_lines(lines, tmp_path), tmp_path / "again").rows

    commitments = {(row["reservation_id"], row["savings_plan_id"]) for row in again}
    assert commitments == {("arn:ri", None), (None, "arn:sp"), (None, None)}


def test_invalid_values_of_nimbill_columns_are_ignored(tmp_path: Path) -> None:
    table = pq.read_table(export_lines([build_line()], tmp_path))
    for name, value in (("x_NimbillKind", "gift"), ("x_NimbillEntryType", "Fee")):
        position = table.column_names.index(name)
        table = table.set_column(position, name, pa.array([value]))
    pq.write_table(table, tmp_path / "odd.parquet")

    (again,) = import_again(tmp_path / "odd.parquet", tmp_path / "again").rows

    assert (again["kind"], again["entry_type"]) == ("unknown", None)


# ── writing the file ─────────────────────────────────────────────────────────────────────────────


def test_lines_of_payers_with_another_current_import_are_left_out(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path / "lake"))
    stored_lines = [build_line(), build_line(payer_id="000000000001")]
    names = lake.put(
        write_month(stored_lines, tmp_path / "spool", files=1), folder="org/aws/2026-09/imp"
    )
    files = [CurrentLakeFile("aws", names[0], frozenset({"000000000001"}))]

    lines = write_focus_file(lake, files, "2026-09", tmp_path / "out.parquet")

    assert lines == 1
    assert [row["BillingAccountId"] for row in read_rows(tmp_path / "out.parquet")] == [
        "000000000001"
    ]


def test_files_written_before_prices_were_kept_are_exported(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path / "lake"))
    (path,) = write_month([build_line()], tmp_path / "spool", files=1)
    pq.write_table(pq.read_table(path).drop_columns(list(EXPORTED_TEXTS)), path)
    names = lake.put([path], folder="org/aws/2026-09/imp")
    files = [CurrentLakeFile("aws", names[0], PAYERS)]

    write_focus_file(lake, files, "2026-09", tmp_path / "out.parquet")

    (row,) = read_rows(tmp_path / "out.parquet")
    assert (row["BilledCost"], row["PricingQuantity"]) == (Decimal("1.5"), None)


@pytest.mark.parametrize(("owner", "name"), [(os, "fsync"), (Path, "replace")])
def test_a_failed_export_keeps_the_existing_file(
    tmp_path: Path, owner: object, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = export_lines([build_line()], tmp_path)
    before = output.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(owner, name, fail)
    lake = Lake(str(tmp_path / "lake"))
    files = [CurrentLakeFile("aws", name, PAYERS) for name in lake.list_names("org")]

    with pytest.raises(OSError, match="No space"):
        write_focus_file(lake, files, "2026-09", output)

    assert output.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lake", "out.parquet", "spool"]
