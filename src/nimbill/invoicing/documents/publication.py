"""Which invoices customers see: from their creation or once they were sent, at a chosen time."""

import sqlalchemy as sa

from nimbill.customers.organisation_settings.records import OrganisationSettings, PortalInvoices
from nimbill.foundation import clock
from nimbill.invoicing.documents.stored_invoices import invoices


def filter_published(settings: OrganisationSettings) -> list[sa.ColumnElement[bool]]:
    """Return conditions for the invoices that customers see now.

    Only a sent invoice has a time of publication.
    """
    publish_time = invoices.c.publish_time
    if settings.portal_invoices is PortalInvoices.sent:
        return [sa.func.coalesce(publish_time, invoices.c.sent_time) <= clock.now()]
    return [publish_time.is_(None) | (publish_time <= clock.now())]
