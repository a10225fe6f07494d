"""A refused file says which format is nearest, what it lacks, and which vendors it contains."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.formats.detection import FORMATS, detect_layout
from tests.costs.cost_columns import AWS_CUR, AZURE_MCA, FOCUS_1_2, FOCUS_1_4, PARTNER_CENTER
from tests.costs.delivery_reader import read_delivery
from tests.costs.file_containers import write_lines

NONE_OF_THEM = ["name", "amount"]
# the file of a partner's invoice has sums of the daily rated usage, and purchases
PARTNER_INVOICE = ["PartnerId", "CustomerId", "InvoiceNumber", "SubscriptionId", "ChargeStartDate"]


def refuse(header: Sequence[str]) -> CostFileError:
    with pytest.raises(CostFileError) as caught:
        detect_layout("costs.csv", header)
    return caught.value


@pytest.mark.parametrize(
    ("header", "title", "missing"),
    [
        (
            [name for name in AWS_CUR if name != "lineItem/UnblendedCost"],
            "AWS Cost and Usage Report;",
            "lacks lineItem/UnblendedCost.",
        ),
        (
            [name for name in AZURE_MCA if name != "costInBillingCurrency"],
            "Azure cost export;",
            "lacks CostInBillingCurrency or Cost or PreTaxCost.",
        ),
        (
            [name for name in FOCUS_1_4 if name != "ServiceProviderName"],
            "FOCUS file;",
            "lacks ProviderName or ServiceProviderName.",
        ),
        (
            PARTNER_INVOICE,
            "Azure daily rated usage of Partner Center;",
            "lacks BillingPreTaxTotal, UsageDate, ChargeType, BillingCurrency.",
        ),
    ],
)
def test_the_nearest_format_and_its_missing_columns_are_named(
    header: Sequence[str], title: str, missing: str
) -> None:
    error = refuse(header)

    assert (error.rule, error.line) == ("unknown_format", 1)
    assert title in error.detail
    assert missing in error.detail


@pytest.mark.parametrize(
    ("separator", "name"), [(";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")]
)
@pytest.mark.parametrize(
    ("columns", "title"),
    [
        (AWS_CUR, "AWS Cost and Usage Report"),
        (AZURE_MCA, "Azure cost export"),
        (PARTNER_CENTER, "Azure daily rated usage of Partner Center"),
        (FOCUS_1_2, "FOCUS file"),
    ],
)
def test_another_separator_is_named(
    separator: str, name: str, columns: dict[str, str], title: str
) -> None:
    error = refuse([separator.join(columns)])

    assert error.rule == "unknown_format"
    assert f"header of the {title} with {name}; use commas" in error.detail


def test_another_separator_is_named_if_the_names_are_quoted(tmp_path: Path) -> None:
    file = tmp_path / "costs.csv"
    file.write_text(";".join(f'"{name}"' for name in AZURE_MCA) + "\n")

    with pytest.raises(CostFileError) as caught:
        read_delivery([file], tmp_path, vendor="azure")

    assert caught.value.rule == "unknown_format"
    assert "Azure cost export with semicolons" in caught.value.detail


@pytest.mark.parametrize("header", [[], [""], NONE_OF_THEM, ["請求", "x" * 1000]])
def test_a_header_without_any_known_column_lists_the_supported_files(header: list[str]) -> None:
    error = refuse(header)

    assert error.rule == "unknown_format"
    assert all(format_.title in error.detail for format_ in FORMATS)


def test_a_huge_first_line_is_refused_quickly() -> None:
    assert "too long" in refuse(["x" * 100] * 100_000).detail


def test_a_missing_column_names_the_format() -> None:
    error = refuse([name for name in AWS_CUR if name != "lineItem/CurrencyCode"])

    assert (error.rule, error.column) == ("column_missing", "lineItem/CurrencyCode")
    assert error.detail == "The header lacks this column of the AWS Cost and Usage Report."


def test_a_file_of_another_vendor_names_both(tmp_path: Path) -> None:
    file = write_lines(tmp_path, [{}], columns=AWS_CUR)

    with pytest.raises(CostFileError) as caught:
        read_delivery([file], tmp_path, vendor="azure")

    assert caught.value.rule == "vendor"
    assert caught.value.detail == (
        "This is an AWS Cost and Usage Report of the vendor aws; "
        "the import is for the vendor azure."
    )


def test_a_file_without_lines_of_the_vendor_names_the_vendors_that_it_has(tmp_path: Path) -> None:
    oracle = {"ProviderName": "Oracle", "InvoiceIssuerName": "Oracle"}
    nobody = {"ProviderName": "", "InvoiceIssuerName": ""}
    file = write_lines(tmp_path, [{}, {}, {}, oracle, oracle, nobody], columns=FOCUS_1_2)

    with pytest.raises(CostFileError) as caught:
        read_delivery([file], tmp_path, vendor="azure")

    assert caught.value.rule == "vendor_absent"
    assert caught.value.detail == (
        "There are no lines of the vendor azure; "
        "there are lines of AWS (3), Oracle (2), an unnamed provider (1)."
    )
