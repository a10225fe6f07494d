"""The operations for which an organisation can require the approval of a second person."""

from enum import StrEnum


class ApprovalKind(StrEnum):
    invoice_issue = "invoice_issue"  # sending invoices to customers
    credit_note = "credit_note"  # also cancelling and replacing sent invoices
    month_close = "month_close"
    month_reopen = "month_reopen"
    import_release = "import_release"
    rates = "rates"
    settings = "settings"
    bank_details = "bank_details"  # the contents of invoice templates
