"""What a running demo must hold, asked over HTTP as anybody would."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import httpx

from nimbill.demo.cost_files import LATE
from nimbill.demo.cost_writing import CORRECTED, STRAYS
from nimbill.demo.fixtures import production_of
from nimbill.demo.invoice_chapters import covered, printed_folder
from nimbill.demo.stack_chapters import DEPLOYMENT
from nimbill.demo.story import AOZORA, MINATO, Reseller
from nimbill.demo.story_months import CURRENT, ENTRIES, LAST_CLOSED, MOVES, OPEN
from nimbill.foundation import exact_json
from tests.demo.running_demo import Demo

FINISHED = (LAST_CLOSED, OPEN)


class Asking:
    """A client of one of the demo's resellers."""

    def __init__(self, demo: Demo, reseller: Reseller) -> None:
        self._base = f"{demo.address}/m/core"
        self._headers = {"Authorization": f"Bearer {demo.token(reseller)}"}

    def __call__(self, path: str) -> Any:
        answer = httpx.get(self._base + path, headers=self._headers, timeout=60)
        assert answer.status_code == 200, (path, answer.text)
        return exact_json.read(answer.content)

    def post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        return httpx.post(self._base + path, json=body, headers=self._headers, timeout=60)


def every_group_with_accounts_has_its_invoices(ask: Asking) -> None:
    for month in FINISHED:
        listed = {one["billinggroup_id"]: one for one in ask(f"/invoices/{month}")["billinggroup"]}
        for customer in AOZORA.customers:
            made = listed[customer.billinggroup_id]
            billed = {vendor for vendor, data in made["created_data"].items() if data}
            assert billed == set(customer.clouds), (month, customer.name)
            assert all(made["total"][vendor] > 0 for vendor in billed)
    unfinished = ask(f"/invoices/{CURRENT}")["billinggroup"]
    assert all(one["invoice_no"] is None for one in unfinished)
    assert ask(f"/costs/{CURRENT}")["provisional"] is True


def every_finished_month_ties_out_to_nothing(ask: Asking) -> None:
    for month in FINISHED:
        found = ask(f"/invoices/tie-out/{month}")
        assert found["ties"] is True
        assert found["differences"] == []
        assert [(one["vendor"], one["difference"]) for one in found["payers"]] == [
            ("aws", Decimal(0)),
            ("azure", Decimal(0)),
        ]
    strays = {
        one["customer_id"] for one in ask(f"/invoices/tie-out/{OPEN}")["accounts_in_no_group"]
    }
    assert strays == set(STRAYS.values())


def the_closed_month_stays_and_the_late_change_is_told(ask: Asking) -> None:
    (late,) = [one for one in ask("/costs/imports") if one["sources"] == [LATE.place]]
    corrected = production_of(AOZORA, CORRECTED, "aws").customer_id
    assert late["state"] == "drift"
    assert {one["customer_id"] for one in late["drift"]} == {corrected}
    told = sum(one["delivered"] - one["counts"] for one in late["drift"])
    assert told < 0
    assert sum(one["amount"] for one in late["proposals"]) == told
    for vendor in AOZORA.payers:
        create = {"vendor": vendor, "group": [], "bulk": True}
        refused = ask.post(f"/invoices/calculation/{LAST_CLOSED}", create)
        assert (refused.status_code, refused.json()["code"]) == (409, "month_closed")


def entries_and_reservations_were_decided_on(ask: Asking) -> None:
    for vendor in AOZORA.payers:
        entries = ask(f"/billinggroup/recalculation/{OPEN}?vendor={vendor}")
        told = [one for one in ENTRIES if (one.month, one.vendor) == (OPEN, vendor)]
        assert sorted(one["apply"] for one in entries) == sorted(
            one.applied_in is not None for one in told
        )
        assert sum(one["tax_free"] for one in entries) == sum(one.tax_free for one in told)
    moved = {one["dest_customer_id"] for one in ask("/ri/purchased?vendor=aws")} - {""}
    assert moved == {production_of(AOZORA, move.neighbour, "aws").customer_id for move in MOVES}


def the_other_reseller_has_its_invoices_too(ask: Asking) -> None:
    listed = ask(f"/invoices/{OPEN}")["billinggroup"]

    assert [one["total"]["aws"] > 0 for one in listed] == [True for _ in MINATO.customers]
    assert ask(f"/invoices/tie-out/{OPEN}")["ties"] is True


def printed_invoices_lie_where_it_says(demo: Demo) -> None:
    for reseller in (AOZORA, MINATO):
        papers = list(printed_folder(demo.folder, reseller).glob("*.pdf"))
        invoices = sum(len(customer.clouds) for customer in reseller.customers)
        assert len(papers) == invoices + len(covered(reseller))
        assert all(paper.read_bytes().startswith(b"%PDF") for paper in papers)
    assert str(printed_folder(demo.folder, AOZORA)) in demo.page


def a_stack_of_version_3_stands(ask: Asking) -> None:
    (stack,) = ask(f"/v0/deployments/{DEPLOYMENT}")["stacks"]
    assert (stack["name"], stack["region"]) == ("calm-harbour", "ap-northeast-1")
    assert [(item["name"], item["status"], len(item["resources"])) for item in stack["items"]] == [
        ("web", "completed", 2),
        ("nightly", "completed", 1),
    ]
