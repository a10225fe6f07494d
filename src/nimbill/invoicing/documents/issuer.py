"""What an invoice takes from its template: the issuer and the due date."""

import calendar
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from nimbill.invoicing.documents.document import Issuer

# See docs/choices.md, invoice-dates.


def build_issuer(invoice_template_id: str, template: Mapping[str, Any]) -> Issuer:
    fields: dict[str, Any] = {name: template.get(name) for name in Issuer.__struct_fields__}
    return Issuer(**fields | {"invoice_template_id": invoice_template_id})


def calculate_due_date(template: Mapping[str, Any], issue_date: date) -> str | None:
    """Apply the due rule of the template; without a rule the invoice has no due date."""
    if template.get("due_rule") == "days":
        return (issue_date + timedelta(days=template["due_days"])).isoformat()
    if template.get("due_rule") == "end_of_next_month":
        year, month = issue_date.year + issue_date.month // 12, issue_date.month % 12 + 1
        return date(year, month, calendar.monthrange(year, month)[1]).isoformat()
    return None
