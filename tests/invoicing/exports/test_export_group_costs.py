"""The cost column of the billing group file: the latest invoiced amount of each group."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from tests.customers.cloud_accounts.accounts import AZURE, add_account
from tests.invoicing.exports.export_requests import export_rows
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MonthEnd
from tests.subusers import create_subuser

COST = 8


def costs(month_end: MonthEnd, headers: dict[str, str] | None = None) -> dict[str, str]:
    """By billinggroup_id."""
    return {row[0]: row[COST] for row in export_rows(month_end.service, headers=headers)}


def bill(month_end: MonthEnd, group: str, **fields: Any) -> None:
    month_end.prepare_groups(group, **fields)
    response = month_end.create_invoices(group)
    assert response.status_code == 200, response.text


def azure(month_end: MonthEnd, group: str, total: str) -> MonthEnd:
    """The same month at the other vendor, with an item of this total."""
    service = month_end.service
    add_account(service, group, **AZURE)
    item = {"enabled": True, "label": "flat", "unit_cost": 1, "quantity": 1}
    response = month_end.post(
        f"/billinggroup/{group}/freeformat/azure",
        {"additional_items": [item | {"total": Decimal(total)}]},
    )
    assert response.status_code == 200, response.text
    return MonthEnd(service, month_end.folder, month_end.month, "azure")


def test_the_cost_is_empty_before_the_first_invoice(month_end: MonthEnd) -> None:
    month_end.prepare_groups(month_end.create_group("BG-A", *ACCOUNTS_OF_A))

    assert costs(month_end) == {"BG-A": ""}


def test_the_cost_is_the_current_pre_tax_amount_of_the_newest_month(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    month_end.import_costs(*EXAMPLE_A)
    bill(month_end, group)
    earlier = MonthEnd(month_end.service, month_end.folder, "2026-08")
    bill(earlier, group)
    assert costs(month_end) == {"BG-A": "173156"}

    month_end.save_settings(group, discount_rate=Decimal(1))
    assert costs(month_end) == {"BG-A": "173156"}
    month_end.create_invoices(group)
    assert costs(month_end) == {"BG-A": str(month_end.get_invoice(group)["sheet"]["pre_tax"])}
    assert costs(month_end) != {"BG-A": "173156"}


def test_the_vendors_of_the_month_are_added(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    month_end.import_costs(*EXAMPLE_A)
    bill(month_end, group)
    bill(azure(month_end, group, "100"), group, support_fee="percent")

    assert costs(month_end) == {"BG-A": "173256"}


def test_two_currencies_are_added_in_yen_at_the_rate_of_each_invoice(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    month_end.import_costs(*EXAMPLE_A)
    bill(month_end, group)
    bill(azure(month_end, group, "100.5"), group, support_fee="percent", currency="usd")

    assert costs(month_end) == {"BG-A": "188256"}  # 173156 + 100.5 × 150.25 = 188256.125


def test_a_single_currency_is_not_converted(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-A")
    bill(azure(month_end, group, "100.5"), group, support_fee="percent", currency="usd")

    assert costs(month_end) == {"BG-A": "100.50"}


def test_restricted_users_see_only_the_cost_of_their_groups(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    other = month_end.create_group("BG-B")
    month_end.import_costs(*EXAMPLE_A)
    bill(month_end, group)
    person = create_subuser(
        month_end.service, core=["ReadBillingGroup"], filters=[("core", "billingGroup", other)]
    )

    assert costs(month_end, person.core) == {"BG-B": ""}
