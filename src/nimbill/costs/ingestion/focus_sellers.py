"""Finds the lines of a FOCUS file that a vendor charges."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.formats.focus import find_company_vendor, find_vendor
from nimbill.foundation.vendor_names import PROVIDER_NAMES

# See docs/choices.md, focus-providers.


class ImportedVendor(NamedTuple):
    """A vendor and the lower-case names of it as provider and publisher in FOCUS files."""

    name: str
    providers: frozenset[str]

    @classmethod
    def build(cls, name: str, providers: Collection[str] | None = None) -> ImportedVendor:
        """Without `providers`, the vendor has the names that are known of it."""
        names = PROVIDER_NAMES.get(name, ()) if providers is None else providers
        return cls(name, frozenset(names))


def find_lines_of_vendor(
    fields: Mapping[str, pa.DictionaryArray], vendor: ImportedVendor
) -> pa.Array:
    """Return whether the vendor charges each line.

    Since 1.3 the provider of a marketplace product may be its maker; then the vendor is the one
    that issues the invoice. Who hosts the product is irrelevant.
    """
    own_provider = _map_names(fields["provider"], lambda name: name.lower() in vendor.providers)
    if "invoice_issuer" not in fields:
        return own_provider
    known_provider = _map_names(fields["provider"], lambda name: find_vendor(name) is not None)
    own_issuer = _map_names(fields["invoice_issuer"], lambda name: _is_issuer(vendor, name))
    return pc.if_else(known_provider, own_provider, pc.coalesce(own_issuer, own_provider))


def _is_issuer(vendor: ImportedVendor, issuer: str) -> bool | None:
    """Return None if the company belongs to no known vendor."""
    if issuer.lower() in vendor.providers:
        return True
    owner = find_company_vendor(issuer)
    return None if owner is None else owner == vendor.name


def _map_names(column: pa.DictionaryArray, test: Callable[[str], Any]) -> pa.Array:
    """Apply the test to each name; lines without a name have an empty one."""
    flags = [test(name or "") for name in column.dictionary.to_pylist()]
    default = pa.scalar(test(""), pa.bool_())
    values = pa.array(flags, pa.bool_()).take(column.indices)
    return pc.if_else(column.is_valid(), values, default)
