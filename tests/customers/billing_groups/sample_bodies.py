"""Valid request bodies of billing groups; a test changes the fields it is about."""

from typing import Any

REQUIRED_FIELDS: dict[str, Any] = {
    "billinggroup_id": "BG-0001",
    "billinggroup_name": "さくら商事",
    "company_name": "株式会社さくら商事",
    "inv_aggregate": True,
}

# valid for create
VALID_SETTING: dict[str, Any] = {
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

# valid for update, for both vendors
VALID_SETTING_UPDATE: dict[str, Any] = VALID_SETTING | {
    "discount_calc_logic": "allamount",
    "substitution_fee_calc_target": "cloudpayonly",
    "substitution_fee_target_usage": "nondiscount",
    "support_amount_target": "cloudpayonlywithfee",
    "support_fee": "percent",
    "support_fee_calc_target": "cloudpaywithfee",
    "tax_rate": 0.08,
}

FREE_FORMAT_ITEM: dict[str, Any] = {
    "enabled": True,
    "label": "運用代行",
    "unit_cost": 1500,
    "quantity": 2,
    "total": 3000,
}
