"""The allowed values of an invoice setting: one row per field, one column per operation."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from nimbill.foundation.basis import stated
from nimbill.foundation.errors import Violation
from nimbill.foundation.rules import PerVendor, Rule, between, one_of, per_vendor
from nimbill.foundation.vendors import BILLED_VENDORS, BilledVendor

basis = stated("Invoice setting")


class Row(NamedTuple):
    create: Rule | PerVendor
    update: Rule | PerVendor


def both(rule: Rule) -> Row:
    return Row(create=rule, update=rule)


# The specification states the two columns separately, and they differ; so does this table.
# fmt: off
ALLOWED: Mapping[str, Row] = {
    "calc_type":                     both(one_of("account", "tag")),
    "currency":                      both(one_of("jpy", "usd")),
    "discount_calc_logic":           Row(create=one_of("usageamount"),
                                         update=one_of("usageamount", "allamount")),
    "discount_rate":                 both(between("0", "1")),
    "discount_target_usage":         both(one_of("cloudpaywithfee", "cloudpayonly")),
    "substitution_fee":              both(one_of("percent", "fix", "automatic", "usagetable")),
    "substitution_fee_calc_target":  Row(create=one_of("nondiscount", "discounted"),
                                         update=one_of("cloudpayonly", "cloudpaywithfee")),
    "substitution_fee_calc_type":    both(one_of("allsum", "account")),
    "substitution_fee_target_usage": Row(create=one_of("cloudpaywithfee", "cloudpayonly"),
                                         update=one_of("nondiscount", "discounted")),
    "substitution_fix":              both(between("0", "1000000")),
    "substitution_rate":             both(between("0", "1")),
    "support_amount_target":         Row(create=one_of("allusage"),
                                         update=one_of("allusage", "cloudpayonlywithfee")),
    "support_fee":                   Row(create=one_of("fix", "percent", "aws_developer",
                                                       "aws_business", "aws_enterprise"),
                                         update=per_vendor(
                                             aws=one_of("percent", "aws_developer", "aws_business",
                                                        "aws_enterprise", "fix"),
                                             azure=one_of("percent", "fix"))),
    "support_fee_calc_target":       Row(create=one_of("nondiscount", "discounted"),
                                         update=one_of("cloudpayonly", "cloudpaywithfee")),
    "support_fix":                   both(between("0", "1000000")),
    "support_rate":                  both(between("0", "1")),
    "tax_rate":                      Row(create=between("0", "0.10"), update=between("0", "0.08")),
}
# fmt: on


Column = Literal["create", "update"]


def broken_in(invoices: Any, *, on: Column) -> Iterator[Violation]:
    """Every value that its row does not allow, in settings keyed by vendor, as they were sent."""
    if isinstance(invoices, dict):
        for vendor in BILLED_VENDORS:
            setting = invoices.get(vendor)
            if isinstance(setting, dict):
                yield from broken(setting, vendor, [on], f"invoices.{vendor}")


def broken(
    setting: Mapping[str, Any], vendor: BilledVendor, columns: Sequence[Column], at: str
) -> Iterator[Violation]:
    """Every value that none of the columns allows."""
    for field, row in ALLOWED.items():
        rules = [_rule(getattr(row, column), vendor) for column in columns]
        if field in setting and not any(rule.allows(setting[field]) for rule in rules):
            said = dict.fromkeys(str(rule) for rule in rules)
            yield Violation(f"{at}.{field}", ", or ".join(said))


def _rule(cell: Rule | PerVendor, vendor: BilledVendor) -> Rule:
    return cell[vendor] if isinstance(cell, PerVendor) else cell
