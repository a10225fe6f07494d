"""Request and response bodies of the invoice template routes."""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, UnsetType

from nimbill.customers.invoice_templates.registration_number_rules import (
    is_registration_number_valid,
)
from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.errors import Violation
from nimbill.http.request_bodies import Body, Success, text_length

_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
DUE_DAYS_MAX = 365


class DueRule(StrEnum):
    """When an invoice is due: at the end of the month after its issue, or `due_days` after it."""

    end_of_next_month = "end_of_next_month"
    days = "days"


class InvoiceTemplateBody(Body, frozen=True, kw_only=True):
    """The issuer as printed. Only name and company are required."""

    basis: ClassVar[Basis] = chosen("invoice-templates")

    name: Annotated[str, text_length(1, 100)]
    company: Annotated[str, text_length(1, 200)]
    postal: Annotated[str, text_length(0, 20)] | None = None
    address: Annotated[str, text_length(0, 400)] | None = None
    phone: Annotated[str, text_length(0, 40)] | None = None
    contact: Annotated[str, text_length(0, 200)] | None = None
    registration_number: str | None = None
    bank_account: Annotated[str, text_length(0, 400)] | None = None
    notes: Annotated[str, text_length(0, 2000)] | None = None
    due_rule: DueRule | None = None
    due_days: int | None = None
    accent_colour: str | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        number, colour = sent.get("registration_number"), sent.get("accent_colour")
        if isinstance(number, str) and number and not is_registration_number_valid(number):
            rule = "T and 13 digits with their check digit"
            yield Violation("registration_number", rule)
        if isinstance(colour, str) and colour and not _COLOUR.fullmatch(colour):
            yield Violation("accent_colour", "# and six hexadecimal digits")
        days = sent.get("due_days")
        if isinstance(days, int) and not 0 <= days <= DUE_DAYS_MAX:
            yield Violation("due_days", f"from 0 to {DUE_DAYS_MAX}")
        if sent.get("due_rule") == DueRule.days and days is None:
            yield Violation("due_days", "required where due_rule is days")


class InvoiceTemplateCreated(Success, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("invoice-templates")

    invoice_template_id: str


class InvoiceTemplateRecord(InvoiceTemplateBody, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("invoice-templates")

    invoice_template_id: str
    etag: str | UnsetType = UNSET  # with the parameter `etags`
