"""HTTP routes of webhooks; paths are relative to /m/core."""

from typing import Annotated, Any

from litestar.params import FromPath, JSONBody, QueryParameter

from nimbill.access.gate import Audience, Changes
from nimbill.access.role_actions import RoleAction
from nimbill.database.list_query import ListQuery
from nimbill.foundation.basis import chosen
from nimbill.http.list_parameters import ReportTotal
from nimbill.http.request_bodies import Success
from nimbill.http.routing import (
    Limit,
    Offset,
    RequestCaller,
    Transaction,
    WorkerResources,
    delete,
    get,
    post,
    put,
)
from nimbill.webhooks import operations
from nimbill.webhooks.bodies import (
    EventState,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEndpointBody,
    WebhookReplay,
    WebhookReplayed,
    WebhookSecret,
    WebhookTest,
)

_READ: dict[str, Any] = {
    "audiences": [Audience.core],
    "role_actions": [RoleAction.ReadSettings, RoleAction.ModifySettings],
    "basis": chosen("webhooks"),
}
_CHANGE: dict[str, Any] = {
    "audiences": [Audience.core],
    "role_actions": [RoleAction.ModifySettings],
    "changes": Changes.shared_records,
}


@get("/webhooks", **_READ)
async def list_webhooks(caller: RequestCaller, db: Transaction) -> list[WebhookEndpoint]:
    """List the webhook endpoints, the oldest first."""
    return await operations.list_endpoints(db, caller.scope)


@post("/webhooks", **_CHANGE, basis=chosen("webhooks"), audited="webhook/{endpoint_id}")
async def create_webhook(
    data: JSONBody[WebhookEndpointBody],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> WebhookSecret:
    """Create a webhook endpoint. Only this response shows its secret."""
    return await operations.create_endpoint(db, caller.scope, resources, data)


@get("/webhooks/{endpoint_id:str}", **_READ)
async def read_webhook(
    endpoint_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> WebhookEndpoint:
    """Show a webhook endpoint."""
    return await operations.read_endpoint(db, caller.scope, endpoint_id)


@put(
    "/webhooks/{endpoint_id:str}",
    **_CHANGE,
    basis=chosen("webhooks"),
    audited="webhook/{endpoint_id}",
)
async def update_webhook(
    endpoint_id: FromPath[str],
    data: JSONBody[WebhookEndpointBody],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> WebhookEndpoint:
    """Replace address, description, event types and state of a webhook endpoint."""
    return await operations.update_endpoint(db, caller.scope, resources.settings, endpoint_id, data)


@delete(
    "/webhooks/{endpoint_id:str}",
    **_CHANGE,
    basis=chosen("webhooks"),
    audited="webhook/{endpoint_id}",
)
async def delete_webhook(
    endpoint_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> Success:
    """Delete a webhook endpoint with its deliveries."""
    await operations.delete_endpoint(db, caller.scope, endpoint_id)
    return Success()


@post(
    "/webhooks/{endpoint_id:str}/secret",
    **_CHANGE,
    basis=chosen("webhook-signatures"),
    audited="webhook/{endpoint_id}/secret",
)
async def rotate_webhook_secret(
    endpoint_id: FromPath[str],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> WebhookSecret:
    """Create a new secret. For 24 hours events are signed with the one before too."""
    return await operations.rotate_secret(db, caller.scope, resources, endpoint_id)


@post(
    "/webhooks/{endpoint_id:str}/test",
    **_CHANGE,
    basis=chosen("webhooks"),
    audited="webhook/{endpoint_id}/test",
)
async def send_test_webhook(
    endpoint_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> WebhookTest:
    """Send an event of type webhook.test to this endpoint."""
    return await operations.send_test_event(db, caller.scope, endpoint_id)


@get("/webhooks/{endpoint_id:str}/deliveries", **_READ, counted=True)
async def list_webhook_deliveries(
    endpoint_id: FromPath[str],
    caller: RequestCaller,
    db: Transaction,
    report_total: ReportTotal,
    delivery_state: Annotated[EventState | None, QueryParameter(name="state")] = None,
    limit: Limit = None,
    offset: Offset = 0,
) -> list[WebhookDelivery]:
    """List the deliveries of an endpoint, the newest event first; `state` selects some of them."""
    deliveries, total = await operations.list_deliveries(
        db, caller.scope, endpoint_id, ListQuery(limit, offset), delivery_state
    )
    report_total(total)
    return deliveries


@post(
    "/webhooks/{endpoint_id:str}/deliveries/{delivery_id:str}/replay",
    **_CHANGE,
    basis=chosen("webhook-replay"),
    audited="webhook/{endpoint_id}/deliveries/{delivery_id}",
)
async def replay_webhook_delivery(
    endpoint_id: FromPath[str], delivery_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> Success:
    """Send an event again, with the same webhook-id."""
    await operations.replay_delivery(db, caller.scope, endpoint_id, delivery_id)
    return Success()


@post(
    "/webhooks/{endpoint_id:str}/replay",
    **_CHANGE,
    basis=chosen("webhook-replay"),
    audited="webhook/{endpoint_id}/deliveries",
)
async def replay_failed_webhooks(
    endpoint_id: FromPath[str],
    data: JSONBody[WebhookReplay],
    caller: RequestCaller,
    db: Transaction,
) -> WebhookReplayed:
    """Send all failed deliveries of events since a time again."""
    number = await operations.replay_failed(db, caller.scope, endpoint_id, data.since)
    return WebhookReplayed(deliveries=number)


ROUTES = [
    list_webhooks,
    create_webhook,
    read_webhook,
    update_webhook,
    delete_webhook,
    rotate_webhook_secret,
    send_test_webhook,
    list_webhook_deliveries,
    replay_webhook_delivery,
    replay_failed_webhooks,
]
