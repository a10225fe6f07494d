"""Events are delivered: signed, again after a failure, in order, and not to those who went away."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import clock
from nimbill.webhooks import http_sender
from nimbill.webhooks.event_types import WebhookEventType
from nimbill.webhooks.events import publish_event
from nimbill.webhooks.retry_rules import ATTEMPTS_MAX, PAUSES
from tests.running_service import Service
from tests.webhooks.conftest import ShiftedClock
from tests.webhooks.endpoints import (
    MONTH,
    call,
    close_month,
    create_endpoint,
    have_attempts,
    have_state,
    list_deliveries,
    reopen_month,
    wait_for_deliveries,
)
from tests.webhooks.receiver import Received, Receiver, running_receiver


def sign_by_hand(secret: str, received: Received) -> str:
    """The rule as published by Standard Webhooks, written without code of the service."""
    key = base64.b64decode(secret.split("_", 1)[1])
    content = b".".join(
        [
            received.headers["webhook-id"].encode(),
            received.headers["webhook-timestamp"].encode(),
            received.body,
        ]
    )
    return "v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()


def test_an_event_is_delivered_with_a_valid_signature(sender: Service, receiver: Receiver) -> None:
    endpoint = create_endpoint(sender, receiver.url)

    close_month(sender)

    (received,) = receiver.wait_for(1)
    assert received.path == "/hooks?from=nimbill"
    assert received.headers["content-type"] == "application/json"
    assert received.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert received.headers["webhook-signature"] == sign_by_hand(endpoint["secret"], received)
    assert abs(int(received.headers["webhook-timestamp"]) - clock.unix_seconds()) < 300
    assert received.event.keys() == {"type", "timestamp", "data"}
    assert received.event_type == "month.closed"
    assert received.event["data"] == {"month": MONTH, "vendor": "aws", "closing_number": 1}
    (delivery,) = wait_for_deliveries(sender, endpoint["endpoint_id"], have_state("delivered"))
    assert delivery["event_id"] == received.event_id
    assert (delivery["attempts"], delivery["last_status"]) == (1, 204)
    assert delivery["last_error"] is None
    assert delivery["next_attempt_time"] is None


def test_a_failed_delivery_is_repeated_with_growing_pauses_and_then_given_up(
    sender: Service, receiver: Receiver, shifted_clock: ShiftedClock
) -> None:
    receiver.status = 503
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]

    close_month(sender)
    for number, pause in enumerate(PAUSES, 1):
        (delivery,) = wait_for_deliveries(sender, endpoint, have_attempts(number))
        assert (delivery["state"], delivery["last_error"]) == ("waiting", "status")
        shifted_clock.advance(pause)
    (delivery,) = wait_for_deliveries(sender, endpoint, have_state("failed"))

    assert (delivery["attempts"], delivery["last_status"]) == (ATTEMPTS_MAX, 503)
    requests = receiver.wait_for(ATTEMPTS_MAX)
    # the clock may pass the lease of a job, which is then run again: events arrive at least once
    assert len(requests) >= ATTEMPTS_MAX
    assert {each.event_id for each in requests} == {delivery["event_id"]}
    assert len({each.body for each in requests}) == 1
    assert len({each.headers["webhook-timestamp"] for each in requests}) >= ATTEMPTS_MAX


def test_an_endpoint_that_answers_410_is_disabled(sender: Service, receiver: Receiver) -> None:
    receiver.status = 410
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]

    close_month(sender)

    (delivery,) = wait_for_deliveries(sender, endpoint, have_state("failed"))
    assert (delivery["last_status"], delivery["last_error"]) == (410, "gone")
    shown = call(sender, "GET", f"/{endpoint}")
    assert (shown["enabled"], shown["disabled_reason"]) == (False, "gone")
    reopen_month(sender)
    assert len(list_deliveries(sender, endpoint)) == 1
    assert len(receiver.received) == 1


def test_what_waits_for_a_disabled_endpoint_is_given_up(
    sender: Service, receiver: Receiver
) -> None:
    receiver.answers = [500, 410]
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]
    close_month(sender, "2026-01")
    wait_for_deliveries(sender, endpoint, have_attempts(1))

    close_month(sender, "2026-02")

    newer, older = wait_for_deliveries(sender, endpoint, have_state("failed", 2))
    assert newer["last_error"] == "gone"
    assert older["last_error"] == "endpoint_disabled"


def test_redirects_are_not_followed(sender: Service, receiver: Receiver) -> None:
    receiver.answers = [302]
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]

    close_month(sender)

    (delivery,) = wait_for_deliveries(sender, endpoint, have_attempts(1))
    assert (delivery["state"], delivery["last_error"]) == ("waiting", "redirect")
    assert delivery["last_status"] == 302
    assert [each.path for each in receiver.received] == ["/hooks?from=nimbill"]


def test_a_receiver_that_does_not_answer_is_left_after_some_seconds(
    sender: Service, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 15 <= http_sender.TIMEOUT_SECONDS <= 30
    monkeypatch.setattr(http_sender, "TIMEOUT_SECONDS", 0.2)
    receiver.is_answering.clear()
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]

    close_month(sender)

    (delivery,) = wait_for_deliveries(sender, endpoint, have_attempts(1))
    assert (delivery["last_error"], delivery["last_status"]) == ("timeout", None)


def test_a_later_event_of_an_object_waits_for_the_earlier_one(
    sender: Service, receiver: Receiver, shifted_clock: ShiftedClock
) -> None:
    receiver.answers = [500]
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]
    close_month(sender)
    wait_for_deliveries(sender, endpoint, have_attempts(1))

    reopen_month(sender)
    close_month(sender, "2026-05")  # another object does not wait
    wait_for_deliveries(sender, endpoint, have_attempts(1, 0, 1))
    shifted_clock.advance(PAUSES[0])
    wait_for_deliveries(sender, endpoint, have_state("delivered", 3))

    months = [
        (each.event_type, each.event["data"]["month"], each.event_id) for each in receiver.received
    ]
    assert [each[:2] for each in months] == [
        ("month.closed", MONTH),
        ("month.closed", "2026-05"),
        ("month.closed", MONTH),
        ("month.reopened", MONTH),
    ]
    assert months[0][2] == months[2][2]


def test_a_later_event_is_delivered_after_the_earlier_one_was_given_up(
    sender: Service, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nimbill.webhooks.delivery.find_next_attempt", lambda *_: None)
    receiver.answers = [500]
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]
    close_month(sender)

    reopen_month(sender)

    newer, older = wait_for_deliveries(sender, endpoint, have_state("delivered"))
    assert (newer["event_type"], newer["state"]) == ("month.reopened", "delivered")
    assert (older["event_type"], older["state"]) == ("month.closed", "failed")
    assert receiver.event_types == ["month.closed", "month.reopened"]


def test_many_events_of_an_object_arrive_in_order(sender: Service, receiver: Receiver) -> None:
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]

    for _ in range(5):
        close_month(sender)
        reopen_month(sender)

    wait_for_deliveries(sender, endpoint, have_state("delivered", 10))
    assert receiver.event_types == ["month.closed", "month.reopened"] * 5


def test_what_is_rolled_back_is_not_announced(sender: Service, receiver: Receiver) -> None:
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]
    scope = TenantScope(sender.organisation.organisation_id)

    async def publish(db: AsyncConnection, month: str) -> None:
        data = {"month": month, "vendor": "aws"}
        await publish_event(db, scope, WebhookEventType.month_closed, data)

    async def publish_and_fail() -> None:
        async with transaction(sender.resources.engine, scope.organisation_id) as db:
            await publish(db, "2026-01")
            raise RuntimeError("rolled back")

    with pytest.raises(RuntimeError):
        sender.run(publish_and_fail)
    close_month(sender)

    (delivery,) = wait_for_deliveries(sender, endpoint, have_state("delivered"))
    assert delivery["object"] == f"month/aws/{MONTH}"
    assert len(receiver.received) == 1


def test_events_go_to_the_endpoints_of_their_organisation_only(
    sender: Service, receiver: Receiver
) -> None:
    first = sender.organisation
    create_endpoint(sender, receiver.url)
    with running_receiver() as other:
        sender.organisation = second = sender.new_organisation()
        endpoint = create_endpoint(sender, other.url)["endpoint_id"]

        close_month(sender)
        wait_for_deliveries(sender, endpoint, have_state("delivered"))
        assert receiver.received == []

        sender.organisation = first
        close_month(sender, "2026-04")
        receiver.wait_for(1)
        sender.organisation = second
        assert len(other.received) == 1


def test_a_slow_endpoint_does_not_delay_other_organisations(
    sender: Service, receiver: Receiver
) -> None:
    receiver.is_answering.clear()
    slow = sender.organisation
    for _ in range(5):
        create_endpoint(sender, receiver.url)
    for month in ("2026-01", "2026-02", "2026-03"):
        close_month(sender, month)
    receiver.wait_for(4)

    with running_receiver() as other:
        sender.organisation = sender.new_organisation()
        endpoint = create_endpoint(sender, other.url)["endpoint_id"]
        close_month(sender)
        wait_for_deliveries(sender, endpoint, have_state("delivered"))

    sender.organisation = slow
    receiver.is_answering.set()
    receiver.wait_for(15)


def test_an_endpoint_receives_only_the_types_that_it_names(
    sender: Service, receiver: Receiver
) -> None:
    endpoint = create_endpoint(sender, receiver.url, event_types=["month.reopened"])["endpoint_id"]

    close_month(sender)
    reopen_month(sender)

    wait_for_deliveries(sender, endpoint, have_state("delivered"))
    assert receiver.event_types == ["month.reopened"]


def test_a_process_that_dies_before_the_record_sends_the_event_again(
    sender: Service, receiver: Receiver, shifted_clock: ShiftedClock, monkeypatch: Any
) -> None:
    """Nothing of an attempt is stored before the response."""
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]

    async def die(*_: object, **__: object) -> str:
        monkeypatch.undo()
        monkeypatch.setattr(clock, "now", shifted_clock.now)
        raise RuntimeError("killed")

    monkeypatch.setattr("nimbill.webhooks.delivery.EndpointDelivery._record", die)
    close_month(sender)
    first = receiver.wait_for(1)[0]
    shifted_clock.advance(PAUSES[1])  # the job is tried again

    first_again = receiver.wait_for(2)[1]
    assert (first_again.event_id, first_again.body) == (first.event_id, first.body)
    (delivery,) = wait_for_deliveries(sender, endpoint, have_state("delivered"))
    assert delivery["attempts"] == 1
