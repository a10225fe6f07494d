"""The prices and quantities of cost lines in FOCUS, as far as the vendor's file has them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.cost_line import MONEY
from nimbill.costs.focus_charges import FocusCharges
from nimbill.costs.formats.line_rules import RuleViolation, parse_amount

# See docs/choices.md, focus-export.

ZERO = pa.scalar(Decimal(0), MONEY)
UNKNOWN_UNIT = "Units"
# the factors of a product have at most 75 digits together
PRICE, FACTOR, LONG_COST = pa.decimal256(38, 22), pa.decimal256(37, 18), pa.decimal256(76, 22)
COST_LIMIT = pa.scalar(Decimal(10) ** (MONEY.precision - MONEY.scale), pa.decimal256(76, 40))

# the pricing models of the vendors, in lower case and without punctuation
PRICING_CATEGORIES = {
    "standard": "Standard",
    "ondemand": "Standard",
    "dynamic": "Dynamic",
    "spot": "Dynamic",
    "committed": "Committed",
    "reserved": "Committed",
    "reservation": "Committed",
    "savingsplan": "Committed",
    "other": "Other",
}


def map_pricing_columns(
    lines: pa.Table, charges: FocusCharges, is_covered: pa.Array
) -> dict[str, Any]:
    """`is_covered` are the lines of usage that a commitment covers."""
    is_priced, cost = charges.is_priced, lines["cost"]
    quantity = _keep(is_priced, parse_decimals(lines["pricing_quantity"]))
    list_cost, list_price = parse_decimals(lines["list_cost"]), _list_prices(lines, is_priced)
    contracted_price = _contracted_prices(lines, is_priced, list_price, is_covered)
    contracted_cost = parse_decimals(lines["contracted_cost"])
    is_usage = pc.equal(charges.category, "Usage")
    consumed = _keep(pc.and_(is_usage, is_priced), parse_decimals(lines["consumed_quantity"]))
    is_tax = pc.equal(charges.category, "Tax")
    sku = pc.if_else(is_tax, None, pc.coalesce(lines["sku_id"], lines["usage_type"]))
    return {
        "ConsumedQuantity": consumed,
        "ConsumedUnit": _units(consumed, lines["consumed_unit"]),
        "ContractedCost": pc.coalesce(contracted_cost, _multiply(contracted_price, quantity), cost),
        "ContractedUnitPrice": contracted_price,
        "ListCost": pc.coalesce(list_cost, _multiply(list_price, quantity), cost),
        "ListUnitPrice": list_price,
        "PricingCategory": _pricing_categories(lines, charges, is_covered),
        "PricingQuantity": quantity,
        "PricingUnit": _units(quantity, lines["pricing_unit"]),
        "SkuId": sku,
        "SkuMeter": _keep(pc.is_valid(sku), lines["usage_type"]),
        "SkuPriceId": pc.if_else(is_tax, None, lines["sku_price_id"]),
    }


def _list_prices(lines: pa.Table, is_priced: pa.Array) -> pa.ChunkedArray:
    """Azure writes 0 where it has no list price; only a file with list costs can mean 0."""
    prices = _unit_prices(lines["list_unit_price"], is_priced)
    is_known = pc.or_(pc.greater(prices, ZERO), pc.is_valid(lines["list_cost"]))
    return _keep(is_known, prices)


def _contracted_prices(
    lines: pa.Table, is_priced: pa.Array, list_prices: pa.Array, is_covered: pa.Array
) -> pa.ChunkedArray:
    """AWS names the rate that was billed, which is 0 for covered usage: take its list price."""
    rates = _unit_prices(lines["unblended_rate"], is_priced)
    is_free = pc.and_(is_covered, pc.equal(rates, ZERO).fill_null(True))
    rates = pc.if_else(is_free, list_prices, rates)
    return pc.coalesce(_unit_prices(lines["contracted_unit_price"], is_priced), rates)


def _unit_prices(texts: pa.ChunkedArray, is_priced: pa.Array) -> pa.ChunkedArray:
    prices = parse_decimals(texts)
    return _keep(pc.and_(is_priced, pc.greater_equal(prices, ZERO).fill_null(False)), prices)


def _pricing_categories(
    lines: pa.Table, charges: FocusCharges, is_covered: pa.Array
) -> pa.ChunkedArray:
    """The purchase of a commitment is not itself covered by one."""
    delivered = _map_texts(lines["pricing_category"], _choose_pricing_category)
    is_committed_purchase = pc.and_(
        pc.equal(charges.category, "Purchase"),
        pc.equal(delivered, "Committed").fill_null(False),
    )
    delivered = pc.if_else(is_committed_purchase, "Standard", delivered)
    category = pc.coalesce(delivered, pa.scalar("Standard"))
    category = pc.if_else(is_covered, "Committed", category)
    return _keep(pc.is_in(charges.category, pa.array(["Usage", "Purchase"])), category)


def _choose_pricing_category(model: str) -> str | None:
    return PRICING_CATEGORIES.get("".join(filter(str.isalpha, model.lower())))


def _units(quantities: pa.Array, units: pa.ChunkedArray) -> pa.ChunkedArray:
    """A quantity has a unit, and a unit has a quantity."""
    return _keep(pc.is_valid(quantities), pc.coalesce(units, pa.scalar(UNKNOWN_UNIT)))


def _multiply(prices: pa.ChunkedArray, quantities: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the exact products, rounded half up to the digits of a cost; null if too large."""
    quantities = pc.round(quantities, FACTOR.scale, "half_towards_infinity")
    products = pc.multiply(prices.cast(PRICE), quantities.cast(FACTOR))
    rounded = pc.round(products, MONEY.scale, "half_towards_infinity")
    return _keep(pc.less(pc.abs(rounded), COST_LIMIT), rounded).cast(LONG_COST).cast(MONEY)


def _keep(mask: pa.Array, values: Any) -> Any:
    return pc.if_else(mask, values, None)


def parse_decimals(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers that are not valid become null: they are never billed."""
    return _map_texts(texts, _parse_or_none, MONEY)


def _parse_or_none(text: str) -> Decimal | None:
    try:
        return parse_amount(text)
    except RuleViolation:
        return None


def _map_texts(texts: pa.ChunkedArray, convert: Any, type_: pa.DataType | None = None) -> Any:
    """Convert each distinct text once."""
    encoded = texts.combine_chunks().dictionary_encode()
    values = [convert(text) for text in encoded.dictionary.to_pylist()]
    return pa.array(values, type_ or pa.string()).take(encoded.indices)
