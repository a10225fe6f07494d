"""Allowed values of an invoice setting: one row per field, one column per operation."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.errors import Violation
from nimbill.foundation.rules import PerVendor, Rule, between, one_of, per_vendor
from nimbill.foundation.vendor_names import BILLED_VENDORS

basis = stated("Invoice setting")
vendors_basis = chosen("vendors")


class RuleRow(NamedTuple):
    create: Rule | PerVendor
    update: Rule | PerVendor


def both(rule: Rule) -> RuleRow:
    return RuleRow(create=rule, update=rule)


# The specification gives separate values for create and update, and they differ.
# fmt: off
ALLOWED_VALUES: Mapping[str, RuleRow] = {
    "calc_type":                     both(one_of("account", "tag")),
    "currency":                      both(one_of("jpy", "usd")),
    "discount_calc_logic":           RuleRow(create=one_of("usageamount"),
                                             update=one_of("usageamount", "allamount")),
    "discount_rate":                 both(between("0", "1")),
    "discount_target_usage":         both(one_of("cloudpaywithfee", "cloudpayonly")),
    "substitution_fee":              both(one_of("percent", "fix", "automatic", "usagetable")),
    "substitution_fee_calc_target":  RuleRow(create=one_of("nondiscount", "discounted"),
                                             update=one_of("cloudpayonly", "cloudpaywithfee")),
    "substitution_fee_calc_type":    both(one_of("allsum", "account")),
    "substitution_fee_target_usage": RuleRow(create=one_of("cloudpaywithfee", "cloudpayonly"),
                                             update=one_of("nondiscount", "discounted")),
    "substitution_fix":              both(between("0", "1000000")),
    "substitution_rate":             both(between("0", "1")),
    "support_amount_target":         RuleRow(create=one_of("allusage"),
                                             update=one_of("allusage", "cloudpayonlywithfee")),
    "support_fee":                   RuleRow(create=one_of("fix", "percent", "aws_developer",
                                                           "aws_business", "aws_enterprise"),
                                             update=per_vendor(
                                                 aws=one_of("percent", "aws_developer",
                                                            "aws_business", "aws_enterprise",
                                                            "fix"),
                                                 azure=one_of("percent", "fix"))),
    "support_fee_calc_target":       RuleRow(create=one_of("nondiscount", "discounted"),
                                             update=one_of("cloudpayonly", "cloudpaywithfee")),
    "support_fix":                   both(between("0", "1000000")),
    "support_rate":                  both(between("0", "1")),
    "tax_rate":                      RuleRow(create=between("0", "0.10"),
                                             update=between("0", "0.08")),
}
# fmt: on


RuleColumn = Literal["create", "update"]


def find_violations_by_vendor(
    invoices: Any, *, column: RuleColumn, vendors: Sequence[str] = BILLED_VENDORS
) -> Iterator[Violation]:
    """Check unvalidated settings, keyed by vendor, against one column of the table.

    `vendors` are those that the organisation bills; the body check refuses others.
    """
    if isinstance(invoices, dict):
        for vendor in vendors:
            setting = invoices.get(vendor)
            if isinstance(setting, dict):
                yield from find_violations(setting, vendor, [column], f"invoices.{vendor}")


def find_violations(
    setting: Mapping[str, Any], vendor: str, columns: Sequence[RuleColumn], path: str
) -> Iterator[Violation]:
    """Yield every value that none of the columns allows; `path` prefixes the field names."""
    for field, row in ALLOWED_VALUES.items():
        rules = [_select_rule(getattr(row, column), vendor) for column in columns]
        if field in setting and not any(rule.allows(setting[field]) for rule in rules):
            descriptions = dict.fromkeys(str(rule) for rule in rules)
            yield Violation(f"{path}.{field}", ", or ".join(descriptions))


def find_update_violations(
    setting: Mapping[str, Any], vendor: str, path: str
) -> Iterator[Violation]:
    """Check against the update column; name the setting that would allow the value."""
    of_both = {
        violation.field
        for violation in find_violations(setting, vendor, ["create", "update"], path)
    }
    for violation in find_violations(setting, vendor, ["update"], path):
        rule = violation.rule
        if violation.field not in of_both:
            rule += "; this value needs invoice_setting_update either in the organisation settings"
        yield Violation(violation.field, rule)


def _select_rule(cell: Rule | PerVendor, vendor: str) -> Rule:
    """Vendors that the specification does not name follow the rules of azure."""
    if not isinstance(cell, PerVendor):
        return cell
    return cell[vendor if vendor in BILLED_VENDORS else "azure"]
