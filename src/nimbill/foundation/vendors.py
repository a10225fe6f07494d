"""The types of fields that name a vendor. An organisation bills those that its settings enable."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from nimbill.foundation.vendor_names import BILLED_VENDORS, NAME_PATTERN, VENDORS, VendorRule


def _vendor_field(*always: str) -> msgspec.Meta:
    rule = VendorRule(always)
    stated = {"enum": rule.list_names(BILLED_VENDORS)}
    return msgspec.Meta(
        pattern=NAME_PATTERN,
        extra={"vendors": rule},
        extra_json_schema={"anyOf": [stated, {"pattern": NAME_PATTERN}]},
    )


# a vendor that the organisation bills: it has accounts, invoice settings and invoices
BilledVendor = Annotated[str, _vendor_field()]
# a vendor that costs or invoices are requested of; the organisation may have none
Vendor = Annotated[str, _vendor_field(*VENDORS)]
# the name of a vendor in the setting that enables it
VendorName = Annotated[str, msgspec.Meta(pattern=NAME_PATTERN)]


def get_vendor_rule(extra: Mapping[str, Any] | None) -> VendorRule | None:
    """Return the rule of a vendor field from the metadata of its type."""
    rule = (extra or {}).get("vendors")
    return rule if isinstance(rule, VendorRule) else None
