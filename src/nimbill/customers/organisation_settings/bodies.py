"""An organisation's settings, as they are read and changed."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, ClassVar
from zoneinfo import available_timezones

import msgspec

from nimbill.customers.organisation_settings.usage_table_rules import usage_table_violations
from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.errors import Violation
from nimbill.foundation.money import Rounding
from nimbill.foundation.vocabulary import Language
from nimbill.http.request_bodies import Body, text


class SettingUpdate(StrEnum):
    """Which values an update of an invoice setting accepts: its own column, or either."""

    stated = "stated"
    either = "either"


class Band(Body, frozen=True, kw_only=True):
    """The rate up to an amount; the last band has no end."""

    basis: ClassVar[Basis] = chosen("organisation-settings")

    upto: Decimal | None
    rate: Decimal


class OrganisationSettings(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("organisation-settings")

    rounding: Rounding = Rounding.half_up
    usage_table: list[Band] = msgspec.field(default_factory=list)
    invoice_setting_update: SettingUpdate = SettingUpdate.stated
    cost_tag_key: str | None = None
    invoice_template_id: str | None = None
    time_zone: str = "Asia/Tokyo"
    language: Language = Language.ja


class OrganisationSettingsChange(Body, frozen=True, kw_only=True):
    """Changes the keys sent; null leaves a setting as it is, "" clears a text."""

    basis: ClassVar[Basis] = chosen("organisation-settings")

    rounding: Rounding | None = None
    usage_table: list[Band] | None = None
    invoice_setting_update: SettingUpdate | None = None
    cost_tag_key: Annotated[str, text(0, 128)] | None = None
    invoice_template_id: str | None = None
    time_zone: str | None = None
    language: Language | None = None

    @classmethod
    def broken_rules(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        zone = sent.get("time_zone")
        if isinstance(zone, str) and zone not in available_timezones():
            yield Violation("time_zone", "a name of the time zone database, such as Asia/Tokyo")
        yield from usage_table_violations(sent.get("usage_table"))
