"""Finds the vendor that charges each line of a FOCUS file."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.formats.focus import find_company_vendor, find_vendor
from nimbill.foundation.basis import chosen

basis = chosen("focus-providers")


def find_sellers(fields: Mapping[str, pa.DictionaryArray]) -> pa.Array:
    """Return the vendor of each line, or null.

    Since 1.3 the provider of a marketplace product may be its maker; then the vendor is the one
    that issues the invoice. Who hosts the product is irrelevant.
    """
    sellers = _map_names(fields["provider"], find_vendor)
    if "invoice_issuer" not in fields or not sellers.null_count:
        return sellers
    return pc.coalesce(sellers, _map_names(fields["invoice_issuer"], find_company_vendor))


def _map_names(column: pa.DictionaryArray, find: Callable[[str], str | None]) -> pa.Array:
    vendors = [find(name or "") for name in column.dictionary.to_pylist()]
    return pa.array(vendors, pa.string()).take(column.indices)
