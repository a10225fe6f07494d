"""Amortised costs are refused by content; the same files with actual costs are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

import pytest

from nimbill.costs.cost_file_error import CostFileError
from tests.costs.cost_columns import AWS_CUR, AZURE_MCA, FOCUS_1_2, FOCUS_1_4
from tests.costs.delivery_reader import DeliveryResult, read_delivery
from tests.costs.file_containers import write_lines

AWS_EFFECTIVE = AWS_CUR | {
    "reservation/EffectiveCost": "",
    "savingsPlan/SavingsPlanARN": "",
    "savingsPlan/SavingsPlanEffectiveCost": "",
}
RESERVED = {"reservationId": "4d5c3b2a-0000-0000-0000-000000000001"}
OLD_AZURE = {name: value for name, value in AZURE_MCA.items() if name != "pricingModel"}
MICROSOFT = {"ProviderName": "Microsoft", "PublisherName": "Microsoft"}
GOOGLE = {"ProviderName": "Google Cloud", "PublisherName": "Google Cloud"}

Lines = Sequence[Mapping[str, str]]


def azure(cost: str, model: str, charge_type: str = "Usage") -> dict[str, str]:
    return {"costInBillingCurrency": cost, "pricingModel": model, "chargeType": charge_type}


def aws(cost: str, line_type: str, **effective: str) -> dict[str, str]:
    names = {
        "reservation": "reservation/EffectiveCost",
        "plan": "savingsPlan/SavingsPlanEffectiveCost",
    }
    line = {"lineItem/UnblendedCost": cost, "lineItem/LineItemType": line_type}
    if "plan" in effective:
        line["savingsPlan/SavingsPlanARN"] = "arn:aws:savingsplans::1:savingsplan/x"
    return line | {names[name]: value for name, value in effective.items()}


def focus(cost: str, status: str, category: str = "Usage", **others: str) -> dict[str, str]:
    commitment = {"CommitmentDiscountStatus": status, "CommitmentDiscountId": "plan-1"}
    return {"BilledCost": cost, "ChargeCategory": category, **commitment, **others}


def read(
    folder: Path, columns: Mapping[str, str], lines: Lines, vendor: str, container: str = "csv"
) -> DeliveryResult:
    file = write_lines(folder, lines, columns=columns, container=container)
    return read_delivery([file], folder, vendor=vendor)


@pytest.mark.parametrize(
    ("columns", "vendor", "line", "column"),
    [
        (AZURE_MCA, "azure", azure("0.5", "Reservation"), "costInBillingCurrency"),
        (AZURE_MCA, "azure", azure("0.0000000001", "SavingsPlan"), "costInBillingCurrency"),
        (AZURE_MCA, "azure", azure("-0.5", "Savings Plan"), "costInBillingCurrency"),
        (AZURE_MCA, "azure", azure("0.5", "Reservation", ""), "costInBillingCurrency"),
        (AZURE_MCA, "azure", azure("0.5", "") | RESERVED, "costInBillingCurrency"),
        (OLD_AZURE, "azure", {"costInBillingCurrency": "2"} | RESERVED, "costInBillingCurrency"),
        (AZURE_MCA, "azure", azure("0.5", "Reservation", "UnusedReservation"), "chargeType"),
        (AZURE_MCA, "azure", azure("0", "SavingsPlan", "UnusedSavingsPlan"), "chargeType"),
        (FOCUS_1_2, "aws", focus("0.5", "Used"), "BilledCost"),
        (FOCUS_1_2, "aws", focus("0.5", "Unused"), "BilledCost"),
        (FOCUS_1_4, "aws", focus("0.5", "Used"), "BilledCost"),
        (FOCUS_1_2 | MICROSOFT, "azure", focus("0.5", "Used"), "BilledCost"),
        (
            AWS_EFFECTIVE,
            "aws",
            aws("0.077", "DiscountedUsage", reservation="0.0770000000"),
            "lineItem/UnblendedCost",
        ),
    ],
)
def test_amortised_costs_are_refused_with_the_first_line_that_shows_it(
    tmp_path: Path, columns: Mapping[str, str], vendor: str, line: Mapping[str, str], column: str
) -> None:
    with pytest.raises(CostFileError) as caught:
        read(tmp_path, columns, [{}, {}, line, line], vendor)

    error = caught.value
    assert (error.rule, error.line, error.column) == ("amortised", 4, column)


@pytest.mark.parametrize("container", ["csv.gz", "csv.zip", "parquet"])
def test_amortised_costs_are_refused_in_every_container(tmp_path: Path, container: str) -> None:
    with pytest.raises(CostFileError) as caught:
        read(tmp_path, AZURE_MCA, [{}, azure("0.5", "Reservation")], "azure", container)

    assert caught.value.rule == "amortised"


def test_of_two_signs_the_earlier_line_is_named(tmp_path: Path) -> None:
    lines = [azure("1", "Reservation"), azure("1", "", "UnusedReservation")]

    with pytest.raises(CostFileError) as caught:
        read(tmp_path / "a", AZURE_MCA, lines, "azure")
    with pytest.raises(CostFileError) as reverse:
        read(tmp_path / "b", AZURE_MCA, lines[::-1], "azure")

    assert (caught.value.line, caught.value.column) == (2, "costInBillingCurrency")
    assert (reverse.value.line, reverse.value.column) == (2, "chargeType")


@pytest.mark.parametrize(
    ("columns", "vendor", "line", "parts"),
    [
        (
            AZURE_MCA,
            "azure",
            azure("1", "Reservation"),
            ("Azure cost export (azure)", "ActualCost"),
        ),
        (FOCUS_1_2, "aws", focus("1", "Used"), ("FOCUS file (aws)", "BilledCost")),
        (
            AWS_EFFECTIVE,
            "aws",
            aws("1", "DiscountedUsage", reservation="1"),
            ("AWS Cost and Usage Report (aws)", "unblended"),
        ),
    ],
)
def test_the_error_names_the_vendor_the_format_and_what_to_import(
    tmp_path: Path,
    columns: Mapping[str, str],
    vendor: str,
    line: Mapping[str, str],
    parts: tuple[str, ...],
) -> None:
    with pytest.raises(CostFileError) as caught:
        read(tmp_path, columns, [line], vendor)

    assert all(part in caught.value.detail for part in (*parts, "amortised costs", "Instead"))


@pytest.mark.parametrize(
    ("columns", "vendor", "lines", "total"),
    [
        (
            AZURE_MCA,
            "azure",
            [azure("0", "Reservation"), azure("0.0", "SavingsPlan"), azure("2.5", "OnDemand")],
            "2.5",
        ),
        (
            AZURE_MCA,
            "azure",
            [azure("3.25", "Reservation", "Purchase"), azure("-1", "SavingsPlan", "Refund")],
            "2.25",
        ),
        (AZURE_MCA, "azure", [azure("1.5", "OnDemand") | RESERVED], "1.5"),
        (OLD_AZURE, "azure", [{"costInBillingCurrency": "0"} | RESERVED, {}], "1"),
        (FOCUS_1_2, "aws", [focus("0", "Used"), focus("0", "Unused"), focus("2", "")], "2"),
        (FOCUS_1_2, "aws", [focus("9.5", "", "Purchase")], "9.5"),
        (FOCUS_1_2, "aws", [focus("-3", "Used", ChargeClass="Correction")], "-3"),
        (FOCUS_1_2 | GOOGLE, "gcp", [focus("0.5", "Used")], "0.5"),
        (AWS_EFFECTIVE, "aws", [aws("0", "DiscountedUsage", reservation="0.077")], "0"),
        (AWS_EFFECTIVE, "aws", [aws("0.01", "DiscountedUsage", reservation="0.077")], "0.01"),
        (
            AWS_EFFECTIVE,
            "aws",
            [aws("0.5", "SavingsPlanCoveredUsage", plan="0.5"), aws("-0.5", "SavingsPlanNegation")],
            "0",
        ),
    ],
)
def test_actual_costs_of_commitments_are_read(
    tmp_path: Path, columns: Mapping[str, str], vendor: str, lines: Lines, total: str
) -> None:
    result = read(tmp_path, columns, lines, vendor)

    assert result.conversion.lines == len(lines)
    assert sum(result.sums("line_type").values(), Decimal(0)) == Decimal(total)
    assert result.differences == []
