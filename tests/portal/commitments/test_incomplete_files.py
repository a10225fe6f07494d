"""Reservations and savings plans whose files state less than AWS reports do."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.customers.cloud_accounts.accounts import add_account
from tests.customers.resellers.reseller_accounts import create_reseller
from tests.imports.in_process_importer import InProcessImporter
from tests.invoicing.month_end import MONTH, PAYER
from tests.portal.commitments.commitment_lines import (
    ARN,
    OWN,
    REPORT_COLUMNS,
    import_lines,
    on_demand_hours,
    plan_lines,
    reservation_fee,
    reserved_hours,
)
from tests.portal.portal_customer import ALL_FLAGS, PortalCustomer

SUBSCRIPTION = "0f8fad5b-d9cb-469f-a165-70867728950e"
AZURE_COLUMNS = (
    "BillingAccountId,SubscriptionId,ChargeType,MeterCategory,MeterName,CostInBillingCurrency,"
    "BillingCurrency,Date,ReservationId,PricingModel,BenefitId,Quantity,UnitOfMeasure"
)


def test_use_is_unknown_if_a_covered_line_has_no_quantity(
    customer: PortalCustomer, tmp_path: Path
) -> None:
    import_lines(customer, tmp_path, reservation_fee(), reserved_hours("5"), reserved_hours(""))

    (row,) = customer.get("/ri/utilization", month=MONTH)["rows"]

    assert (row["hours_bought"], row["hours_used"], row["percentage"]) == (1920, None, None)


def test_use_without_normalisation_factors_is_counted_in_plain_hours(
    customer: PortalCustomer, tmp_path: Path
) -> None:
    import_lines(
        customer, tmp_path, reservation_fee(), reserved_hours("5"), reserved_hours("7", factor="")
    )

    (row,) = customer.get("/ri/utilization", month=MONTH)["rows"]

    assert (row["hours_used"], row["percentage"]) == (12, Decimal("0.63"))


def test_bought_hours_are_unknown_without_a_term(customer: PortalCustomer, tmp_path: Path) -> None:
    fee = reservation_fee(reservation_start="", reservation_end="")
    import_lines(customer, tmp_path, fee, reserved_hours("5"))

    (row,) = customer.get("/ri/utilization", month=MONTH)["rows"]

    assert (row["hours_bought"], row["hours_used"], row["percentage"]) == (None, 5, None)


def test_a_file_without_columns_of_quantities_shows_no_use_and_no_recommendation(
    customer: PortalCustomer, tmp_path: Path
) -> None:
    missing = ("lineItem/UsageAmount", "pricing/unit")
    columns = {name: value for name, value in REPORT_COLUMNS.items() if name not in missing}
    lines = [reservation_fee(), reserved_hours(""), *(on_demand_hours(d, "", "1") for d in (1, 2))]
    shortened = [
        {name: value for name, value in line.items() if name not in missing} for line in lines
    ]
    import_lines(customer, tmp_path, *shortened, columns=columns)

    (row,) = customer.get("/ri/utilization", month=MONTH)["rows"]

    assert (row["reservation_id"], row["hours_used"]) == (ARN, None)
    assert customer.get("/ri/recommendation", month=MONTH)["rows"] == []


@pytest.fixture
def azure(customer: PortalCustomer, tmp_path: Path) -> PortalCustomer:
    """A customer with a subscription that bought a reservation and a savings plan."""
    add_account(
        customer.service,
        customer.company_id,
        customer_id=SUBSCRIPTION,
        account_id="1234567",
        name="subscription",
        vendor="azure",
    )
    rows = [
        azure_row("Purchase", "D2s v3,50", 1, "r-1,Reservation,,1,1"),
        azure_row("Usage", "D2s v3,0", 2, "r-1,Reservation,,24,1 Hour"),
        azure_row("Purchase", ",70", 1, ",SavingsPlan,sp-1,1,1"),
        *(azure_row("Usage", "E4s v5,2", day, ",OnDemand,,24,1 Hour") for day in range(1, 31)),
    ]
    file = tmp_path / "azure.csv"
    file.write_text("\n".join([AZURE_COLUMNS, *rows, ""]))
    importer = InProcessImporter(customer.service, customer.service.organisation, tmp_path)
    record = importer(file, vendor="azure")
    assert record["state"] == "done", record
    return customer


def azure_row(charge_type: str, meter_and_cost: str, day: int, commitment: str) -> str:
    account = f"1234567,{SUBSCRIPTION},{charge_type},Virtual Machines"
    return f"{account},{meter_and_cost},USD,2026-09-{day:02},{commitment}"


def read_rows(customer: PortalCustomer, path: str) -> Any:
    return customer.get(path, month=MONTH)["rows"]


def test_commitments_of_azure_are_shown_as_far_as_their_lines_have_ids(
    azure: PortalCustomer,
) -> None:
    (reservation,) = read_rows(azure, "/ri")
    (use,) = read_rows(azure, "/ri/utilization")
    (plan,) = read_rows(azure, "/sp")
    (recommendation,) = read_rows(azure, "/ri/recommendation")

    assert (reservation["reservation_id"], reservation["number"]) == ("r-1", None)
    assert (use["hours_bought"], use["hours_used"], use["percentage"]) == (None, 24, None)
    assert (plan["savings_plan_id"], plan["fee"], plan["used_percentage"]) == ("sp-1", None, None)
    assert (recommendation["usage_type"], recommendation["number"]) == ("E4s v5", 1)


def test_an_account_that_left_shows_its_invoiced_month_to_the_former_customer_only(
    customer: PortalCustomer, tmp_path: Path
) -> None:
    month_end = customer.month_end
    lines = [
        reservation_fee(),
        *plan_lines(),
        *(on_demand_hours(d, "24", "1") for d in range(1, 31)),
    ]
    import_lines(customer, tmp_path, *lines)
    month_end.prepare_groups(customer.company_id)
    assert month_end.create_invoices(customer.company_id).status_code == 200
    paths = ("/ri", "/ri/utilization", "/ri/recommendation", "/sp")
    other = month_end.create_group("BG-2", "444444444444")
    stranger = create_reseller(customer.service, other, email="other@example.com", meta=ALL_FLAGS)
    body = {"company_id": other, "vendor": "aws", "name": "now theirs", "account_id": PAYER}
    assert month_end.put(f"/accts/{OWN}/edit", body).status_code == 200

    own = {path: read_rows(customer, path) for path in paths}
    foreign = {path: customer.get(path, stranger.portal, month=MONTH)["rows"] for path in paths}

    assert {path: len(rows) for path, rows in own.items()} == dict.fromkeys(paths, 1)
    assert {row["customer_name"] for rows in own.values() for row in rows} == {OWN}
    assert foreign == {path: [] for path in paths}
