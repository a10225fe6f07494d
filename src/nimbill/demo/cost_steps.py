"""Seed steps for costs: start imports, wait for them, apply adjustments."""

from collections.abc import Sequence

from nimbill.demo.api_client import DemoClient, DemoError, existing_allowed
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
from nimbill_client import WaitTimeout

IMPORT_SECONDS_MAX = 600  # an interrupted import is retried after a minute
SUCCESS_STATES = ("done", "unchanged")


def start_imports(client: DemoClient, reseller: DemoReseller, months: Sequence[str]) -> None:
    """The service imports the files in the background while the next steps run."""
    inbox = inbox_of(client.folder, client.login.organisation_id)
    write_missing_cost_files(inbox, reseller, months)
    for delivery in list_deliveries(reseller, months):
        _start_import(client, delivery)


def _start_import(client: DemoClient, delivery: CostDelivery) -> None:
    with existing_allowed():
        client.api.imports.start(
            delivery.vendor, delivery.folder, delivery.month, key=f"demo-costs-{delivery.folder}"
        )


def wait_for_imports(client: DemoClient, reseller: DemoReseller, month: str) -> None:
    for delivery in list_deliveries(reseller, [month]):
        _wait_for_import(client, delivery, SUCCESS_STATES)


def _wait_for_import(
    client: DemoClient, delivery: CostDelivery, expected_states: Sequence[str]
) -> None:
    imports = client.api.imports
    started = next(each for each in imports.list_all() if delivery.folder in each.sources)
    try:
        record = imports.wait(started.import_id, IMPORT_SECONDS_MAX)
    except WaitTimeout as error:
        raise DemoError(f"{error} See demo.log in the demo's data folder.") from error
    if record.state not in expected_states:
        raise DemoError(f"The import of {delivery.folder} ended in the state {record.state}.")


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
            _apply_one_off_charge(client, charge, month, key=f"demo-entry-{position}")


def _apply_one_off_charge(
    client: DemoClient, charge: OneOffCharge, month: str, *, key: str
) -> None:
    account = find_production_account(AOZORA, charge.billinggroup_id, charge.vendor)
    entry_ids = [
        entry.id
        for entry in client.api.recalculation.list_all(charge.month, charge.vendor)
        if (entry.customer_id, entry.calc_type) == (account.customer_id, charge.calc_type)
    ]
    if not entry_ids:
        return  # the charge belongs to a month that this demo does not contain
    with existing_allowed():
        client.api.recalculation.apply(
            entry_ids,
            month,
            charge.vendor,
            exchange_rate=charge.exchange_rate,
            tax_free=charge.tax_free,
            key=key,
        )


def _move_reserved_instances(client: DemoClient, move: DemoInstanceMove) -> None:
    owner = find_production_account(AOZORA, move.owner, "aws").customer_id
    receiver = find_production_account(AOZORA, move.receiver, "aws").customer_id
    reservations = client.api.reserved_instances.list_all("aws")
    if not any(reservation.dest_customer_id == receiver for reservation in reservations):
        owned = next(each for each in reservations if each.customer_id == owner)
        with existing_allowed():
            client.api.reserved_instances.move(
                owned.id, receiver, move.number, key=f"demo-move-{move.owner}"
            )
