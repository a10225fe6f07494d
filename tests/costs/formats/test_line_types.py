"""Every line type of every vendor is billed as the table of choice `cost-lines` says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from nimbill.costs.cost_line import EntryType, LineKind
from nimbill.costs.formats import aws_cur, azure, focus
from nimbill.costs.formats.format import Format
from tests.contract.specification import parse_table, read_choice
from tests.costs.delivery_reader import read_delivery
from tests.imports.aws_reports import COLUMNS as AWS_COLUMNS
from tests.imports.aws_reports import build_report

TABLE = parse_table(read_choice("cost-lines"), "Lines")
KINDS = {
    "usage": LineKind.usage,
    "recalculation entry": LineKind.entry,
    "vendor tax, kept apart, never resold": LineKind.tax,
    "vendor discounts, kept by the reseller, shown in stock": LineKind.discount,
}
FORMATS = {"aws": aws_cur.AWS_CUR, "azure": azure.AZURE, "focus": focus.FOCUS}
ANY_DISCOUNT, ANY_CORRECTION = "every *Discount", "anything with ChargeClass Correction"
CATEGORIES = ("Usage", "Purchase", "Credit", "Adjustment")  # of FOCUS, without Tax
# what the two rows that name no type stand for
EXAMPLES = {
    ANY_DISCOUNT: ("EdpDiscount", "BundledDiscount", "PrivateRateDiscount", "NewDiscount"),
    ANY_CORRECTION: tuple(f"{category} Correction" for category in CATEGORIES),
}
CALC_TYPES: Mapping[str, Mapping[str, EntryType]] = {
    "aws": {
        "Fee": EntryType.fee,
        "Credit": EntryType.credit,
        "Refund": EntryType.refund,
        "SavingsPlanUpfrontFee": EntryType.upfront,
    },
    "azure": {
        "Purchase": EntryType.fee,
        "Refund": EntryType.refund,
        "RoundingAdjustment": EntryType.fee,
    },
    "focus": {
        "Purchase": EntryType.fee,
        "Credit": EntryType.credit,
        "Adjustment": EntryType.fee,
        "Usage Correction": EntryType.refund,
        "Purchase Correction": EntryType.fee,
        "Credit Correction": EntryType.credit,
        "Adjustment Correction": EntryType.fee,
    },
}


def list_types(vendor: str) -> dict[str, LineKind]:
    """Return the kind of every line type that the table has for a vendor."""
    column = 1 + list(FORMATS).index(vendor)
    return {
        line_type: KINDS[row[0]]
        for row in TABLE
        for name in filter(None, (cell.strip() for cell in row[column].split(", ")))
        for line_type in EXAMPLES.get(name, (name,))
    }


TYPES = [
    (vendor, line_type, kind)
    for vendor in FORMATS
    for line_type, kind in list_types(vendor).items()
]


def test_the_table_has_every_row_and_vendor() -> None:
    assert [row[0] for row in TABLE] == list(KINDS)
    assert {vendor: len(list_types(vendor)) for vendor in FORMATS} == {
        "aws": 15,
        "azure": 6,
        "focus": 9,
    }


@pytest.mark.parametrize(("vendor", "line_type", "kind"), TYPES)
def test_a_line_type_is_billed_as_the_table_says(
    vendor: str, line_type: str, kind: LineKind
) -> None:
    expected = (kind, CALC_TYPES[vendor].get(line_type))

    assert tuple(FORMATS[vendor].classify(line_type)) == expected


def test_formats_have_no_line_type_that_the_table_lacks() -> None:
    types = {
        "aws": aws_cur.LINE_TYPES.keys(),
        "azure": azure.LINE_TYPES.keys(),
        "focus": focus.CATEGORIES.keys(),
    }

    assert {vendor: set(types[vendor]) - set(list_types(vendor)) for vendor in types} == {
        "aws": set(),
        "azure": set(),
        "focus": set(),
    }


@pytest.mark.parametrize("format_", FORMATS.values(), ids=list(FORMATS))
@pytest.mark.parametrize("line_type", ["usage", "Usages", "Discounted", "", "Surcharge"])
def test_other_line_types_are_unknown(format_: Format, line_type: str) -> None:
    assert format_.classify(line_type).kind is LineKind.unknown


@pytest.mark.parametrize(
    ("line_type", "kind"),
    [("Tax Correction", LineKind.tax), ("Surcharge Correction", LineKind.unknown)],
)
def test_a_correction_of_tax_or_of_an_unknown_category_is_no_entry(
    line_type: str, kind: LineKind
) -> None:
    assert focus.FOCUS.classify(line_type).kind is kind


# the columns that a file needs, with a value for each line
LINES: Mapping[str, Mapping[str, str]] = {
    "aws": AWS_COLUMNS,
    "azure": {
        "SubscriptionId": "00000000-0000-0000-0000-000000000001",
        "ChargeType": "Usage",
        "CostInBillingCurrency": "1",
        "BillingCurrency": "USD",
        "Date": "2026-09-05",
        "BillingPeriodStartDate": "2026-09-01",
    },
    "focus": {
        "BillingAccountId": "000000000042",
        "SubAccountId": "000000000001",
        "ProviderName": "AWS",
        "BillingPeriodStart": "2026-09-01T00:00:00Z",
        "ChargeCategory": "Usage",
        "ChargeClass": "",
        "ServiceName": "Amazon EC2",
        "BilledCost": "1",
        "BillingCurrency": "USD",
        "ChargePeriodStart": "2026-09-05T00:00:00Z",
    },
}


def build_line(vendor: str, line_type: str) -> dict[str, str]:
    if vendor != "focus":
        column = {"aws": "lineItem/LineItemType", "azure": "ChargeType"}[vendor]
        return {**LINES[vendor], column: line_type}
    category, _, charge_class = line_type.partition(" ")
    return {**LINES[vendor], "ChargeCategory": category, "ChargeClass": charge_class}


@pytest.mark.parametrize("vendor", FORMATS)
def test_the_lines_of_a_file_get_these_kinds_in_both_readings(tmp_path: Path, vendor: str) -> None:
    types = list_types(vendor)
    file = tmp_path / "costs.csv"
    file.write_bytes(build_report([build_line(vendor, name) for name in types], LINES[vendor]))

    result = read_delivery([file], tmp_path, vendor="aws" if vendor == "focus" else vendor)

    assert {row["line_type"]: row["kind"] for row in result.rows} == types
    assert {
        row["line_type"]: row["entry_type"] for row in result.rows if row["entry_type"]
    } == CALC_TYPES[vendor]
    assert result.differences == []
