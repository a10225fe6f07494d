"""Request and response bodies of the organisation settings routes."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, ClassVar
from zoneinfo import available_timezones

import msgspec

from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.customers.organisation_settings import agent_role_rules  # version 3
from nimbill.customers.organisation_settings.check_limit_rules import find_check_limit_violations
from nimbill.customers.organisation_settings.portal_colour_rules import find_colour_violations
from nimbill.customers.organisation_settings.report_tag_rules import (
    KEY_LENGTH_MAX,
    find_report_tag_violations,
)
from nimbill.customers.organisation_settings.usage_table_rules import find_usage_table_violations
from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.email_rules import find_email_violations
from nimbill.foundation.errors import Violation
from nimbill.foundation.language import Language
from nimbill.foundation.money import Rounding
from nimbill.foundation.vendor_names import BILLED_VENDORS
from nimbill.foundation.vendors import VendorName
from nimbill.http.request_bodies import Body, text_length

PROVIDER_NAME = text_length(1, 100)
TAG_KEY = text_length(1, KEY_LENGTH_MAX)


class SettingUpdateMode(StrEnum):
    """Which values an update of an invoice setting accepts.

    `stated` accepts the values specified for updates, `either` also those specified for create.
    """

    stated = "stated"
    either = "either"


class PortalInvoices(StrEnum):
    """Which invoices customers see: from their creation, or only after they were sent."""

    created = "created"
    sent = "sent"


class Band(Body, frozen=True, kw_only=True):
    """A fee rate for amounts up to `upto`; the last band has no upper limit (null)."""

    basis: ClassVar[Basis] = chosen("organisation-settings")

    upto: Decimal | None
    rate: Decimal


class OrganisationSettings(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("organisation-settings")

    rounding: Rounding = Rounding.half_up
    usage_table: list[Band] = msgspec.field(default_factory=list)
    invoice_setting_update: SettingUpdateMode = SettingUpdateMode.stated
    cost_tag_key: str | None = None
    report_tag_keys: list[str] = msgspec.field(default_factory=list)
    invoice_template_id: str | None = None
    time_zone: str = "Asia/Tokyo"
    language: Language = Language.ja
    vendors: list[str] = msgspec.field(default_factory=lambda: list(BILLED_VENDORS))
    provider_names: dict[str, list[str]] = msgspec.field(default_factory=dict)
    agent_role_arn: str | None = None
    check_change_limit: Decimal = Decimal("0.3")
    check_margin_limit: Decimal = Decimal(0)
    portal_name: str | None = None
    portal_colour: str | None = None
    portal_shows_payments: bool = False
    portal_invoices: PortalInvoices = PortalInvoices.created
    invoice_reply_to: str | None = None
    staff_needs_second_factor: bool = False
    customers_need_second_factor: bool = False
    approval_required: list[ApprovalKind] = msgspec.field(default_factory=list)


class OrganisationSettingsChange(Body, frozen=True, kw_only=True):
    """An absent or null field is not changed; "" clears a text.

    The operation checks `vendors` and `provider_names`, because each depends on the other.
    """

    basis: ClassVar[Basis] = chosen("organisation-settings")

    rounding: Rounding | None = None
    usage_table: list[Band] | None = None
    invoice_setting_update: SettingUpdateMode | None = None
    cost_tag_key: Annotated[str, text_length(0, 128)] | None = None
    report_tag_keys: list[Annotated[str, TAG_KEY]] | None = None
    invoice_template_id: str | None = None
    time_zone: str | None = None
    language: Language | None = None
    vendors: list[VendorName] | None = None
    provider_names: dict[VendorName, list[Annotated[str, PROVIDER_NAME]]] | None = None
    agent_role_arn: str | None = None
    check_change_limit: Decimal | None = None
    check_margin_limit: Decimal | None = None
    portal_name: Annotated[str, text_length(0, 60)] | None = None
    portal_colour: str | None = None
    portal_shows_payments: bool | None = None
    portal_invoices: PortalInvoices | None = None
    invoice_reply_to: str | None = None
    staff_needs_second_factor: bool | None = None
    customers_need_second_factor: bool | None = None
    approval_required: list[ApprovalKind] | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        zone = sent.get("time_zone")
        if isinstance(zone, str) and zone not in available_timezones():
            yield Violation("time_zone", "a name of the time zone database, such as Asia/Tokyo")
        yield from agent_role_rules.find_role_violations(sent)  # version 3
        yield from find_check_limit_violations(sent)
        yield from find_colour_violations(sent.get("portal_colour"))
        if sent.get("invoice_reply_to"):
            yield from find_email_violations(sent["invoice_reply_to"], "invoice_reply_to")
        required = sent.get("approval_required")
        if isinstance(required, list) and len(set(map(str, required))) < len(required):
            yield Violation("approval_required", "each kind once")
        yield from find_report_tag_violations(sent.get("report_tag_keys"))
        yield from find_usage_table_violations(sent.get("usage_table"))
