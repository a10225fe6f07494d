"""Webhooks: endpoints that receive signed events, and what became of each event."""

from collections.abc import Iterator, Mapping

from nimbill_client.bodies import (
    Success,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEndpointBody,
    WebhookReplayed,
    WebhookSecret,
    WebhookTest,
)
from nimbill_client.connection import Call, Connection
from nimbill_client.pages import iterate_pages

PATH = "/m/core/webhooks"
ENDPOINT_PATH = "/m/core/webhooks/{endpoint_id}"


class Webhooks:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list_all(self) -> list[WebhookEndpoint]:
        return self._connection.fetch(list[WebhookEndpoint], Call(method="GET", path=PATH))

    def read(self, endpoint_id: str) -> WebhookEndpoint:
        call = Call(method="GET", path=ENDPOINT_PATH, ids={"endpoint_id": endpoint_id})
        return self._connection.fetch(WebhookEndpoint, call)

    def create(self, endpoint: WebhookEndpointBody, *, key: str | None = None) -> WebhookSecret:
        """Only this response contains the secret."""
        call = Call(method="POST", path=PATH, body=endpoint, key=key)
        return self._connection.fetch(WebhookSecret, call)

    def update(
        self, endpoint_id: str, endpoint: WebhookEndpointBody, *, key: str | None = None
    ) -> WebhookEndpoint:
        """Replace all fields."""
        ids = {"endpoint_id": endpoint_id}
        call = Call(method="PUT", path=ENDPOINT_PATH, ids=ids, body=endpoint, key=key)
        return self._connection.fetch(WebhookEndpoint, call)

    def delete(self, endpoint_id: str, *, key: str | None = None) -> None:
        call = Call(method="DELETE", path=ENDPOINT_PATH, ids={"endpoint_id": endpoint_id}, key=key)
        self._connection.fetch(Success, call)

    def rotate_secret(self, endpoint_id: str, *, key: str | None = None) -> WebhookSecret:
        """The secret until now signs too for 24 hours."""
        return self._connection.fetch(WebhookSecret, self._post("/secret", endpoint_id, key))

    def send_test(self, endpoint_id: str, *, key: str | None = None) -> WebhookTest:
        return self._connection.fetch(WebhookTest, self._post("/test", endpoint_id, key))

    def list_deliveries(
        self, endpoint_id: str, *, state: str | None = None
    ) -> Iterator[WebhookDelivery]:
        """The newest event first."""
        path, ids = f"{ENDPOINT_PATH}/deliveries", {"endpoint_id": endpoint_id}
        return iterate_pages(
            lambda page: self._connection.fetch(
                list[WebhookDelivery],
                Call(method="GET", path=path, ids=ids, query={**page, "state": state}),
            )
        )

    def replay(self, endpoint_id: str, delivery_id: str, *, key: str | None = None) -> None:
        """Send one event again, with the same webhook-id."""
        path = f"{ENDPOINT_PATH}/deliveries/{{delivery_id}}/replay"
        ids = {"endpoint_id": endpoint_id, "delivery_id": delivery_id}
        self._connection.fetch(Success, Call(method="POST", path=path, ids=ids, key=key))

    def replay_failed(self, endpoint_id: str, since: str, *, key: str | None = None) -> int:
        """Send all failed events since a time with a zone again; return their number."""
        call = self._post("/replay", endpoint_id, key, {"since": since})
        return self._connection.fetch(WebhookReplayed, call).deliveries

    def _post(
        self, below: str, endpoint_id: str, key: str | None, body: Mapping[str, str] | None = None
    ) -> Call:
        ids = {"endpoint_id": endpoint_id}
        return Call(method="POST", path=ENDPOINT_PATH + below, ids=ids, body=body, key=key)
