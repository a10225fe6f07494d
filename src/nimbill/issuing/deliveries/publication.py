"""Changes from when customers see a sent invoice, and the mails that wait for it."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.issuing.deliveries import records
from nimbill.issuing.deliveries.bodies import DeliveryMethod, DeliveryState
from nimbill.issuing.deliveries.operations import DELIVER_INVOICE
from nimbill.issuing.sending.operations import InvoiceStatus, publish
from nimbill.issuing.sending.publish_time_rules import parse_publish_time
from nimbill.jobs.records import run_sooner


async def publish_invoice(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    publish_time: str,
) -> InvoiceStatus:
    """Choose another time of publication; mails with a link to the invoice wait for it."""
    due = parse_publish_time(publish_time)
    status = await publish(db, scope, period, company_id, due)
    selected = records.DeliveryFilter(
        vendor=period.vendor, company_id=company_id, state=DeliveryState.queued
    )
    queued = await records.list_deliveries(db, scope, period.month, selected)
    for row in queued.rows:
        if row.method == DeliveryMethod.link:
            await run_sooner(db, scope, DELIVER_INVOICE, subject=row.delivery_id, due=due)
    return status
