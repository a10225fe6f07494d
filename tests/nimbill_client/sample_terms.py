"""Terms of a customer, as the client sends them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

TERMS: dict[str, Any] = {
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
