"""Moving and returning reserved instances in parallel conserves counts and money.

Sixteen clients move and return instances of a few reservations at once while workers of the
server are killed; each call is repeated with its key until it is answered. The observed history
must be one that sequential calls could have produced. Halfway a month is closed, whose fees must
not change from then on. In the end everything is returned.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.adjustments.reserved_instances.reservations import (
    PAYER,
    build_reservation,
    import_reservations,
    list_fees,
    list_records,
    remove_move,
)
from tests.costs.months.month_requests import close_month
from tests.customers.billing_groups.billing_groups import create_billing_group as create_group
from tests.customers.cloud_accounts.accounts import add_account
from tests.proof.database_faults import rows
from tests.proof.moved_histories import DONE, ObservedOperation, find_anomalies
from tests.proof.moving_clients import PATH, MovingClientsRun, move_all_at_once, shown_in
from tests.proof.real_server import real_server
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.running_service import Service

TARGET = (
    "16 clients, 100,000 calls with workers killed: the sum of number is constant at every "
    "read and none is below 0; 0 anomalies; fees add up to the last digit; undoing restores "
    "everything"
)
QUICK = 640
FULL = 100_000
SECONDS_MAX = 180

CLIENTS = 16
CLOSED, OPEN = "2026-01", "2026-02"
# instances and fee of each reservation; thirds and sevenths have no finite decimal
RESERVATIONS = {
    "one": (12, Decimal("149.7753790000")),
    "two": (21, Decimal("100.0000000001")),
    "three": (7, Decimal("0.1234567890123456789012")),
}


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    service.organisation = service.new_organisation("X6")
    customers = _create_records(service)
    before = list_records(service)
    totals = {one["id"]: one["number"] for one in before}
    kept: list[Any] = []

    def close_a_month() -> None:
        assert close_month(service, CLOSED).status_code == 200
        kept.append(list_fees(service, CLOSED))

    settings = {
        "NIMBILL_DATABASE_URL": environment.postgres.url,
        "NIMBILL_KEY_FILE": str(service.settings.key_file),
        "NIMBILL_RATE_LIMIT": "0",
    }
    with real_server(environment.new_folder("x6") / "data", settings) as server:
        run = move_all_at_once(
            server,
            service.root(),
            customers=customers,
            reservations=list(totals),
            size=size,
            random=environment.random("X6"),
            half_way=close_a_month,
        )
    misses = [*run.misses, *_unlike_the_records(environment, run)]
    misses += find_anomalies(run.history, totals) + _wrong_fees(service, before)
    if list_fees(service, CLOSED) != kept[0]:
        misses.append("the fees of a closed month changed")
    misses += _not_restored(service, before)
    return Measurement(_said(run, len(misses)), misses)


def _create_records(service: Service) -> list[str]:
    """Reservations of one owner, and a customer for each client."""
    group = create_group(service, service.root(), billinggroup_id="X6")
    for month in (CLOSED, OPEN):
        given = [
            build_reservation(reservation_id=name, number=number, fee=fee)
            for name, (number, fee) in RESERVATIONS.items()
        ]
        import_reservations(service, *given, month=month)
    return [
        add_account(service, group, customer_id=f"{number:012d}", account_id=PAYER)
        for number in range(1, CLIENTS + 1)
    ]


def _said(run: MovingClientsRun, wrong: int) -> str:
    said: dict[str, int] = defaultdict(int)
    for one in run.history:
        said[f"{one.kind}s {one.said}"] += 1
    kinds = ", ".join(f"{count} {what}" for what, count in sorted(said.items()))
    faults = f"{run.kills} workers killed, {run.cut_off} connections cut, {run.put_off} put off"
    return f"{len(run.history)} calls ({kinds}) by {CLIENTS} clients; {faults}; {wrong} wrong"


@dataclass(frozen=True)
class _Stored:
    move_id: str
    number: int


def _unlike_the_records(environment: RowEnvironment, run: MovingClientsRun) -> list[str]:
    """Compare responses with stored records, and learn the record id of each move.

    A customer belongs to one client, so its moves are stored in the order of the responses.
    """
    found: dict[str, _Stored] = {}
    places: dict[tuple[str, str], int] = defaultdict(int)
    for row in rows(
        environment.superuser,
        "SELECT move_id, ri_id, dest_customer_id, number FROM reservation_moves "
        "WHERE organisation_id = $1 ORDER BY ri_id, position",
        environment.service.organisation.organisation_id,
    ):
        whose = (row["ri_id"], row["dest_customer_id"])
        places[whose] += 1
        name = f"{whose[0]} {whose[1]} {places[whose]}"
        found[name] = _Stored(row["move_id"], row["number"])
    done = {one.record: one.number for one in run.history if _moved(one)}
    complaints = [
        f"{name}: answered {done.get(name)}, stored {found.get(name)}"
        for name in sorted(done.keys() | found.keys())
        if name not in found or done.get(name) != found[name].number
    ]
    run.history[:] = [
        replace(one, record=found[one.record].move_id)
        if _moved(one) and one.record in found
        else one
        for one in run.history
    ]
    return complaints


def _moved(one: ObservedOperation) -> bool:
    return one.kind == "move" and one.said == DONE


def _wrong_fees(service: Service, before: Sequence[dict[str, Any]]) -> list[str]:
    """Compare every amount with fractions, and their sum with zero."""
    complaints = []
    for month in (CLOSED, OPEN):
        total = sum((Fraction(one.amount) for one in list_fees(service, month)), Fraction(0))
        if total:
            complaints.append(f"fees of {month} do not add up: {total} too much")
    names = {one["id"]: one["arn"] for one in before}
    given = {one.move_id: one.amount for one in list_fees(service, OPEN) if one.amount > 0}
    for ri_id, shown in shown_in(list_records(service)).items():
        number, fee = RESERVATIONS[names[ri_id]]
        for record, moved in shown.moved.items():
            exact = Fraction(fee) * moved / number
            if abs(Fraction(given[record]) - exact) > Fraction(1, 2 * 10**10):
                complaints.append(f"{moved} of {number} cost {given[record]} of {fee}")
    return complaints


def _not_restored(service: Service, before: Sequence[dict[str, Any]]) -> list[str]:
    for record in [one["id"] for one in list_records(service) if one["remove"]]:
        answer = remove_move(service, record)
        if answer.status_code != 200:
            return [f"{PATH}/{record}/remove answered {answer.status_code}"]
    after = list_records(service)
    complaints = [] if after == before else [f"given back, but not as before: {after}"]
    return complaints + (
        ["given back, but fees are still moved"] if list_fees(service, OPEN) else []
    )
