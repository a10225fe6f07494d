"""The contract terms of the demo's customers, as differences from the usual terms."""

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

Setting = Mapping[str, Any]

USUAL_TERMS: Setting = MappingProxyType(
    {
        "calc_type": "account",
        "currency": "jpy",
        "discount_calc_logic": "usageamount",
        "discount_rate": Decimal("0.05"),
        "discount_target_usage": "cloudpaywithfee",
        "substitution_fee": "percent",
        "substitution_fee_calc_target": "discounted",
        "substitution_fee_calc_type": "allsum",
        "substitution_fee_target_usage": "cloudpaywithfee",
        "substitution_fix": Decimal(0),
        "substitution_rate": Decimal("0.03"),
        "support_amount_target": "allusage",
        "support_fee": "aws_business",
        "support_fee_calc_target": "nondiscount",
        "support_fix": Decimal(0),
        "support_rate": Decimal(0),
        "tax_rate": Decimal("0.10"),
    }
)


def terms(**changes: str) -> Setting:
    """The usual terms with changes; rates and fixed amounts are given as text."""
    numbers = {name for name in changes if name.endswith(("_rate", "_fix"))}
    typed_changes = {
        name: Decimal(value) if name in numbers else value for name, value in changes.items()
    }
    return MappingProxyType({**USUAL_TERMS, **typed_changes})


# Fixed amounts are in the currency of the costs: dollars for AWS, yen for Azure.
AZURE = terms(discount_rate="0.02", support_fee="percent", support_rate="0.08")
AZURE_FIXED = terms(
    discount_rate="0",
    substitution_fee="fix",
    substitution_fix="30000",
    substitution_rate="0",
    support_fee="fix",
    support_fix="50000",
)
AZURE_PUBLIC = terms(discount_rate="0", support_fee="percent", support_rate="0.10")
AZURE_IN_DOLLARS = terms(
    currency="usd", discount_rate="0", support_fee="percent", support_rate="0.05", tax_rate="0"
)
DEVELOPER = terms(discount_rate="0.03", support_fee="aws_developer")
ENTERPRISE = terms(discount_rate="0.12", support_fee="aws_enterprise", substitution_rate="0.02")
FIXED_FEES = terms(
    substitution_fee="fix",
    substitution_fix="250",
    substitution_rate="0",
    support_fee="fix",
    support_fix="400",
)
FEE_AT_LEAST = terms(
    substitution_fee="automatic", substitution_fix="900", substitution_rate="0.025"
)
FEE_BY_TABLE = terms(
    substitution_fee="usagetable", substitution_rate="0", support_fee_calc_target="discounted"
)
BY_TAG = terms(calc_type="tag", discount_rate="0.08", substitution_fee_calc_target="nondiscount")
BY_ACCOUNT = terms(substitution_fee_calc_type="account", discount_target_usage="cloudpayonly")
IN_DOLLARS = terms(currency="usd", discount_rate="0.075", tax_rate="0")
NO_DISCOUNT = terms(discount_rate="0", support_fee="percent", support_rate="0.06")

# The agency fee by usage in dollars, for contracts with substitution_fee "usagetable".
USAGE_TABLE: tuple[dict[str, Any], ...] = (
    {"upto": Decimal(5_000), "rate": Decimal("0.05")},
    {"upto": Decimal(20_000), "rate": Decimal("0.035")},
    {"upto": None, "rate": Decimal("0.02")},
)
