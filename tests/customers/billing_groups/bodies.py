"""Sound bodies to start from; a test changes the one field it is about."""

from typing import Any

REQUIRED_FIELDS: dict[str, Any] = {
    "billinggroup_id": "BG-0001",
    "billinggroup_name": "さくら商事",
    "company_name": "株式会社さくら商事",
    "inv_aggregate": True,
}

SOUND_SETTING: dict[str, Any] = {
    "calc_type": "account",
    "currency": "jpy",
    "discount_calc_logic": "usageamount",
    "discount_rate": 0.05,
    "discount_target_usage": "cloudpaywithfee",
    "substitution_fee": "percent",
    "substitution_fee_calc_target": "discounted",
    "substitution_fee_calc_type": "allsum",
    "substitution_fee_target_usage": "cloudpaywithfee",
    "substitution_fix": 0,
    "substitution_rate": 0.03,
    "support_amount_target": "allusage",
    "support_fee": "aws_business",
    "support_fee_calc_target": "nondiscount",
    "support_fix": 0,
    "support_rate": 0,
    "tax_rate": 0.10,
}
