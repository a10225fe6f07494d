"""GET /m/core/invoices/{month} and GET /m/core/invoice/{month}/details"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation import exact_json
from nimbill.invoicing.documents import document
from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.customers.cloud_accounts.accounts import AZURE, add_account
from tests.customers.projects.projects import create_project
from tests.imports.aws_reports import report_line
from tests.invoicing.invoice_runs import prepare_example_a
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, PAYER, MonthEnd


def listed(month_end: MonthEnd, headers: Any = None) -> Any:
    response = month_end.get(f"/invoices/{MONTH}", headers)
    assert response.status_code == 200, response.text
    return exact_json.decode_stored(response.text)


def test_a_group_without_data_is_listed_with_empty_fields(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-1", language="en")

    assert listed(month_end) == {
        "total": {"stock": 0, "sales": 0, "azure_stock": 0, "azure_sales": 0},
        "billinggroup": [
            {
                "company_id": group,
                "name": "company",
                "billinggroup_id": "BG-1",
                "billinggroup_name": "name",
                "project_id": None,
                "project_code": None,
                "project_label": None,
                "project_currency": None,
                "month": MONTH,
                "invoice_no": None,
                "created_data": {"aws": None, "azure": None},
                "saved_data": {"aws": None, "azure": None},
                "default_data": {"aws": None, "azure": None},
                "accounts": [],
                "create_time": None,
                "update_time": None,
                "total": {"aws": None, "azure": None},
                "language": "en",
            }
        ],
    }


def test_created_saved_and_default_data_are_listed_together(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A, invoices={"aws": VALID_SETTING})
    item = {"enabled": True, "label": "setup", "unit_cost": 1, "quantity": 1, "total": 1}
    month_end.post(f"/billinggroup/{group}/freeformat/aws", {"additional_items": [item]})
    month_end.save_settings(group, memo="first")
    month_end.save_rate(group)
    month_end.create_invoices(group)
    month_end.save_settings(group, memo="second", discount_rate=0)

    (record,) = listed(month_end)["billinggroup"]

    created, saved, default = (
        record[name]["aws"] for name in ("created_data", "saved_data", "default_data")
    )
    assert (created["memo"], saved["memo"], default["memo"]) == ("first", "second", None)
    assert created["invoice_no"] == record["invoice_no"] == "202609-0001"
    assert (created["discount_rate"], saved["discount_rate"]) == (Decimal("0.05"), 0)
    assert created["exchange_rate"] == saved["exchange_rate"] == Decimal("150.25")
    assert created["additional_items"] == default["additional_items"] == [item]
    assert [account["customer_id"] for account in record["accounts"]] == list(ACCOUNTS_OF_A)
    assert record["create_time"] == record["update_time"] is not None


def test_a_group_is_listed_with_its_project_accounts_and_totals(month_end: MonthEnd) -> None:
    project = {"project_code": "P-7", "project_label": "移行", "project_currency": "usd"}
    project_id = create_project(month_end.service, **project)
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A, project_id=project_id)
    other = month_end.create_group("BG-B")
    add_account(month_end.service, group, **AZURE | {"name": "Azure"})
    month_end.import_costs(*EXAMPLE_A)
    month_end.prepare_groups(group)
    month_end.create_invoices(group)

    records = {record["company_id"]: record for record in listed(month_end)["billinggroup"]}

    record = records[group]
    names = ("project_id", "project_code", "project_label", "project_currency")
    assert [record[name] for name in names] == [project_id, "P-7", "移行", "usd"]
    assert record["accounts"] == [
        *(
            {
                "account_id": PAYER,
                "customer_id": customer_id,
                "customer_name": f"account {customer_id}",
                "vendor": "aws",
                "service_discount": None,
            }
            for customer_id in ACCOUNTS_OF_A
        ),
        {
            "account_id": AZURE["account_id"],
            "customer_id": AZURE["customer_id"],
            "customer_name": "Azure",
            "vendor": "azure",
            "service_discount": None,
        },
    ]
    assert record["total"] == {"aws": 190472, "azure": None}
    assert [records[other][name] for name in (*names, "accounts")] == [None] * 4 + [[]]
    assert records[other]["total"] == {"aws": None, "azure": None}


def test_listed_settings_can_be_saved_back(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)
    month_end.create_invoices(group)
    (record,) = listed(month_end)["billinggroup"]
    settings = {group: {"aws": record["created_data"]["aws"]}}

    response = month_end.put(f"/invoices/save/{MONTH}", {"settings": settings, "internal": False})

    assert response.status_code == 200, response.text


def test_totals_are_in_the_invoices_currency(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)
    month_end.create_invoices(group)

    total = listed(month_end)["total"]

    # 1070.706456789 USD at 150.25
    assert total == {"stock": 160874, "sales": 173156, "azure_stock": 0, "azure_sales": 0}


def test_totals_count_invoices_from_before_their_vendor_charges_were_stored(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = prepare_example_a(month_end)
    list_columns = document._list_columns
    monkeypatch.setattr(
        document, "_list_columns", lambda invoice: list_columns(invoice) | {"vendor_charges": None}
    )
    month_end.create_invoices(group)

    assert listed(month_end)["total"]["stock"] == 160874


def test_totals_of_several_currencies_are_in_yen(month_end: MonthEnd) -> None:
    yen, dollars = (month_end.create_group(f"BG-{n}", f"00000000000{n}") for n in (1, 2))
    month_end.import_costs(*(report_line("10", UsageAccountId=f"00000000000{n}") for n in (1, 2)))
    plain = {"support_fee": "fix", "substitution_rate": 0, "discount_rate": 0}
    month_end.prepare_groups(yen, **plain)
    month_end.prepare_groups(dollars, **plain | {"currency": "usd"})
    month_end.create_invoices()

    # twice ten dollars at 150.25, the one rounded on its invoice to 1503 yen
    assert listed(month_end)["total"]["sales"] == 3006
    assert listed(month_end)["total"]["stock"] == 3005


def test_restricted_users_see_only_their_billing_groups(month_end: MonthEnd) -> None:
    seen = month_end.create_group("BG-1", "000000000001")
    hidden = month_end.create_group("BG-2", "000000000002")
    month_end.import_costs(*(report_line("10", UsageAccountId=f"00000000000{n}") for n in (1, 2)))
    month_end.prepare_groups(seen, hidden)
    month_end.create_invoices()
    restricted = month_end.service.caller(RoleAction.ReadInvoice, billing_groups=[seen])

    shown = listed(month_end, restricted)
    details = month_end.get(f"/invoice/{MONTH}/details", restricted).json()

    assert [group["company_id"] for group in shown["billinggroup"]] == [seen]
    assert shown["total"]["sales"] * 2 == listed(month_end)["total"]["sales"]
    assert [account["customer_id"] for account in details["accounts"]] == ["000000000001"]
    assert [group["billing_group_id"] for group in details["billing_groups"]] == ["BG-1"]


def test_details_contain_only_created_invoices(month_end: MonthEnd) -> None:
    prepare_example_a(month_end)

    assert month_end.get(f"/invoice/{MONTH}/details").json() == {
        "accounts": [],
        "billing_groups": [],
    }


def test_details_list_totals_in_dollars_and_as_printed(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)
    month_end.create_invoices(group)

    details = exact_json.decode_stored(month_end.get(f"/invoice/{MONTH}/details").text)

    assert details["accounts"] == [
        {
            "customer_id": ACCOUNTS_OF_A[0],
            "customer_name": f"account {ACCOUNTS_OF_A[0]}",
            "total": Decimal("997.85"),  # 1050.373456789 less 5 %
            "total_exchanged": 149928,
            "adjustment_entries": [],
        },
        {
            "customer_id": ACCOUNTS_OF_A[1],
            "customer_name": f"account {ACCOUNTS_OF_A[1]}",
            "total": Decimal("19.32"),
            "total_exchanged": 2902,
            "adjustment_entries": [],
        },
    ]
    (of_group,) = details["billing_groups"]
    assert of_group == {
        "billing_group_id": "BG-A",
        "billing_group_name": "name",
        "vendor": "aws",
        # usage 1017.17113394955, support 101.7171133950, agency 3 % of both
        "tax_excluded_amount": Decimal("1152.45"),
        "tax_excluded_amount_exchanged": 173156,
        "tax": 17316,
        "total_amount_exchanged": 190472,
    }


def test_details_list_entries_with_their_account(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-1", "000000000001")
    month_end.import_costs(
        report_line(
            "672", UsageAccountId="000000000001", LineItemType="Fee", LineItemDescription="sign up"
        )
    )
    (entry,) = month_end.get(f"/billinggroup/recalculation/{MONTH}?vendor=aws").json()
    body = {
        "data": [entry["id"]],
        "month": MONTH,
        "exchange_rate": Decimal("120.5"),
        "tax_free": False,
        "apply": True,
        "vendor": "aws",
    }
    month_end.post("/billinggroup/recalculation", body)
    month_end.prepare_groups(group)
    month_end.create_invoices(group)

    (account,) = month_end.get(f"/invoice/{MONTH}/details").json()["accounts"]

    assert account["adjustment_entries"] == [
        {"name": "sign up", "amount": 672, "amount_exchanged": 80976}
    ]
    assert (account["total"], account["total_exchanged"]) == (672, 80976)
