"""The chapters about costs: handed in, taken in by the service, and what is decided on them."""

import time
from typing import Any

from nimbill.demo.calling import Caller, DemoError
from nimbill.demo.cost_files import DELIVERIES, FINAL_MONTH, lay_out_cost_files
from nimbill.demo.estate import accounts_of
from nimbill.demo.story import AOZORA, Reseller

IMPORTS = "/m/core/costs/imports"
LOOK_EVERY_SECONDS = 0.5
SECONDS_MAX = 300  # an import that was cut off is taken up again after a minute
UNDER_WAY = ("waiting", "running")
TAKEN_IN = ("done", "unchanged")

OWNER, NEIGHBOUR = AOZORA.customers[0], AOZORA.customers[3]
OWNERS_ACCOUNT = next(accounts_of(OWNER, 1)).customer_id
NEIGHBOURS_ACCOUNT = next(accounts_of(NEIGHBOUR, 4)).customer_id


def hand_in_costs(caller: Caller, reseller: Reseller) -> None:
    """The service takes them in while the next chapters are told."""
    if reseller is AOZORA:
        lay_out_cost_files(caller.folder)
        for one in DELIVERIES:
            body = {"vendor": one.vendor, "month": one.month, "source": one.place}
            caller.post(IMPORTS, body, key=f"demo-costs-{one.place}")


def wait_for_costs(caller: Caller, reseller: Reseller) -> None:
    if reseller is not AOZORA:
        return
    over = time.monotonic() + SECONDS_MAX
    while any(one["state"] in UNDER_WAY for one in _ours(caller)):
        if time.monotonic() > over:
            raise DemoError("the costs have not been taken in; see the demo's log")
        time.sleep(LOOK_EVERY_SECONDS)
    for one in _ours(caller):
        if one["state"] not in TAKEN_IN:
            raise DemoError(f"the costs in {one['sources'][0]} ended as {one['state']}")


def _ours(caller: Caller) -> list[dict[str, Any]]:
    places = {one.place for one in DELIVERIES}
    return [one for one in caller.get(IMPORTS) if places.intersection(one["sources"])]


def decide_on_costs(caller: Caller, reseller: Reseller) -> None:
    """A one-off fee goes on its customer's invoice; of four reserved instances one is lent."""
    if reseller is not AOZORA:
        return
    entries = caller.get(f"/m/core/billinggroup/recalculation/{FINAL_MONTH}?vendor=aws")
    fee = next(
        one for one in entries if one["customer_id"] == OWNERS_ACCOUNT and one["calc_type"] == "Fee"
    )
    apply = {
        "data": [fee["id"]],
        "month": FINAL_MONTH,
        "exchange_rate": 0,
        "tax_free": False,
        "apply": True,
        "vendor": "aws",
    }
    caller.post("/m/core/billinggroup/recalculation", apply, key="demo-entry")
    reserved = caller.get("/m/core/ri/purchased?vendor=aws")
    if not any(one["dest_customer_id"] == NEIGHBOURS_ACCOUNT for one in reserved):
        owned = next(one for one in reserved if one["customer_id"] == OWNERS_ACCOUNT)
        move = {"customer_id": NEIGHBOURS_ACCOUNT, "number": 1, "vendor": "aws"}
        caller.post(f"/m/core/ri/purchased/{owned['id']}", move, key="demo-reservation")
