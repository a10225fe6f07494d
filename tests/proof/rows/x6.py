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
from tests.proof.broken_variants import BrokenVariant
from tests.proof.moved_histories import DONE, ObservedOperation, find_anomalies
from tests.proof.moving_clients import PATH, MovingClientsRun, move_all_at_once, parse_reservations
from tests.proof.real_server import real_server
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.running_service import Service
from tests.temporary_database import execute_sql

TARGET = (
    "16 clients, 100,000 calls with workers killed: the sum of number is constant at every "
    "read and none is below 0; 0 anomalies; fees add up to the last digit; undoing restores "
    "everything"
)
SHORT = 320  # one worker is killed
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
    totals = {record["id"]: record["number"] for record in before}
    fees_when_closed: list[Any] = []

    def close_a_month() -> None:
        assert close_month(service, CLOSED).status_code == 200
        fees_when_closed.append(list_fees(service, CLOSED))

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
    misses = [*run.misses, *_compare_with_records(environment, run)]
    misses += find_anomalies(run.history, totals) + _wrong_fees(service, before)
    if list_fees(service, CLOSED) != fees_when_closed[0]:
        misses.append("the fees of a closed month changed")
    misses += _return_all(service, before)
    return Measurement(_format_figures(run, len(misses)), misses)


def _create_records(service: Service) -> list[str]:
    """Reservations of one owner, and a customer for each client."""
    group = create_group(service, service.root(), billinggroup_id="X6")
    for month in (CLOSED, OPEN):
        reservations = [
            build_reservation(reservation_id=name, number=number, fee=fee)
            for name, (number, fee) in RESERVATIONS.items()
        ]
        import_reservations(service, *reservations, month=month)
    return [
        add_account(service, group, customer_id=f"{number:012d}", account_id=PAYER)
        for number in range(1, CLIENTS + 1)
    ]


def _format_figures(run: MovingClientsRun, wrong: int) -> str:
    counts: dict[str, int] = defaultdict(int)
    for operation in run.history:
        counts[f"{operation.kind}s {operation.result}"] += 1
    kinds = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))
    faults = (
        f"{run.kills} workers killed, {run.broken_connections} broken connections, "
        f"{run.retries} retries"
    )
    return f"{len(run.history)} calls ({kinds}) by {CLIENTS} clients; {faults}; {wrong} wrong"


@dataclass(frozen=True)
class _Stored:
    move_id: str
    number: int


def _compare_with_records(environment: RowEnvironment, run: MovingClientsRun) -> list[str]:
    """Compare responses with stored records, and learn the record id of each move.

    A customer belongs to one client, so its moves are stored in the order of the responses.
    """
    found: dict[str, _Stored] = {}
    places: dict[tuple[str, str], int] = defaultdict(int)
    for row in execute_sql(
        environment.superuser,
        "SELECT move_id, ri_id, dest_customer_id, number FROM reservation_moves "
        "WHERE organisation_id = $1 ORDER BY ri_id, position",
        environment.service.organisation.organisation_id,
    ):
        owner = (row["ri_id"], row["dest_customer_id"])
        places[owner] += 1
        name = f"{owner[0]} {owner[1]} {places[owner]}"
        found[name] = _Stored(row["move_id"], row["number"])
    done = {
        operation.record: operation.number
        for operation in run.history
        if _is_completed_move(operation)
    }
    faults = [
        f"{name}: answered {done.get(name)}, stored {found.get(name)}"
        for name in sorted(done.keys() | found.keys())
        if name not in found or done.get(name) != found[name].number
    ]
    run.history[:] = [
        replace(operation, record=found[operation.record].move_id)
        if _is_completed_move(operation) and operation.record in found
        else operation
        for operation in run.history
    ]
    return faults


def _is_completed_move(operation: ObservedOperation) -> bool:
    return operation.kind == "move" and operation.result == DONE


def _wrong_fees(service: Service, before: Sequence[dict[str, Any]]) -> list[str]:
    """Compare every amount with fractions, and their sum with zero."""
    faults = []
    for month in (CLOSED, OPEN):
        total = sum(
            (Fraction(fee_entry.amount) for fee_entry in list_fees(service, month)), Fraction(0)
        )
        if total:
            faults.append(f"fees of {month} do not add up: the sum is {total}")
    names = {record["id"]: record["arn"] for record in before}
    moved_fees = {
        fee_entry.move_id: fee_entry.amount
        for fee_entry in list_fees(service, OPEN)
        if fee_entry.amount > 0
    }
    for ri_id, shown in parse_reservations(list_records(service)).items():
        number, fee = RESERVATIONS[names[ri_id]]
        for record, moved in shown.moved.items():
            exact = Fraction(fee) * moved / number
            if abs(Fraction(moved_fees[record]) - exact) > Fraction(1, 2 * 10**10):
                faults.append(f"{moved} of {number} cost {moved_fees[record]} of {fee}")
    return faults


def _return_all(service: Service, before: Sequence[dict[str, Any]]) -> list[str]:
    for record in [record["id"] for record in list_records(service) if record["remove"]]:
        answer = remove_move(service, record)
        if answer.status_code != 200:
            return [f"{PATH}/{record}/remove answered {answer.status_code}"]
    after = list_records(service)
    faults = (
        [] if after == before else [f"everything was returned, but the records differ: {after}"]
    )
    return faults + (
        ["everything was returned, but fees are still moved"] if list_fees(service, OPEN) else []
    )


VARIANTS = [
    BrokenVariant(
        "closed-months-change",
        "The fees of a closed month are split by the current moves.",
        "the fees of a closed month changed",
        "adjustments/reserved_instances/moved_fees.py",
        "closing_number = state.closing_number if state.closed else None",
        "closing_number = None",
    ),
    BrokenVariant(
        "counted-before-lock",
        "The remaining instances are counted before the reservation is locked.",
        "is shown as",
        "adjustments/reserved_instances/operations.py",
        "closing_count = await lock_closing_count(db, scope, body.vendor)",
        """closing_count = await lock_closing_count(db, scope, body.vendor)
    moved = await records.count_moved_instances(db, scope, ri_id)""",
        also=[
            (
                "adjustments/reserved_instances/operations.py",
                "- await records.count_moved_instances(db, scope, ri_id):",
                "- moved:",
            )
        ],
    ),
    BrokenVariant(
        "not-locked",
        "Two callers can move instances of one reservation at the same time.",
        "an unexpected response",
        "adjustments/reserved_instances/records.py",
        ".with_for_update(of=reserved_instances)",
        "",
    ),
    BrokenVariant(
        "remainder-lost",
        "The owner's reduction is rounded to cents, and the receiver's fee is not.",
        "do not add up",
        "adjustments/reserved_instances/moved_fees.py",
        "yield _build_moved_fee(move, move.customer_id, amount.copy_negate())",
        """cents = amount.quantize(Decimal("0.01")).copy_negate()
            yield _build_moved_fee(move, move.customer_id, cents)""",
    ),
    BrokenVariant(
        "returned-twice",
        "Instances that another call returned meanwhile are returned again.",
        "two calls completed the remove",
        "adjustments/reserved_instances/records.py",
        "_moves.removed_after_closing.is_(None),",
        "",
    ),
]
