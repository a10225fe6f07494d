"""The types of events. To add one, add a line here and publish it where the change is made."""

from enum import StrEnum

# See docs/choices.md, webhook-events.


class WebhookEventType(StrEnum):
    """The name of each type, and the object whose events are delivered in order.

    The braces name fields of the event's data.
    """

    object_template: str

    def __new__(cls, name: str, object_template: str) -> "WebhookEventType":
        member = str.__new__(cls, name)
        member._value_ = name
        member.object_template = object_template
        return member

    import_committed = ("import.committed", "import/{import_id}")
    import_parked = ("import.parked", "import/{import_id}")
    import_drift = ("import.drift", "import/{import_id}")
    import_failed = ("import.failed", "import/{import_id}")
    invoice_run_finished = ("invoice_run.finished", "invoice_run/{run_id}")
    invoice_created = ("invoice.created", "invoice/{month}/{company_id}/{vendor}")
    invoice_sent = ("invoice.sent", "invoice/{month}/{company_id}/{vendor}")
    invoice_cancelled = ("invoice.cancelled", "invoice/{month}/{company_id}/{vendor}")
    credit_note_issued = ("credit_note.issued", "invoice/{month}/{company_id}/{vendor}")
    month_closed = ("month.closed", "month/{vendor}/{month}")
    month_reopened = ("month.reopened", "month/{vendor}/{month}")
    approval_requested = ("approval.requested", "approval/{approval_id}")
    approval_approved = ("approval.approved", "approval/{approval_id}")
    approval_rejected = ("approval.rejected", "approval/{approval_id}")
    approval_withdrawn = ("approval.withdrawn", "approval/{approval_id}")
    approval_expired = ("approval.expired", "approval/{approval_id}")
    approval_outdated = ("approval.outdated", "approval/{approval_id}")
    budget_alert = ("budget.alert", "budget/{budget_id}")


# Sent to one endpoint that its owner tries; endpoints do not subscribe to it.
TEST_EVENT = "webhook.test"
