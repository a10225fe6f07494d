"""Creates webhook endpoints and deliveries without a limit on their number."""

from __future__ import annotations

from nimbill.access.signing_keys import load_organisation_encryptor
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import clock
from nimbill.foundation.ids import new_id
from nimbill.webhooks.endpoint_secrets import encrypt_secret
from nimbill.webhooks.event_types import WebhookEventType
from nimbill.webhooks.signature import generate_secret
from tests.contract.tenants import Tenant


def make_webhook(tenant: Tenant) -> str:
    """An endpoint with a delivery. No name server knows the address, so that nothing is sent.

    It waits for a rare event: the others would be delivered to each of them in vain.
    """
    endpoint_id, resources = new_id("whe"), tenant.service.resources
    scope = TenantScope(tenant.organisation_id)

    async def encrypt() -> bytes:
        async with transaction(resources.engine, tenant.organisation_id) as db:
            own_encryptor = await load_organisation_encryptor(db, scope, resources.encryptor)
        return encrypt_secret(own_encryptor, scope, endpoint_id, generate_secret())

    tenant.add(
        "webhook_endpoints",
        endpoint_id=endpoint_id,
        url=f"https://{tenant.word('w')}.invalid/",
        description=tenant.word("w"),
        event_types=[WebhookEventType.budget_alert],
        encrypted_secret=tenant.service.run(encrypt),
    )
    make_webhook_delivery(tenant, endpoint_id)
    return endpoint_id


def make_webhook_delivery(tenant: Tenant, endpoint_id: str | None = None) -> str:
    delivery_id, event_id, now = new_id("whd"), new_id("evt"), clock.now()
    tenant.add(
        "webhook_events",
        event_id=event_id,
        event_type="month.closed",
        payload="{}",
        event_time=now,
    )
    tenant.add(
        "webhook_deliveries",
        delivery_id=delivery_id,
        endpoint_id=endpoint_id or make_webhook(tenant),
        event_id=event_id,
        object=tenant.word("w"),
        event_time=now,
        state="failed",
    )
    return delivery_id
