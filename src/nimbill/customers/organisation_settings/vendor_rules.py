"""Rules of the enabled vendors and of the provider names under which FOCUS files name them."""

from collections.abc import Iterator, Mapping, Sequence

from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation
from nimbill.foundation.vendor_names import PROVIDER_NAMES, VENDORS

basis = chosen("vendors")

VENDORS_MAX = 20
PROVIDERS_MAX = 20  # provider names of one vendor
RESERVED = "total"  # project figures have it beside the vendors


def find_vendor_violations(
    vendors: Sequence[str], provider_names: Mapping[str, Sequence[str]]
) -> Iterator[Violation]:
    """Check the settings as they would be stored."""
    if not 1 <= len(vendors) <= VENDORS_MAX:
        yield Violation("vendors", f"1 to {VENDORS_MAX} vendors")
    if len(set(vendors)) < len(vendors):
        yield Violation("vendors", "each vendor once")
    if RESERVED in vendors:
        yield Violation("vendors", f"none called {RESERVED}")
    if any(not provider_names.get(vendor) for vendor in vendors if vendor not in VENDORS):
        others = f"an entry for each vendor other than {', '.join(VENDORS)}"
        yield Violation("provider_names", others)
    if not provider_names.keys() <= set(vendors):
        yield Violation("provider_names", "keys: one of vendors")
    yield from _find_name_violations(provider_names)


def _find_name_violations(provider_names: Mapping[str, Sequence[str]]) -> Iterator[Violation]:
    """Files are matched without regard to case, so that each name belongs to one vendor."""
    if any(len(names) > PROVIDERS_MAX for names in provider_names.values()):
        yield Violation("provider_names", f"at most {PROVIDERS_MAX} names for a vendor")
    names = [name for of_vendor in provider_names.values() for name in of_vendor]
    if any(not name.isprintable() or name != name.strip() for name in names):
        yield Violation("provider_names", "printable names without spaces around them")
    owners = {name: vendor for vendor, known in PROVIDER_NAMES.items() for name in known}
    is_unique = all(
        owners.setdefault(name.lower(), vendor) == vendor
        for vendor, of_vendor in provider_names.items()
        for name in of_vendor
    )
    if not is_unique:
        yield Violation("provider_names", "names that no other vendor has")
