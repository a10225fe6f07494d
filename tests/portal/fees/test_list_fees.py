"""GET /m/portal/fees"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.customers.resellers.reseller_accounts import change_meta
from tests.invoicing.month_end import MONTH
from tests.portal.portal_customer import PORTAL
from tests.portal.portal_scene import EVERYTHING, FIRST, SECOND, PortalScene
from tests.problem_responses import read_problem, read_violations


def list_fees(scene: PortalScene, kind: str, headers: Any = None, **parameters: Any) -> Any:
    return scene.customer.get("/fees", headers, **({"month": MONTH, "kind": kind} | parameters))


def test_a_fee_is_converted_at_the_rate_of_the_invoice_and_not_discounted(
    scene: PortalScene,
) -> None:
    body = list_fees(scene, "fee")

    amount = Decimal(672) * Decimal("150.25")
    assert body["rows"] == [
        {
            "month": MONTH,
            "vendor": "aws",
            "customer_id": FIRST,
            "customer_name": f"account {FIRST}",
            "description": "a certificate",
            "currency": "jpy",
            "amount": amount,
            "tax_free": False,
            "provisional": False,
        }
    ]
    assert body["totals"] == [{"currency": "jpy", "amount": amount}]


def test_a_fee_with_its_own_rate_is_converted_at_this_rate(scene: PortalScene) -> None:
    (row,) = list_fees(scene, "credit")["rows"]

    assert (row["amount"], row["tax_free"]) == (Decimal("-12.5") * 120, True)


def test_the_amounts_are_those_of_the_invoice(scene: PortalScene) -> None:
    invoice = scene.customer.month_end.get_invoice(scene.customer.company_id)
    printed = {entry["description"]: entry["amount"] for entry in invoice["sheet"]["entries"]}

    rows = [
        row
        for kind in ("fee", "credit", "refund", "other")
        for row in list_fees(scene, kind)["rows"]
    ]

    assert {row["description"]: row["amount"] for row in rows} == printed
    assert printed.keys() == {"a certificate", "an apology", "a plan"}


def test_other_fees_are_those_of_no_other_kind(scene: PortalScene) -> None:
    assert [row["description"] for row in list_fees(scene, "other")["rows"]] == ["a plan"]


def test_entries_that_are_not_applied_are_not_shown(scene: PortalScene) -> None:
    assert list_fees(scene, "refund")["rows"] == []


def test_a_restricted_user_sees_the_fees_of_its_accounts(scene: PortalScene) -> None:
    assert list_fees(scene, "fee", scene.clerk)["rows"] == []
    assert [row["customer_id"] for row in list_fees(scene, "credit", scene.clerk)["rows"]] == [
        SECOND
    ]


def test_a_user_restricted_to_tags_sees_no_fees(scene: PortalScene) -> None:
    by_tag = {"namespace": "portal", "type": "tags", "resource": ["team=web"]}
    headers = scene.customer.create_subuser("tagged", EVERYTHING, [by_tag])

    assert list_fees(scene, "fee", headers)["rows"] == []


def test_another_company_sees_none_of_them(scene: PortalScene) -> None:
    assert list_fees(scene, "fee", scene.stranger.portal)["rows"] == []


@pytest.mark.parametrize("kind", ["", "everything", "Fee"])
def test_an_unknown_kind_is_refused(scene: PortalScene, kind: str) -> None:
    response = scene.request("GET", f"/fees?month={MONTH}&kind={kind}")

    assert read_violations(response) == [("kind", "one of fee, credit, refund, other")]


def test_each_kind_has_its_own_flag(scene: PortalScene) -> None:
    """Naming two kinds does not show the one whose flag is off."""
    user_id, flag = scene.customer.reseller.user_id, "usage_account_menu_fees_credit"
    change_meta(scene.service, user_id, **{flag: False})

    off = scene.request("GET", f"/fees?month={MONTH}&kind=credit")
    both = [
        scene.service.http.get(
            f"{PORTAL}/fees?month={MONTH}&{query}", headers=scene.customer.reseller.portal
        )
        for query in ("kind=fee&kind=credit", "kind=credit&kind=fee")
    ]
    on = list_fees(scene, "fee")
    change_meta(scene.service, user_id, **{flag: True})

    assert flag in read_problem(off, 403)["detail"]
    assert on["rows"] != []
    for response in both:
        assert "an apology" not in response.text
