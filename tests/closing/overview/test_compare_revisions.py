"""GET /m/core/invoices/{month}/{company_id}/{vendor}/revisions/{revision}/comparison"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation import exact_json
from tests.invoicing.invoice_runs import prepare_example_a
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import read_problem, read_violations


@pytest.fixture(scope="module")
def group(shared_month_end: MonthEnd) -> str:
    """The second revision has no discount and no agency fee, the third another tax rate."""
    company_id = prepare_example_a(shared_month_end)
    shared_month_end.create_invoices(company_id)
    no_fee = {
        "discount_rate": Decimal(0),
        "substitution_fee": "percent",
        "substitution_rate": Decimal(0),
    }
    for changes in (no_fee, {**no_fee, "tax_rate": Decimal("0.08")}):
        saved = shared_month_end.save_settings(company_id, **changes)
        assert saved.status_code == 200, saved.text
        assert shared_month_end.create_invoices(company_id).status_code == 200
    return company_id


def path_of(group: str, revision: object, query: str = "") -> str:
    return f"/invoices/{MONTH}/{group}/aws/revisions/{revision}/comparison{query}"


def compare(month_end: MonthEnd, group: str, revision: int, query: str = "") -> Any:
    response = month_end.get(path_of(group, revision, query))
    assert response.status_code == 200, response.text
    return exact_json.decode_stored(response.text)


def test_a_revision_is_compared_with_the_one_before(shared_month_end: MonthEnd, group: str) -> None:
    found = compare(shared_month_end, group, 2)

    assert (found["invoice_no"], found["revision"], found["revision_before"]) == (
        "202609-0001",
        2,
        1,
    )
    assert (found["total_before"], found["tax_before"]) == (190472, 17316)
    changes = {each["line"]: (each["amount_before"], each["amount"]) for each in found["changed"]}
    assert changes["usage-1"] == (142755, 150269)
    assert changes["support"] == (15283, 16087)
    changed = sum(each["change"] for each in found["changed"])
    added = sum(each["amount"] for each in found["added"])
    removed = sum(each["amount_before"] for each in found["removed"])
    assert changed + added - removed == found["pre_tax"] - found["pre_tax_before"]


def test_totals_are_listed_by_tax_rate(shared_month_end: MonthEnd, group: str) -> None:
    found = compare(shared_month_end, group, 3)

    assert found["changed"] == found["added"] == found["removed"] == []
    ten, eight = found["taxes"]
    assert (ten["tax_rate"], ten["pre_tax"], ten["tax"]) == (Decimal("0.10"), None, None)
    assert (eight["tax_rate"], eight["pre_tax_before"]) == (Decimal("0.08"), None)
    assert ten["pre_tax_before"] == eight["pre_tax"] == found["pre_tax"]
    assert (ten["tax_before"], eight["tax"]) == (found["tax_before"], found["tax"])


def test_any_two_revisions_are_compared(shared_month_end: MonthEnd, group: str) -> None:
    forwards = compare(shared_month_end, group, 3, "?before=1")
    backwards = compare(shared_month_end, group, 1, "?before=3")

    assert (forwards["revision_before"], backwards["revision_before"]) == (1, 3)
    assert forwards["total"] == backwards["total_before"]
    assert len(forwards["added"]) == len(backwards["removed"])
    assert len(forwards["changed"]) == len(backwards["changed"]) > 0


def test_every_line_of_the_first_revision_is_added(shared_month_end: MonthEnd, group: str) -> None:
    found = compare(shared_month_end, group, 1)

    assert (found["revision_before"], found["total_before"]) == (None, None)
    assert found["changed"] == found["removed"] == []
    assert sum(each["amount"] for each in found["added"]) == found["pre_tax"] == 173156


def test_unknown_revisions_are_not_found(shared_month_end: MonthEnd, group: str) -> None:
    for path in (path_of(group, 4), path_of(group, 1, "?before=4"), path_of("unknown", 1)):
        read_problem(shared_month_end.get(path), 404)
    for path in (path_of(group, "1.0"), path_of(group, "01"), path_of(group, 1, "?before=0")):
        assert len(read_violations(shared_month_end.get(path))) == 1


def test_other_groups_are_not_found(shared_month_end: MonthEnd, group: str) -> None:
    other = shared_month_end.create_group("BG-OTHER", "444444444444")
    restricted = shared_month_end.service.caller(RoleAction.ReadInvoice, billing_groups=[other])

    read_problem(shared_month_end.get(path_of(group, 2), restricted), 404)
