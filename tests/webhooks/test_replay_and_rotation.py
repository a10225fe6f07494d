"""Deliveries are sent again on request, and secrets change without a gap."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from nimbill.foundation import clock
from nimbill.webhooks import records
from nimbill.webhooks.retry_rules import PAUSES
from tests.held_locks import in_transaction
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.webhooks.conftest import ShiftedClock
from tests.webhooks.endpoints import (
    call,
    close_month,
    create_endpoint,
    have_attempts,
    have_state,
    list_deliveries,
    reopen_month,
    send,
    wait_for_deliveries,
)
from tests.webhooks.receiver import Receiver
from tests.webhooks.test_deliver_events import sign_by_hand

MONTHS = ("2026-01", "2026-02", "2026-03")


def test_a_delivered_event_is_sent_again_with_the_same_id(
    sender: Service, receiver: Receiver
) -> None:
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]
    close_month(sender)
    (delivery,) = wait_for_deliveries(sender, endpoint, have_state("delivered"))

    call(sender, "POST", f"/{endpoint}/deliveries/{delivery['delivery_id']}/replay")

    first, second = receiver.wait_for(2)
    assert (first.event_id, first.body) == (second.event_id, second.body)
    wait_for_deliveries(sender, endpoint, have_state("delivered"))


def test_a_waiting_delivery_is_sent_at_once(sender: Service, receiver: Receiver) -> None:
    receiver.answers = [500]
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]
    close_month(sender)
    (delivery,) = wait_for_deliveries(sender, endpoint, have_attempts(1))

    call(sender, "POST", f"/{endpoint}/deliveries/{delivery['delivery_id']}/replay")

    (delivery,) = wait_for_deliveries(sender, endpoint, have_state("delivered"))
    assert delivery["attempts"] == 2


def test_all_failed_deliveries_since_a_time_are_sent_again(
    sender: Service, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nimbill.webhooks.delivery.find_next_attempt", lambda *_: None)
    receiver.answers = [500, 500, 204]
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]
    for number, month in enumerate(MONTHS, 1):
        close_month(sender, month)
        receiver.wait_for(number)
    newest, second, _ = wait_for_deliveries(
        sender,
        endpoint,
        lambda rows: have_state("failed", 2)(rows) and have_attempts(1, 1, 1)(rows),
    )
    assert newest["state"] == "delivered"

    since = {"since": second["event_time"]}
    assert call(sender, "POST", f"/{endpoint}/replay", since)["deliveries"] == 1
    wait_for_deliveries(sender, endpoint, have_state("delivered", 2))
    since = {"since": "2020-01-01T00:00:00+09:00"}
    assert call(sender, "POST", f"/{endpoint}/replay", since)["deliveries"] == 1
    wait_for_deliveries(sender, endpoint, have_state("delivered", 3))

    months = [each.event["data"]["month"] for each in receiver.received]
    assert months == [*MONTHS, MONTHS[1], MONTHS[0]]


@pytest.mark.parametrize(
    "since", ["2026-01-01T00:00:00", "yesterday or the day before", "0001-01-01T00:00:00+09:00"]
)
def test_an_unclear_time_is_refused(sender: Service, receiver: Receiver, since: str) -> None:
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]

    problem = read_problem(send(sender, "POST", f"/{endpoint}/replay", {"since": since}), 400)

    assert problem["violations"][0]["field"] == "since"


def test_nothing_is_sent_to_a_disabled_endpoint(sender: Service, receiver: Receiver) -> None:
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]
    close_month(sender)
    (delivery,) = wait_for_deliveries(sender, endpoint, have_state("delivered"))
    call(sender, "PUT", f"/{endpoint}", {"url": receiver.url, "enabled": False})

    replay = f"/{endpoint}/deliveries/{delivery['delivery_id']}/replay"
    requests = [
        send(sender, "POST", replay),
        send(sender, "POST", f"/{endpoint}/replay", {"since": "2026-01-01T00:00:00Z"}),
        send(sender, "POST", f"/{endpoint}/test"),
    ]

    assert {read_problem(each, 409)["code"] for each in requests} == {"endpoint_disabled"}
    assert list_deliveries(sender, endpoint) == [delivery]


def test_replaying_an_earlier_event_holds_back_later_ones(
    sender: Service, receiver: Receiver, shifted_clock: ShiftedClock
) -> None:
    receiver.answers = [204, 500, 500]
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]
    close_month(sender)
    (first,) = wait_for_deliveries(sender, endpoint, have_state("delivered"))
    reopen_month(sender)
    wait_for_deliveries(sender, endpoint, have_attempts(1, 1))

    call(sender, "POST", f"/{endpoint}/deliveries/{first['delivery_id']}/replay")
    receiver.wait_for(3)
    shifted_clock.advance(PAUSES[0])
    wait_for_deliveries(sender, endpoint, have_state("delivered", 2))

    assert receiver.event_types == [
        *("month.closed", "month.reopened"),
        *("month.closed", "month.closed", "month.reopened"),
    ]


def test_an_unknown_delivery_cannot_be_replayed(sender: Service, receiver: Receiver) -> None:
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]
    other = create_endpoint(sender, receiver.url, enabled=False)["endpoint_id"]
    close_month(sender)
    (delivery,) = wait_for_deliveries(sender, endpoint, have_state("delivered"))

    read_problem(send(sender, "POST", f"/{endpoint}/deliveries/whd_x/replay"), 404)
    replay = f"/{other}/deliveries/{delivery['delivery_id']}/replay"
    read_problem(send(sender, "POST", replay), 404)


def test_two_secrets_sign_for_a_day_after_a_rotation(
    sender: Service, receiver: Receiver, shifted_clock: ShiftedClock
) -> None:
    created = create_endpoint(sender, receiver.url)
    endpoint, old = created["endpoint_id"], created["secret"]
    assert created["previous_secret_until"] is None

    rotated = call(sender, "POST", f"/{endpoint}/secret")
    new, until = rotated["secret"], datetime.fromisoformat(rotated["previous_secret_until"])
    assert new != old
    assert abs(until - clock.now().astimezone(UTC) - timedelta(hours=24)) < timedelta(minutes=5)
    assert call(sender, "GET", f"/{endpoint}")["previous_secret_until"] is not None

    close_month(sender, MONTHS[0])
    (first,) = receiver.wait_for(1)
    assert first.headers["webhook-signature"].split(" ") == [
        sign_by_hand(new, first),
        sign_by_hand(old, first),
    ]
    shifted_clock.advance(timedelta(hours=24))
    close_month(sender, MONTHS[1])
    second = receiver.wait_for(2)[1]
    assert second.headers["webhook-signature"] == sign_by_hand(new, second)
    assert call(sender, "GET", f"/{endpoint}")["previous_secret_until"] is None


def test_a_second_rotation_ends_the_first_secret_at_once(
    sender: Service, receiver: Receiver
) -> None:
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]
    second = call(sender, "POST", f"/{endpoint}/secret")["secret"]
    third = call(sender, "POST", f"/{endpoint}/secret")["secret"]

    close_month(sender)

    (received,) = receiver.wait_for(1)
    assert received.headers["webhook-signature"].split(" ") == [
        sign_by_hand(third, received),
        sign_by_hand(second, received),
    ]


def test_expired_secrets_and_old_events_are_deleted(
    sender: Service, receiver: Receiver, shifted_clock: ShiftedClock
) -> None:
    receiver.answers = [204, 500]
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]
    close_month(sender, MONTHS[0])
    wait_for_deliveries(sender, endpoint, have_state("delivered"))
    close_month(sender, MONTHS[1])
    wait_for_deliveries(sender, endpoint, have_attempts(1, 1))
    call(sender, "POST", f"/{endpoint}/secret")
    later = clock.now() + timedelta(days=2)

    in_transaction(sender, lambda db, scope: records.delete_old_events(db, scope, before=later))()
    in_transaction(sender, lambda db, scope: records.delete_expired_secrets(db, scope, at=later))()

    (kept,) = list_deliveries(sender, endpoint)
    assert kept["state"] == "waiting"
    row = in_transaction(sender, lambda db, scope: records.find_endpoint(db, scope, endpoint))()
    assert (row.encrypted_previous_secret, row.previous_secret_until) == (None, None)


def test_a_test_event_goes_to_one_endpoint_whatever_its_types(
    sender: Service, receiver: Receiver
) -> None:
    endpoint = create_endpoint(sender, receiver.url, event_types=["month.closed"])["endpoint_id"]
    create_endpoint(sender, receiver.url)

    sent = call(sender, "POST", f"/{endpoint}/test")

    (delivery,) = wait_for_deliveries(sender, endpoint, have_state("delivered"))
    (received,) = receiver.received
    assert delivery["delivery_id"] == sent["delivery_id"]
    assert received.event_id == delivery["event_id"] == sent["event_id"]
    assert received.event_type == delivery["event_type"] == "webhook.test"
    assert received.event["data"] == {"endpoint_id": endpoint}
