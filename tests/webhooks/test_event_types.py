"""Every type of event is described, small, and counted when it is sent."""

from __future__ import annotations

from pathlib import Path
from string import Formatter

import pytest

from nimbill.webhooks.event_types import WebhookEventType
from nimbill.webhooks.events import PAYLOAD_BYTES_MAX, _build_event
from tests.running_service import Service
from tests.webhooks.endpoints import (
    close_month,
    create_endpoint,
    have_state,
    list_deliveries,
    send,
    wait_for_deliveries,
)
from tests.webhooks.receiver import Receiver

PAGE = Path(__file__).parents[2] / "docs" / "webhooks.md"


@pytest.mark.parametrize("event_type", WebhookEventType)
def test_the_page_about_webhooks_lists_the_type_with_its_object(
    event_type: WebhookEventType,
) -> None:
    (row,) = [
        line for line in PAGE.read_text().splitlines() if line.startswith(f"| `{event_type}` |")
    ]

    data = row.split("|")[3]
    fields = [name for _, name, _, _ in Formatter().parse(event_type.object_template) if name]
    assert fields
    assert all(name in data for name in fields)


def test_a_payload_of_20_kilobytes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"month\.closed"):
        _build_event("month.closed", {"text": "x" * PAYLOAD_BYTES_MAX}, None)  # type: ignore[arg-type]


def test_attempts_are_counted_by_outcome(sender: Service, receiver: Receiver) -> None:
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]
    close_month(sender)
    wait_for_deliveries(sender, endpoint, have_state("delivered"))

    metrics = sender.read_metrics()

    assert 'nimbill_webhook_attempts_total{outcome="delivered"}' in metrics
    assert endpoint not in metrics


def test_deliveries_are_paged_and_selected_by_state(sender: Service, receiver: Receiver) -> None:
    endpoint = create_endpoint(sender, receiver.url)["endpoint_id"]
    for month in ("2026-01", "2026-02", "2026-03"):
        close_month(sender, month)
    wait_for_deliveries(sender, endpoint, have_state("delivered", 3))

    page = send(sender, "GET", f"/{endpoint}/deliveries?limit=1&offset=1")

    assert page.headers["x-total-count"] == "3"
    assert [each["object"] for each in page.json()] == ["month/aws/2026-02"]
    assert len(list_deliveries(sender, endpoint, "?state=delivered")) == 3
    assert list_deliveries(sender, endpoint, "?state=failed") == []
