"""The names of the cloud vendors: in the API, in FOCUS files and on invoices."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

# vendors whose own cost files can be read
VENDORS = ("aws", "azure", "gcp")
# vendors that an organisation bills as long as its settings name no others
BILLED_VENDORS = ("aws", "azure")

NAME_PATTERN = "^[a-z][a-z0-9-]{1,30}$"
NAME_RULE = "a lower-case letter and then 1 to 30 lower-case letters, digits or hyphens"

# The names of a vendor as provider and publisher in FOCUS files, in lower case.
# fmt: off
PROVIDER_NAMES: Mapping[str, tuple[str, ...]] = {
    "aws":   ("aws", "amazon", "amazon web services", "amazon web services, inc."),
    "azure": ("microsoft", "azure", "microsoft azure", "microsoft corporation"),
    "gcp":   ("google", "gcp", "google cloud", "google cloud platform", "google llc"),
}
LABELS: Mapping[str, str] = {"aws": "AWS", "azure": "Azure", "gcp": "GCP"}
# The names that exported FOCUS files give the vendors.
EXPORTED_NAMES: Mapping[str, str] = {"aws": "AWS", "azure": "Microsoft", "gcp": "Google Cloud"}
# fmt: on

ProviderNames = Mapping[str, Sequence[str]]  # by vendor, in the settings of an organisation
NO_NAMES: ProviderNames = MappingProxyType({})


class VendorRule(NamedTuple):
    """Which vendors a field accepts: the enabled ones, and these in any case."""

    always: tuple[str, ...] = ()

    def list_names(self, enabled: Sequence[str]) -> list[str]:
        return list(dict.fromkeys((*self.always, *enabled)))

    def describe(self, enabled: Sequence[str]) -> str:
        return f"one of {', '.join(self.list_names(enabled))}"


def list_readable_vendors(enabled: Sequence[str]) -> list[str]:
    """List all vendors whose costs may be requested."""
    return VendorRule(VENDORS).list_names(enabled)


def list_provider_names(vendor: str, added: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the lower-case provider names of a vendor; `added` are those of the settings."""
    names = (name.lower() for name in added.get(vendor, ()))
    return list(dict.fromkeys((*PROVIDER_NAMES.get(vendor, ()), *names)))


def label_vendor(vendor: str, added: ProviderNames) -> str:
    """Return the printed name of a vendor: its first provider name in the settings, or its own."""
    names = added.get(vendor) or (vendor.upper(),)
    return LABELS.get(vendor, names[0])


def name_provider(vendor: str, added: ProviderNames) -> str:
    """Return the name of a vendor in exported FOCUS files."""
    return EXPORTED_NAMES.get(vendor) or label_vendor(vendor, added)
