"""Seed steps for costs: start imports, wait for them, apply adjustments."""

import time
from collections.abc import Sequence
from typing import Any

from nimbill.demo.api_client import DemoClient, DemoError
from nimbill.demo.cost_deliveries import (
    LATE_DELIVERY,
    CostDelivery,
    inbox_of,
    list_deliveries,
    write_missing_cost_files,
)
from nimbill.demo.fixtures import find_production_account
from nimbill.demo.monthly_data import (
    ONE_OFF_CHARGES,
    RESERVED_INSTANCE_MOVES,
    DemoInstanceMove,
    OneOffCharge,
)
from nimbill.demo.resellers import AOZORA, DemoReseller

IMPORTS = "/m/core/costs/imports"
RECALCULATION = "/m/core/billinggroup/recalculation"
RESERVED_INSTANCES = "/m/core/ri/purchased"
POLL_SECONDS = 0.2
IMPORT_SECONDS_MAX = 600  # an interrupted import is retried after a minute
UNFINISHED_STATES = ("waiting", "running")
SUCCESS_STATES = ("done", "unchanged")


def start_imports(client: DemoClient, reseller: DemoReseller, months: Sequence[str]) -> None:
    """The service imports the files in the background while the next steps run."""
    inbox = inbox_of(client.folder, client.login.organisation_id)
    write_missing_cost_files(inbox, reseller, months)
    for delivery in list_deliveries(reseller, months):
        _start_import(client, delivery)


def _start_import(client: DemoClient, delivery: CostDelivery) -> None:
    body = {"vendor": delivery.vendor, "month": delivery.month, "source": delivery.folder}
    client.post(IMPORTS, body, key=f"demo-costs-{delivery.folder}")


def wait_for_imports(client: DemoClient, reseller: DemoReseller, month: str) -> None:
    for delivery in list_deliveries(reseller, [month]):
        _wait_for_import(client, delivery, SUCCESS_STATES)


def _wait_for_import(
    client: DemoClient, delivery: CostDelivery, expected_states: Sequence[str]
) -> None:
    deadline = time.monotonic() + IMPORT_SECONDS_MAX
    record = next(each for each in client.get(IMPORTS) if delivery.folder in each["sources"])
    while record["state"] in UNFINISHED_STATES:
        if time.monotonic() > deadline:
            raise DemoError(
                f"The import of {delivery.folder} is not finished after {IMPORT_SECONDS_MAX} "
                "seconds. See demo.log in the demo's data folder."
            )
        time.sleep(POLL_SECONDS)
        record = client.get(f"{IMPORTS}/{record['import_id']}")
    if record["state"] not in expected_states:
        raise DemoError(f"The import of {delivery.folder} ended in the state {record['state']}.")


def import_late_correction(client: DemoClient, _reseller: DemoReseller) -> None:
    """Imports a correction for a closed month: the service reports drift and changes nothing."""
    _start_import(client, LATE_DELIVERY)
    _wait_for_import(client, LATE_DELIVERY, ("drift",))


def apply_adjustments(client: DemoClient, reseller: DemoReseller, month: str) -> None:
    """Puts one-off charges on invoices of the month and moves reserved instances."""
    for move in RESERVED_INSTANCE_MOVES if reseller is AOZORA else ():
        _move_reserved_instances(client, move)
    for position, charge in enumerate(ONE_OFF_CHARGES if reseller is AOZORA else ()):
        if charge.applied_in == month:
            _apply_one_off_charge(client, charge, key=f"demo-entry-{position}")


def _apply_one_off_charge(client: DemoClient, charge: OneOffCharge, *, key: str) -> None:
    account = find_production_account(AOZORA, charge.billinggroup_id, charge.vendor)
    entries = client.get(f"{RECALCULATION}/{charge.month}?vendor={charge.vendor}")
    entry_ids = [
        entry["id"]
        for entry in entries
        if (entry["customer_id"], entry["calc_type"]) == (account.customer_id, charge.calc_type)
    ]
    if not entry_ids:
        return  # the charge belongs to a month that this demo does not contain
    body: dict[str, Any] = {
        "data": entry_ids,
        "month": charge.applied_in,
        "exchange_rate": charge.exchange_rate,
        "tax_free": charge.tax_free,
        "apply": True,
        "vendor": charge.vendor,
    }
    client.post(RECALCULATION, body, key=key)


def _move_reserved_instances(client: DemoClient, move: DemoInstanceMove) -> None:
    owner = find_production_account(AOZORA, move.owner, "aws").customer_id
    receiver = find_production_account(AOZORA, move.receiver, "aws").customer_id
    reservations = client.get(f"{RESERVED_INSTANCES}?vendor=aws")
    if not any(reservation["dest_customer_id"] == receiver for reservation in reservations):
        owned = next(each for each in reservations if each["customer_id"] == owner)
        body = {"customer_id": receiver, "number": move.number, "vendor": "aws"}
        client.post(f"{RESERVED_INSTANCES}/{owned['id']}", body, key=f"demo-move-{move.owner}")
