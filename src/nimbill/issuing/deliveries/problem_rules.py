"""Why an invoice cannot be mailed, in the order in which the reasons are listed."""

from dataclasses import dataclass
from enum import StrEnum

from nimbill.foundation.basis import chosen

basis = chosen("mailed-invoices")


class DeliveryProblem(StrEnum):
    cancelled = "cancelled"
    already_sent = "already_sent"
    mail_in_progress = "mail_in_progress"
    revision_changed = "revision_changed"
    outdated = "outdated"
    not_approved = "not_approved"
    no_contact = "no_contact"
    no_portal_login = "no_portal_login"


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceFacts:
    """What is known of an invoice, its customer and the request."""

    is_sent: bool
    is_cancelled: bool
    is_outdated: bool
    lacks_approval: bool  # which the organisation requires before an invoice is sent
    is_mailed_now: bool  # an earlier mail has no outcome yet
    revision: int
    seen_revision: int | None  # which the caller has seen; None if the caller names none
    has_recipient: bool
    has_portal_login: bool  # somebody of the customer may see invoices in the portal
    by_link: bool
    again: bool


def find_problems(facts: InvoiceFacts) -> list[DeliveryProblem]:
    """An invoice without problems can be mailed."""
    found = {
        DeliveryProblem.cancelled: facts.is_cancelled,
        DeliveryProblem.already_sent: facts.is_sent and not facts.is_cancelled and not facts.again,
        DeliveryProblem.mail_in_progress: facts.is_mailed_now,
        DeliveryProblem.revision_changed: facts.seen_revision not in (None, facts.revision),
        DeliveryProblem.outdated: facts.is_outdated,
        DeliveryProblem.not_approved: facts.lacks_approval and not facts.is_sent,
        DeliveryProblem.no_contact: not facts.has_recipient,
        DeliveryProblem.no_portal_login: facts.by_link and not facts.has_portal_login,
    }
    return [problem for problem, exists in found.items() if exists]
