"""The terms of an invoice, built from the saved setting of a month."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec

from nimbill.customers.billing_groups.fee_targets import FeeTargets
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import Rounding

RateBand = tuple[Decimal | None, Decimal]  # upper limit and rate; the last band has no limit


class CannotBeBilled(Exception):
    """The invoice cannot be calculated; the reason is a stable code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """The values of the setting, with the resolved basis and scope of each fee."""

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
    support_scope: str | None  # cloudpayonly | cloudpaywithfee | None if never set
    support_fix: Decimal
    support_rate: Decimal
    tax_rate: Decimal
    exchange_rate: Decimal  # yen per dollar
    rounding: Rounding
    usage_table: tuple[RateBand, ...]
    month: str  # yyyy-mm


# fields of the setting from which basis and scope are resolved; the terms do not contain them
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
    """Build the terms from the 17 fields of a valid setting and the resolved fee targets."""
    copied = {field: value for field, value in setting.items() if field not in FEE_TARGET_FIELDS}
    return Terms(
        **copied | {"currency": Currency(setting["currency"])},
        substitution_basis=settled.substitution_basis,
        substitution_scope=settled.substitution_scope,
        support_basis=settled.support_basis,
        support_scope=settled.support_scope,
        exchange_rate=exchange_rate,
        rounding=rounding,
        usage_table=usage_table,
        month=month,
    )
