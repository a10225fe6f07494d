"""The terms an invoice is drawn up on, read once from a month's saved setting."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec

from nimbill.customers.billing_groups.fee_targets import FeeTargets
from nimbill.foundation.basis import chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import Rounding

basis = chosen("invoice-arithmetic")

RateBand = tuple[Decimal | None, Decimal]  # up to which amount, the rate; the last band has no end


class CannotBeBilled(Exception):
    """The terms ask for something that is not there; the reason is a stable word."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """The setting's own words, with what they leave open settled: on what basis, of what scope."""

    calc_type: str  # account | tag
    currency: Currency
    discount_calc_logic: str  # usageamount | allamount
    discount_rate: Decimal
    discount_target_usage: str  # cloudpaywithfee | cloudpayonly
    substitution_fee: str  # percent | fix | automatic | usagetable
    substitution_basis: str  # nondiscount | discounted
    substitution_scope: str  # cloudpayonly | cloudpaywithfee
    substitution_fee_calc_type: str  # allsum | account
    substitution_fix: Decimal
    substitution_rate: Decimal
    support_amount_target: str  # allusage | cloudpayonlywithfee
    support_fee: str  # fix | percent | aws_developer | aws_business | aws_enterprise
    support_basis: str  # nondiscount | discounted
    support_scope: str | None  # cloudpayonly | cloudpaywithfee | never said
    support_fix: Decimal
    support_rate: Decimal
    tax_rate: Decimal
    exchange_rate: Decimal  # yen for one dollar
    rounding: Rounding
    usage_table: tuple[RateBand, ...]
    month: str  # yyyy-mm


# The fields of a setting whose words are settled, and so do not stand in the terms themselves.
FEE_TARGET_FIELDS = (
    "substitution_fee_calc_target",
    "substitution_fee_target_usage",
    "support_fee_calc_target",
)


def build_terms(
    setting: Mapping[str, Any],
    settled: FeeTargets,
    *,
    exchange_rate: Decimal,
    rounding: Rounding,
    usage_table: tuple[RateBand, ...],
    month: str,
) -> Terms:
    """From the 17 fields of a sound setting, what they settle, and the organisation's settings."""
    plain = {field: value for field, value in setting.items() if field not in FEE_TARGET_FIELDS}
    return Terms(
        **plain | {"currency": Currency(setting["currency"])},
        substitution_basis=settled.substitution_basis,
        substitution_scope=settled.substitution_scope,
        support_basis=settled.support_basis,
        support_scope=settled.support_scope,
        exchange_rate=exchange_rate,
        rounding=rounding,
        usage_table=usage_table,
        month=month,
    )
