"""POST /m/core/billinggroup/{company_id}/preview/{month}"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.database.embedded_postgres import Address
from nimbill.foundation import exact_json
from tests.contract.superuser import Superuser, connect_superuser
from tests.costs.months.month_requests import close_month, reopen_month
from tests.invoicing.invoice_runs import prepare_example_a
from tests.invoicing.month_end import MONTH, SETTING, MonthEnd
from tests.problem_responses import read_problem, read_violations

# terms with values of the update column, which swaps the values of two fields
TERMS = SETTING | {
    "substitution_fee_calc_target": "cloudpaywithfee",
    "substitution_fee_target_usage": "discounted",
    "support_fee_calc_target": "cloudpaywithfee",
    "tax_rate": Decimal("0.08"),
}


@pytest.fixture(scope="module")
def group(shared_month_end: MonthEnd) -> str:
    company_id = prepare_example_a(shared_month_end)
    assert shared_month_end.create_invoices(company_id).status_code == 200
    return company_id


@pytest.fixture(scope="module")
def database(shared_month_end: MonthEnd, superuser: Address) -> Iterator[Superuser]:
    with connect_superuser(shared_month_end.service, superuser) as connection:
        yield connection


def send(month_end: MonthEnd, group: str, headers: Any = None, **fields: Any) -> Any:
    month = fields.pop("month", MONTH)
    target = fields.pop("support_fee_target", None)
    body = {"vendor": "aws", "invoices": TERMS | fields, "support_fee_target": target}
    return month_end.post(f"/billinggroup/{group}/preview/{month}", body, headers)


def read_preview(month_end: MonthEnd, group: str, **fields: Any) -> Any:
    response = send(month_end, group, **fields)
    assert response.status_code == 200, response.text
    return exact_json.decode_stored(response.text)


def test_a_preview_compares_the_month_under_both_terms(
    shared_month_end: MonthEnd, group: str
) -> None:
    invoice = shared_month_end.get_invoice(group)["sheet"]

    found = read_preview(shared_month_end, group, discount_rate=Decimal("0.10"))

    assert found["current"] == invoice
    assert found["exchange_rate"] == Decimal("150.25")
    assert found["preview"]["lines"][0]["after"] == 135242  # 1000.123456789 × 0.9 × 150.25
    for name in ("usage_charge", "usage_after", "pre_tax", "tax", "total"):
        expected = found["preview"][name] - found["current"][name]
        assert found["difference"][name] == expected, name
    for name in ("support", "agency"):
        expected = found["preview"][name]["after"] - found["current"][name]["after"]
        assert found["difference"][name] == expected, name
    assert found["difference"]["usage_charge"] == 0
    assert found["difference"]["total"] < 0


def test_a_preview_shows_the_margin_of_both_terms(shared_month_end: MonthEnd, group: str) -> None:
    """A discount that costs more than the fees bring is seen before it is saved."""
    found = read_preview(shared_month_end, group, discount_rate=Decimal("0.90"))
    history = shared_month_end.get(f"/billinggroup/{group}/history")
    (stored,) = exact_json.decode_stored(history.text)["months"]

    assert found["vendor_cost"] == stored["vendor_cost"]
    assert found["current_margin"] == stored["margin"] > 0
    assert found["margin"] == found["preview"]["pre_tax"] - found["vendor_cost"] < 0


def test_a_preview_equals_the_invoice_that_is_created_under_its_terms(
    shared_month_end: MonthEnd, group: str
) -> None:
    found = read_preview(shared_month_end, group, tax_rate=Decimal("0.05"))

    saved = shared_month_end.post(
        f"/billinggroup/{group}/invoices",
        {"vendor": "aws", "invoices": TERMS | {"tax_rate": Decimal("0.05")}},
    )
    assert saved.status_code == 200, saved.text
    shared_month_end.put(f"/invoices/save/{MONTH}", {"settings": {}, "internal": True})
    shared_month_end.create_invoices(group)

    assert shared_month_end.get_invoice(group)["sheet"] == found["preview"]


def test_a_preview_knows_both_parts_of_the_base_of_the_support_fee(
    shared_month_end: MonthEnd, group: str
) -> None:
    terms = {"discount_rate": Decimal("0.10"), "support_fee": "percent", "support_rate": 1}
    fees = {}
    for usage in ("nondiscount", "discounted"):
        target = {"usage": usage, "scope": "cloudpaywithfee"}
        found = read_preview(shared_month_end, group, support_fee_target=target, **terms)
        fees[usage] = found["preview"]["support"]

    assert fees["discounted"]["charge"] < fees["nondiscount"]["charge"]
    target = {"usage": "discounted", "scope": "cloudpayonly"}
    refused = send(shared_month_end, group, support_fee_target=target)
    assert [field for field, _ in read_violations(refused)] == ["support_fee_target.scope"]


def test_a_preview_stores_nothing(
    shared_month_end: MonthEnd, group: str, database: Superuser
) -> None:
    organisation_id = shared_month_end.service.organisation.organisation_id
    before = database.digest(organisation_id)

    read_preview(shared_month_end, group, discount_rate=Decimal("0.10"))

    assert database.digest(organisation_id) == before


def test_a_closed_month_can_be_previewed(shared_month_end: MonthEnd, group: str) -> None:
    assert close_month(shared_month_end.service, MONTH).status_code == 200

    found = read_preview(shared_month_end, group, discount_rate=0)

    reopen_month(shared_month_end.service, MONTH)
    assert found["difference"]["usage_after"] > 0


def test_another_currency_has_no_difference(shared_month_end: MonthEnd, group: str) -> None:
    found = read_preview(shared_month_end, group, currency="usd")

    assert (found["preview"]["currency"], found["difference"]) == ("usd", None)


@pytest.mark.parametrize(
    "fields",
    [
        {"discount_rate": 2},
        {"calc_type": "nothing"},
        {"substitution_fee_calc_target": "discounted"},
    ],
    ids=["number", "value", "conflict"],
)
def test_what_saving_refuses_is_refused_with_the_same_violations(
    shared_month_end: MonthEnd, group: str, fields: dict[str, Any]
) -> None:
    target = fields.pop("support_fee_target", None)
    body = {"vendor": "aws", "invoices": TERMS | fields, "support_fee_target": target}
    saving = shared_month_end.post(f"/billinggroup/{group}/invoices", body)

    response = send(shared_month_end, group, **fields)

    assert read_violations(response) == read_violations(saving) != []


def test_terms_that_cannot_be_billed_are_refused_with_their_reason(
    shared_month_end: MonthEnd, group: str
) -> None:
    by_tag = read_problem(send(shared_month_end, group, calc_type="tag"), 409)
    other_month = read_problem(send(shared_month_end, group, month="2026-01"), 409)

    assert by_tag["code"] == other_month["code"] == "not_ready"
    assert by_tag["violations"] == [{"field": group, "rule": "tag_key_missing"}]
    assert other_month["violations"] == [{"field": group, "rule": "settings_missing"}]


def test_a_restricted_caller_previews_its_own_groups_only(
    shared_month_end: MonthEnd, group: str
) -> None:
    other = shared_month_end.create_group("BG-Z")
    action = RoleAction.ModifyBillingGroup
    own, foreign = (
        shared_month_end.service.caller(action, billing_groups=[each]) for each in (group, other)
    )

    assert send(shared_month_end, group, own).status_code == 200
    assert send(shared_month_end, group, foreign).status_code == 404
