"""Request and response bodies of webhooks."""

from enum import StrEnum
from typing import Annotated, ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.http.request_bodies import Body, Success, described, text_length
from nimbill.webhooks.event_types import WebhookEventType

URL_LENGTH_MAX = 2000


class EventState(StrEnum):
    waiting = "waiting"
    delivered = "delivered"
    failed = "failed"


class DeliveryError(StrEnum):
    """Why the last attempt did not deliver the event."""

    status = "status"  # the response is no success
    redirect = "redirect"
    gone = "gone"
    timeout = "timeout"
    connection = "connection"
    tls = "tls"
    dns = "dns"
    address_refused = "address_refused"
    endpoint_disabled = "endpoint_disabled"


class WebhookEndpointBody(Body, frozen=True, kw_only=True):
    """Body of both create and update, which replaces all fields; absent ones get their default."""

    basis: ClassVar[Basis] = chosen("webhooks")

    url: Annotated[str, text_length(1, URL_LENGTH_MAX)]
    description: Annotated[str, text_length(0, 200)] | None = None
    event_types: Annotated[
        list[WebhookEventType] | None,
        described("An empty list, the default, means all types, also those to come."),
    ] = None
    enabled: bool | None = None  # default: true


class WebhookEndpoint(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("webhooks")

    endpoint_id: str
    url: str
    description: str
    event_types: list[WebhookEventType]
    enabled: bool
    disabled_reason: Annotated[
        str | None, described("`gone` if the endpoint answered 410 and was disabled for this.")
    ]
    previous_secret_until: Annotated[
        str | None, described("Until then events are also signed with the secret before.")
    ]
    create_time: str
    update_time: str


class WebhookSecret(Success, frozen=True, kw_only=True):
    """Only this response shows the secret."""

    basis: ClassVar[Basis] = chosen("webhook-signatures")

    endpoint_id: str
    secret: str
    previous_secret_until: str | None


class WebhookTest(Success, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("webhooks")

    delivery_id: str
    event_id: str


class WebhookDelivery(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("webhooks")

    delivery_id: str
    event_id: Annotated[str, described("The header webhook-id.")]
    event_type: str
    object: Annotated[str, described("Events of the same object are delivered in order.")]
    state: EventState
    attempts: int
    last_status: int | None
    last_error: DeliveryError | None
    last_attempt_time: str | None
    next_attempt_time: str | None
    event_time: str


class WebhookReplay(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("webhook-replay")

    since: Annotated[str, text_length(20, 40), described("An RFC 3339 timestamp with a zone.")]


class WebhookReplayed(Success, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("webhook-replay")

    deliveries: Annotated[int, described("How many failed deliveries are sent again.")]
