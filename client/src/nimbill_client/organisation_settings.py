"""The settings of the organisation."""

from decimal import Decimal

import msgspec

from nimbill_client.connection import Call, Connection
from nimbill_client.record import Record

PATH = "/m/core/settings"


class Band(Record, frozen=True, kw_only=True):
    upto: Decimal | None
    rate: Decimal


class OrganisationSettings(Record, frozen=True, kw_only=True):
    rounding: str = ""
    usage_table: list[Band] = msgspec.field(default_factory=list)
    invoice_setting_update: str = ""
    cost_tag_key: str | None = None
    invoice_template_id: str | None = None
    time_zone: str = ""
    language: str = ""


class OrganisationSettingsChange(Record, frozen=True, kw_only=True):
    rounding: str | None = None
    usage_table: list[Band] | None = None
    invoice_setting_update: str | None = None
    cost_tag_key: str | None = None
    invoice_template_id: str | None = None
    time_zone: str | None = None
    language: str | None = None


class Settings:
    """Rounding, language, time zone and defaults for all billing groups."""

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
