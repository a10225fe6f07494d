"""The GCP reseller export in every form: charges with credits, line types, months, tags."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.formats.gcp import classify, parse_invoice_month
from nimbill.costs.formats.line_rules import RuleViolation
from tests.costs.delivery_reader import read_delivery
from tests.costs.formats.gcp_files import (
    CUSTOMER,
    OTHER_CUSTOMER,
    PAYER,
    build_line,
    write_file,
    write_json,
)

FORMS = (
    "csv",
    "csv.gz",
    "csv.zip",
    "jsonl",
    "jsonl.gz",
    "jsonl.zip",
    "parquet.double",
    "parquet.decimal",
)

LINES = [
    build_line(cost="10.25", credits=["-0.75", "-1.5"]),
    build_line(cost="0.1", credits=["-0.3"], labels={}, project=None),
    build_line(cost="0.2", billing_account_id=OTHER_CUSTOMER, start="2026-08-31 23:00:00 UTC"),
    build_line(cost="3.3", cost_type="tax", service="Invoice", project=None, labels={}),
    build_line(cost="-2.5", cost_type="adjustment", adjustment="Goodwill"),
    build_line(cost="0.004", cost_type="rounding_error"),
    build_line(cost="7", cost_type="donation"),
    build_line(cost="5", seller="Example Software Ltd", credits=["-5"]),
]
# added up by hand from the amounts above
TOTALS = {
    (CUSTOMER, "regular", "usage"): Decimal("7.8"),
    (OTHER_CUSTOMER, "regular", "usage"): Decimal("0.2"),
    (CUSTOMER, "tax", "tax"): Decimal("3.3"),
    (CUSTOMER, "adjustment", "entry"): Decimal("-2.5"),
    (CUSTOMER, "rounding_error", "entry"): Decimal("0.004"),
    (CUSTOMER, "donation", "unknown"): Decimal(7),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_charge_is_the_cost_plus_all_credits_in_every_form(tmp_path: Path, form: str) -> None:
    result = read_delivery([write_file(LINES, tmp_path / "in", form)], tmp_path, vendor="gcp")

    assert result.sums("customer_id", "line_type", "kind") == TOTALS
    assert result.sums("payer_id") == {PAYER: Decimal("15.804")}
    assert result.conversion.month == "2026-09"
    assert result.differences == []


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet.double"])
def test_the_fields_of_a_line_are_the_same_in_every_form(tmp_path: Path, form: str) -> None:
    rows = read_delivery([write_file(LINES, tmp_path / "in", form)], tmp_path, vendor="gcp").rows

    first, second, *_, adjustment, _, _, marketplace = rows
    assert {name: first[name] for name in ("service", "usage_type", "region", "currency")} == {
        "service": "Compute Engine",
        "usage_type": "N1 core",
        "region": "europe-west6",
        "currency": "USD",
    }
    assert first["usage_start"].isoformat() == "2026-09-03T10:00:00+00:00"
    assert dict(first["tags"]) == {"team": "blue", "project.id": "shop-1"}
    assert second["tags"] == []
    assert (adjustment["description"], adjustment["entry_type"]) == ("Goodwill", "Fee")
    assert [row["marketplace"] for row in rows] == [row is marketplace for row in rows]


def test_numbers_in_json_keep_every_digit(tmp_path: Path) -> None:
    digits = "1234567.1234567890123456789012"  # a float keeps 17 digits
    line = build_line(cost=digits, credits=["-0.0000000000000000000002", "-1e-7"])

    result = read_delivery([write_file([line], tmp_path / "in", "jsonl")], tmp_path, vendor="gcp")

    (row,) = result.rows
    assert row["cost"] == Decimal("1234567.1234566890123456789010")
    assert result.differences == []


def test_numeric_values_in_json_may_be_texts(tmp_path: Path) -> None:
    content = write_json([build_line(cost="1.5")]).replace(b'"cost": 1.5', b'"cost": "1.5"')
    path = tmp_path / "export.json"
    path.write_bytes(content)

    result = read_delivery([path], tmp_path / "out", vendor="gcp")

    assert (result.sums("currency"), result.differences) == ({"USD": Decimal("1.5")}, [])


def test_doubles_are_rounded_to_ten_decimals_one_by_one(tmp_path: Path) -> None:
    line = build_line(cost="0.30000000000000004", credits=["-0.1", "-0.20000000000000001"])

    path = write_file([line], tmp_path / "in", "parquet.double")
    result = read_delivery([path], tmp_path, vendor="gcp")

    assert result.sums("currency") == {"USD": Decimal(0)}
    assert result.differences == []


def test_the_sum_of_credits_may_stand_in_one_csv_column(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text(
        "billing_account_id,payer_billing_account_id,invoice.month,cost_type,service.description,"
        "cost,credits.amount,currency,usage_start_time,labels.team\n"
        "C,P,202609,regular,Storage,4.5,-0.5,USD,2026-09-01T00:00:00Z,red\n"
        "C,P,202609,regular,Storage,1.25,,USD,2026-09-01T00:00:00Z,\n"
    )

    result = read_delivery([path], tmp_path / "out", vendor="gcp")

    assert result.sums("customer_id") == {"C": Decimal("5.25")}
    assert [dict(row["tags"]) for row in result.rows] == [{"team": "red"}, {}]
    assert result.differences == []


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet.double"])
def test_several_invoice_months_in_a_file_are_refused(tmp_path: Path, form: str) -> None:
    lines = [build_line(), build_line(month="202610")]
    path = write_file(lines, tmp_path / "in", form)

    assert refuse(path, tmp_path).rule == "several_months"
    assert refuse(path, tmp_path, month="2026-09").rule == "month"


@pytest.mark.parametrize(
    ("changes", "form", "rule", "column"),
    [
        ({"month": "2026-09"}, "csv", "invoice_month", "invoice.month"),
        ({"month": "202613"}, "jsonl", "invoice_month", "invoice.month"),
        ({"cost": "1,5"}, "csv", "number", "cost"),
        ({"cost": "true"}, "jsonl", "number", "cost"),
        ({"credits": ["x"]}, "csv", "number", "credits"),
        ({"credits": ["1e99"]}, "jsonl", "number_range", "credits"),
        ({"credits": ["nan"]}, "parquet.double", "number", "credits"),
        ({"cost": "9999999999999999", "credits": ["1"]}, "jsonl", "number_range", "cost"),
        ({"payer_billing_account_id": ""}, "csv", "empty", "payer_billing_account_id"),
        ({"currency": None}, "jsonl", "empty", "currency"),
        ({"service": 7}, "jsonl", "json", "service.description"),
        ({"service": "a\0b"}, "jsonl", "nul", "service.description"),
    ],
)
def test_an_invalid_value_is_refused_with_its_place(
    tmp_path: Path, changes: dict[str, Any], form: str, rule: str, column: str
) -> None:
    path = write_file([build_line(), build_line(**changes)], tmp_path / "in", form)

    error = refuse(path, tmp_path)

    line = 3 if form == "csv" else 2
    assert (error.rule, error.line, error.column) == (rule, line, column)


@pytest.mark.parametrize(
    ("text", "rule"), [("{}\n", "unknown_format"), ("{nonsense\n", "json"), ('{"a": 1', "json")]
)
def test_other_json_is_refused(tmp_path: Path, text: str, rule: str) -> None:
    path = tmp_path / "export.jsonl"
    path.write_text(text)

    assert refuse(path, tmp_path).rule == rule


def test_json_of_something_else_names_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    path.write_text('{"cost_type": "regular"}\n')

    assert "lacks payer_billing_account_id, invoice" in str(refuse(path, tmp_path))


def test_a_line_that_is_no_json_is_refused_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    path.write_bytes(write_json([build_line(), build_line()]) + b"oops\n")

    error = refuse(path, tmp_path)

    assert (error.rule, error.line) == ("json", 3)


def test_the_export_is_refused_for_another_vendor(tmp_path: Path) -> None:
    path = write_file([build_line()], tmp_path / "in", "jsonl")

    assert refuse(path, tmp_path, vendor="aws").rule == "vendor"


def test_a_folder_of_json_files_is_a_delivery(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name, cost in (("a.json", "1"), ("b.ndjson", "2.5")):
        (folder / name).write_bytes(write_json([build_line(cost=cost)]))

    result = read_delivery([folder], tmp_path, vendor="gcp")

    assert (result.sums("currency"), result.differences) == ({"USD": Decimal("3.5")}, [])


def test_json_files_beside_other_cost_files_are_not_read(tmp_path: Path) -> None:
    path = write_file([build_line(cost="4")], tmp_path / "in", "csv")
    (tmp_path / "in" / "notes.json").write_text("{}")

    result = read_delivery([path.parent], tmp_path, vendor="gcp")

    assert result.sums("currency") == {"USD": Decimal(4)}


def test_times_in_parquet_may_be_timestamps(tmp_path: Path) -> None:
    path = write_file([build_line()], tmp_path / "in", "parquet.double")
    table = pq.read_table(path)
    start = pa.array([datetime(2026, 9, 5, 7, tzinfo=UTC)], pa.timestamp("us", tz="UTC"))
    position = table.column_names.index("usage_start_time")
    pq.write_table(table.set_column(position, "usage_start_time", start), path)

    (row,) = read_delivery([path], tmp_path, vendor="gcp").rows

    assert row["usage_start"] == datetime(2026, 9, 5, 7, tzinfo=UTC)


def test_the_same_json_file_twice_is_refused(tmp_path: Path) -> None:
    paths = [write_file([build_line()], tmp_path / name, "jsonl") for name in ("a", "b")]

    with pytest.raises(CostFileError) as refusal:
        read_delivery(paths, tmp_path, vendor="gcp")
    assert refusal.value.rule == "same_part_twice"


def refuse(path: Path, folder: Path, vendor: str = "gcp", month: str | None = None) -> Any:
    with pytest.raises(CostFileError) as refusal:
        read_delivery([path], folder / "out", vendor=vendor, month=month)
    return refusal.value


@pytest.mark.parametrize("name", ["rounding error", "rounding_error", "Rounding_Error"])
def test_rounding_errors_are_entries(name: str) -> None:
    assert classify(name).kind == "entry"


@pytest.mark.parametrize(
    "text", ["2026-09", "202600", "202613", "000009", "20269", "", "２０２６０９"]
)
def test_an_invoice_month_has_six_digits(text: str) -> None:
    with pytest.raises(RuleViolation):
        parse_invoice_month(text)
