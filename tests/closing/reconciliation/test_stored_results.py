"""A stored result of the tie-out is shown while nothing has changed, and never afterwards."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any
from unittest.mock import patch

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.closing.reconciliation import records
from nimbill.closing.reconciliation.month_inputs import digest_accounts, load_accounts_digest
from nimbill.closing.reconciliation.stored_results import (
    EncodedResult,
    decode_result,
    store_result,
    tie_out_results,
)
from nimbill.closing.reconciliation.tie_out import AccountOwner
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import exact_json
from nimbill.foundation.billing_period import BillingPeriod
from tests.adjustments.reserved_instances.reservations import (
    list_moved_records,
    move_instances,
    remove_move,
)
from tests.closing.reconciliation.test_tie_out_route import RESERVED
from tests.costs.months.month_requests import close_month, reopen_month, run_in_transaction
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, PAYER, MonthEnd
from tests.problem_responses import read_problem

FIRST, SECOND = ACCOUNTS_OF_A
IN_NO_GROUP, OTHER_PAYER = "999999999999", "333333333333"
LINES = (
    *EXAMPLE_A,
    RESERVED,
    report_line("672", LineItemType="Fee", UsageAccountId=FIRST),
    report_line("7.75", UsageAccountId=IN_NO_GROUP),
)
PERIOD = BillingPeriod(MONTH, "aws")


def read_tie_out(month_end: MonthEnd, query: str = "?vendor=aws") -> Any:
    response = month_end.get(f"/invoices/tie-out/{MONTH}{query}")
    assert response.status_code == 200, response.text
    return exact_json.decode_stored(response.text)


def compare_anew(month_end: MonthEnd) -> Any:
    found = run_in_transaction(
        month_end.service,
        lambda db, scope: records.load_tie_out(db, scope, MONTH, ["aws"], from_data=True),
    )
    return exact_json.decode_stored(exact_json.encode(found).decode())


def load_results(month_end: MonthEnd) -> list[Row]:
    async def load(db: AsyncConnection, _scope: TenantScope) -> list[Row]:
        return list(await db.execute(sa.select(tie_out_results)))

    return run_in_transaction(month_end.service, load)


@pytest.fixture
def groups(month_end: MonthEnd) -> list[str]:
    """Two groups with an account each; only the first has an invoice."""
    found = [month_end.create_group(f"BG-{account}", account) for account in ACCOUNTS_OF_A]
    month_end.import_costs(*LINES)
    month_end.prepare_groups(*found)
    assert month_end.create_invoices(found[0]).status_code == 200
    return found


def get_entry_id(month_end: MonthEnd) -> str:
    (entry,) = month_end.get(f"/billinggroup/recalculation/{MONTH}?vendor=aws").json()
    entry_id: str = entry["id"]
    return entry_id


def apply_entry(month_end: MonthEnd, **fields: Any) -> None:
    body = {
        "data": [get_entry_id(month_end)],
        "month": MONTH,
        "exchange_rate": 0,
        "tax_free": False,
        "apply": True,
        "vendor": "aws",
    }
    response = month_end.post("/billinggroup/recalculation", body | fields)
    assert response.status_code == 200, response.text


def apply_again(month_end: MonthEnd, **fields: Any) -> None:
    apply_entry(month_end, apply=False)
    apply_entry(month_end, **fields)


def edit_account(month_end: MonthEnd, company_id: str, account_id: str = PAYER) -> None:
    body = {"vendor": "aws", "account_id": account_id, "company_id": company_id, "name": "moved"}
    response = month_end.put(f"/accts/{FIRST}/edit", body)
    assert response.status_code == 200, response.text


def move_one(month_end: MonthEnd) -> None:
    assert move_instances(month_end.service, 1, SECOND).status_code == 200


def return_move(month_end: MonthEnd) -> None:
    (moved,) = list_moved_records(month_end.service)
    assert remove_move(month_end.service, moved["id"]).status_code == 200


def nothing(_month_end: MonthEnd, _groups: list[str]) -> None:
    pass


def invoice_entry(month_end: MonthEnd, groups: list[str]) -> None:
    apply_entry(month_end)
    assert month_end.create_invoices(groups[0]).status_code == 200


def close_and_move(month_end: MonthEnd, _groups: list[str]) -> None:
    assert close_month(month_end.service, MONTH).status_code == 200
    move_one(month_end)


Change = Callable[[MonthEnd, list[str]], Any]

# what is done before the result is stored, and what it does not survive
CHANGES: dict[str, tuple[Change, Change]] = {
    "a later import": (nothing, lambda month, _: month.import_costs(*LINES[1:])),
    "an import with other entries": (nothing, lambda month, _: month.import_costs(*LINES[:4])),
    "an import of another payer": (
        nothing,
        lambda month, _: month.import_costs(
            report_line("5", PayerAccountId=OTHER_PAYER, UsageAccountId=FIRST)
        ),
    ),
    "a first invoice": (nothing, lambda month, groups: month.create_invoices(groups[1])),
    "a revision of an invoice": (
        lambda month, _: month.import_costs(*LINES[1:]),
        lambda month, groups: month.create_invoices(groups[0]),
    ),
    "an account placed in a group": (
        nothing,
        lambda month, groups: month.add_account(groups[0], IN_NO_GROUP),
    ),
    "an account placed in another group": (
        lambda month, groups: month.import_costs(
            *LINES, report_line("3", LineItemType="Credit", UsageAccountId=SECOND)
        ),
        lambda month, groups: month.put(
            f"/accts/{SECOND}/edit",
            {"vendor": "aws", "account_id": PAYER, "company_id": groups[0], "name": "moved"},
        ),
    ),
    "an account of another payer": (
        lambda month, _: month.import_costs(
            *LINES,
            report_line("5", PayerAccountId=OTHER_PAYER, UsageAccountId=FIRST),
        ),
        lambda month, groups: edit_account(month, groups[0], OTHER_PAYER),
    ),
    "an applied entry": (nothing, lambda month, _: apply_entry(month)),
    "an entry applied at another rate": (
        invoice_entry,
        lambda month, _: apply_again(month, exchange_rate=140),
    ),
    "an entry applied without tax": (
        invoice_entry,
        lambda month, _: apply_again(month, tax_free=True),
    ),
    "an entry taken back": (
        lambda month, _: apply_entry(month),
        lambda month, _: apply_entry(month, apply=False),
    ),
    "a moved reservation": (nothing, lambda month, _: move_one(month)),
    "a returned reservation": (
        lambda month, _: move_one(month),
        lambda month, _: return_move(month),
    ),
    "a reopened month, with the moves since it was closed": (
        close_and_move,
        lambda month, _: reopen_month(month.service, MONTH),
    ),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_stored_result_does_not_survive(
    month_end: MonthEnd, groups: list[str], kind: str
) -> None:
    prepare, change = CHANGES[kind]
    prepare(month_end, groups)
    before = read_tie_out(month_end)
    assert before == compare_anew(month_end)
    (stored,) = load_results(month_end)

    change(month_end, groups)
    after = read_tie_out(month_end)

    assert after == compare_anew(month_end)
    assert after != before
    (stored_after,) = load_results(month_end)
    assert stored_after.fingerprint != stored.fingerprint


def test_the_month_shows_a_change_at_once(month_end: MonthEnd, groups: list[str]) -> None:
    def list_blockers() -> dict[str, list[str]]:
        steps = month_end.get(f"/months/{MONTH}?vendor=aws").json()["steps"]
        (closed,) = (step for step in steps if step["step"] == "closed")
        return {blocker["reason"]: blocker["subjects"] for blocker in closed["blockers"]}

    assert list_blockers() == {"invoice_missing": [groups[1]]}

    month_end.import_costs(*LINES[1:])

    assert list_blockers() == {"invoice_missing": [groups[1]], "amount_differs": [groups[0]]}


@pytest.mark.usefixtures("groups")
def test_unchanged_data_is_not_compared_again(month_end: MonthEnd) -> None:
    first = read_tie_out(month_end)
    month = month_end.get(f"/months/{MONTH}?vendor=aws").json()

    with patch.object(records, "load_amounts", side_effect=AssertionError("compared again")):
        second = read_tie_out(month_end)
        page = read_tie_out(month_end, "?vendor=aws&limit=1&offset=1")
        month_again = month_end.get(f"/months/{MONTH}?vendor=aws").json()

    assert second == first == compare_anew(month_end)
    assert month_again == month
    assert page["counts"] == first["counts"]
    assert page["payers"] == first["payers"]
    for name in ("differences", "entry_differences", "accounts_in_no_group"):
        assert page[name] == first[name][1:2]


def test_closing_does_not_trust_a_stored_result(month_end: MonthEnd, groups: list[str]) -> None:
    month_end.create_invoices(groups[1])
    tied = read_tie_out(month_end)
    (good,) = load_results(month_end)
    month_end.import_costs(*LINES[1:])
    read_tie_out(month_end)
    (differing,) = load_results(month_end)
    run_in_transaction(
        month_end.service,
        lambda db, scope: store_result(
            db, scope, PERIOD, differing.fingerprint, EncodedResult(good.summary, good.lists)
        ),
    )
    assert read_tie_out(month_end) == tied

    refused = close_month(month_end.service, MONTH, override=False, reason=None)

    violations = read_problem(refused, 409)["violations"]
    assert {"field": groups[0], "rule": "amount_differs"} in violations


@pytest.mark.parametrize("customer_ids", [(), ("1", "12", "9"), ("é", "z", "商事", "a b", "Z")])
def test_the_database_computes_the_same_digest_of_accounts(
    month_end: MonthEnd, customer_ids: tuple[str, ...]
) -> None:
    group = month_end.create_group("BG-1")
    owners = {
        customer_id: AccountOwner(group, f"payer {customer_id}") for customer_id in customer_ids
    }

    async def load(db: AsyncConnection, scope: TenantScope) -> str:
        for customer_id, owner in owners.items():
            values = {"customer_id": customer_id, "company_id": group, "account_id": owner.payer_id}
            await db.execute(
                sa.insert(cloud_accounts).values(
                    organisation_id=scope.organisation_id, vendor="aws", name="name", **values
                )
            )
        return await load_accounts_digest(db, scope, "aws")

    assert run_in_transaction(month_end.service, load) == digest_accounts(owners)


def test_a_month_without_data_stores_no_result(month_end: MonthEnd) -> None:
    assert read_tie_out(month_end)["state"] == "nothing_to_compare"

    assert load_results(month_end) == []


@pytest.mark.usefixtures("groups")
def test_a_stored_result_keeps_every_digit(month_end: MonthEnd) -> None:
    tiny = "0.0000000001"
    month_end.import_costs(*LINES, report_line(tiny, UsageAccountId=FIRST))
    read_tie_out(month_end)

    (row,) = load_results(month_end)

    stored = decode_result(EncodedResult(row.summary, row.lists))
    (difference,) = (
        found for found in stored.lists.differences if found.reason == "amount_differs"
    )
    assert difference.difference == Decimal(tiny)
    assert difference.counts == Decimal("1030.1234567891")
