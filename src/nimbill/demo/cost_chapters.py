"""The chapters about costs: handed in, taken in by the service, and what is decided on them."""

import time
from collections.abc import Sequence
from typing import Any

from nimbill.demo.calling import DemoClient, DemoError
from nimbill.demo.cost_files import LATE, CostDelivery, deliveries_of, lay_out_cost_files
from nimbill.demo.fixtures import production_of
from nimbill.demo.story import AOZORA, Reseller
from nimbill.demo.story_months import ENTRIES, MOVES, Entry, Move

IMPORTS = "/m/core/costs/imports"
ENTRY_PATH = "/m/core/billinggroup/recalculation"
LOOK_EVERY_SECONDS = 0.5
SECONDS_MAX = 600  # an import that was cut off is taken up again after a minute
UNDER_WAY = ("waiting", "running")
TAKEN_IN = ("done", "unchanged")


def hand_in_costs(caller: DemoClient, reseller: Reseller, months: Sequence[str]) -> None:
    """The service takes them in, two at a time, while the next chapters are told."""
    lay_out_cost_files(caller.folder, months)
    for one in deliveries_of(reseller, months):
        _hand_in(caller, one)


def _hand_in(caller: DemoClient, one: CostDelivery) -> None:
    body = {"vendor": one.vendor, "month": one.month, "source": one.place}
    caller.post(IMPORTS, body, key=f"demo-costs-{one.place}")


def wait_for_costs(caller: DemoClient, reseller: Reseller, month: str) -> None:
    for one in deliveries_of(reseller, [month]):
        _wait(caller, one, TAKEN_IN)


def _wait(caller: DemoClient, delivery: CostDelivery, ends: Sequence[str]) -> None:
    over = time.monotonic() + SECONDS_MAX
    found = next(one for one in caller.get(IMPORTS) if delivery.place in one["sources"])
    while found["state"] in UNDER_WAY:
        if time.monotonic() > over:
            raise DemoError("the costs have not been taken in; see the demo's log")
        time.sleep(LOOK_EVERY_SECONDS)
        found = caller.get(f"{IMPORTS}/{found['import_id']}")
    if found["state"] not in ends:
        raise DemoError(f"the costs in {delivery.place} ended as {found['state']}")


def hear_late(caller: DemoClient, _reseller: Reseller) -> None:
    """The vendor changes a month that is closed: nothing changes, and the change is reported."""
    _hand_in(caller, LATE)
    _wait(caller, LATE, ("drift",))


def decide_on_costs(caller: DemoClient, reseller: Reseller, month: str) -> None:
    """What the vendors charged once goes on invoices; reserved instances are lent."""
    for move in MOVES if reseller is AOZORA else ():
        _move(caller, move)
    for place, entry in enumerate(ENTRIES if reseller is AOZORA else ()):
        if entry.applied_in == month:
            _apply(caller, entry, key=f"demo-entry-{place}")


def _apply(caller: DemoClient, entry: Entry, *, key: str) -> None:
    account = production_of(AOZORA, entry.billinggroup_id, entry.vendor).customer_id
    there = caller.get(f"{ENTRY_PATH}/{entry.month}?vendor={entry.vendor}")
    found = [
        one["id"]
        for one in there
        if (one["customer_id"], one["calc_type"]) == (account, entry.calc_type)
    ]
    if not found:
        return  # of a month that this demo leaves out
    apply: dict[str, Any] = {
        "data": found,
        "month": entry.applied_in,
        "exchange_rate": entry.exchange_rate,
        "tax_free": entry.tax_free,
        "apply": True,
        "vendor": entry.vendor,
    }
    caller.post(ENTRY_PATH, apply, key=key)


def _move(caller: DemoClient, move: Move) -> None:
    owner = production_of(AOZORA, move.owner, "aws").customer_id
    neighbour = production_of(AOZORA, move.neighbour, "aws").customer_id
    reserved = caller.get("/m/core/ri/purchased?vendor=aws")
    if not any(one["dest_customer_id"] == neighbour for one in reserved):
        owned = next(one for one in reserved if one["customer_id"] == owner)
        body = {"customer_id": neighbour, "number": move.number, "vendor": "aws"}
        caller.post(f"/m/core/ri/purchased/{owned['id']}", body, key=f"demo-move-{move.owner}")
