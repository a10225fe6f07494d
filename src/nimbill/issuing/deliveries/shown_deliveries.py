"""Shows mails with invoices and what became of them."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.contacts.records import SendAs
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import not_found
from nimbill.foundation.language import Language
from nimbill.invoicing.documents.stored_invoices import format_invoice_no
from nimbill.issuing.deliveries import records
from nimbill.issuing.deliveries.bodies import (
    DeliveryMethod,
    DeliveryState,
    InvoiceDelivery,
    Recipient,
    RefusedRecipient,
)


def show_delivery(row: Row) -> InvoiceDelivery:
    return InvoiceDelivery(
        delivery_id=row.delivery_id,
        month=row.month,
        company_id=row.company_id,
        billinggroup_name=row.billinggroup_name,
        vendor=row.vendor,
        invoice_no=format_invoice_no(row.month, row.number),
        revision=row.revision,
        method=DeliveryMethod(row.method),
        state=DeliveryState(row.state),
        cause=row.cause,
        message_id=row.message_id,
        language=Language(row.language),
        recipients=[
            Recipient(name=each["name"], email=each["email"], send_as=SendAs(each["send_as"]))
            for each in row.recipients
        ],
        refused=[RefusedRecipient(**each) for each in row.refused],
        subject=row.subject,
        text=row.text,
        attachment=row.attachment,
        attempts=row.attempts,
        created_by=row.created_by,
        create_time=clock.format_timestamp(row.create_time),
        update_time=clock.format_timestamp(row.update_time),
        delivered_time=row.delivered_time and clock.format_timestamp(row.delivered_time),
    )


async def list_deliveries_of_invoice(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str
) -> list[InvoiceDelivery]:
    if not await records.list_candidates(db, scope, period, [company_id]):
        raise not_found()
    selected = records.DeliveryFilter(vendor=period.vendor, company_id=company_id)
    page = await records.list_deliveries(db, scope, period.month, selected)
    return [show_delivery(row) for row in page.rows]
