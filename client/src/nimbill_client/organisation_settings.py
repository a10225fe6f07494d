"""The settings of the organisation."""

import base64
from decimal import Decimal

import msgspec

from nimbill_client.connection import Call, Connection
from nimbill_client.record import BilledVendor, Record, Success

PATH = "/m/core/settings"
LOGO_PATH = "/m/core/portal-logo"


class Band(Record, frozen=True, kw_only=True):
    upto: Decimal | None
    rate: Decimal


class OrganisationSettings(Record, frozen=True, kw_only=True):
    rounding: str = ""
    usage_table: list[Band] = msgspec.field(default_factory=list)
    invoice_setting_update: str = ""
    cost_tag_key: str | None = None
    report_tag_keys: list[str] = msgspec.field(default_factory=list)
    invoice_template_id: str | None = None
    time_zone: str = ""
    language: str = ""
    vendors: list[BilledVendor] = msgspec.field(default_factory=list)
    provider_names: dict[BilledVendor, list[str]] = msgspec.field(default_factory=dict)
    agent_role_arn: str | None = None
    check_change_limit: Decimal = Decimal("0.3")
    check_margin_limit: Decimal = Decimal(0)
    portal_name: str | None = None
    portal_colour: str | None = None
    portal_shows_payments: bool = False
    portal_invoices: str = "created"
    invoice_reply_to: str | None = None
    staff_needs_second_factor: bool = False
    customers_need_second_factor: bool = False
    approval_required: list[str] = msgspec.field(default_factory=list)


class OrganisationSettingsChange(Record, frozen=True, kw_only=True):
    rounding: str | None = None
    usage_table: list[Band] | None = None
    invoice_setting_update: str | None = None
    cost_tag_key: str | None = None
    report_tag_keys: list[str] | None = None
    invoice_template_id: str | None = None
    time_zone: str | None = None
    language: str | None = None
    vendors: list[BilledVendor] | None = None
    provider_names: dict[BilledVendor, list[str]] | None = None
    agent_role_arn: str | None = None
    check_change_limit: Decimal | None = None
    check_margin_limit: Decimal | None = None
    portal_name: str | None = None
    portal_colour: str | None = None
    portal_shows_payments: bool | None = None
    portal_invoices: str | None = None
    invoice_reply_to: str | None = None
    staff_needs_second_factor: bool | None = None
    customers_need_second_factor: bool | None = None
    approval_required: list[str] | None = None


class PortalLogo(Record, frozen=True, kw_only=True):
    """`logo` is the public address of the file."""

    logo: str
    media_type: str
    width: int
    height: int


class PortalLogoBody(Record, frozen=True, kw_only=True):
    """The file in base64."""

    content: str


class Settings:
    """Rounding, language, time zone, vendors and defaults for all billing groups."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def read(self) -> OrganisationSettings:
        return self._connection.fetch(OrganisationSettings, Call(method="GET", path=PATH))

    def change(
        self, change: OrganisationSettingsChange, *, key: str | None = None
    ) -> OrganisationSettings:
        """Absent fields are not changed; "" clears a text."""
        call = Call(method="PUT", path=PATH, body=change, key=key)
        return self._connection.fetch(OrganisationSettings, call)

    def save_logo(self, content: bytes, *, key: str | None = None) -> PortalLogo:
        """Store a PNG or JPEG file as the logo of the portal."""
        body = PortalLogoBody(content=base64.b64encode(content).decode())
        call = Call(method="PUT", path=LOGO_PATH, body=body, key=key)
        return self._connection.fetch(PortalLogo, call)

    def delete_logo(self, *, key: str | None = None) -> None:
        self._connection.fetch(Success, Call(method="DELETE", path=LOGO_PATH, key=key))
