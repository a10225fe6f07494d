"""The option --vendor: a vendor that the organisation bills."""

from typing import Literal

from nimbill.application.command_transaction import CommandTransaction
from nimbill.customers.organisation_settings.records import load_vendors
from nimbill.foundation.errors import Violation, refuse_if
from nimbill.foundation.vendor_names import VENDORS, VendorRule

# Shells complete the first two, and any other name is checked against the settings.
BilledVendorName = Literal["aws", "azure"] | str
KnownVendorName = Literal["aws", "azure", "gcp"] | str

BILLED = VendorRule()
READABLE = VendorRule(VENDORS)


async def list_named_vendors(
    command: CommandTransaction, vendor: str | None, rule: VendorRule = BILLED
) -> list[str]:
    """Return the named vendor, or all of them if none is named; refuse one that is not enabled."""
    enabled = await load_vendors(command.db, command.scope)
    if vendor is None:
        return rule.list_names(enabled)
    if vendor not in rule.list_names(enabled):
        refuse_if([Violation("vendor", rule.describe(enabled))])
    return [vendor]
