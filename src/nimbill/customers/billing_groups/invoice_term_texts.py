"""What each field of an invoice setting means, and each of its values, for the API's document."""

from collections.abc import Mapping
from typing import NamedTuple

from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED_VALUES, RuleRow
from nimbill.foundation.rules import Between, OneOf, PerVendor, Rule


class TermText(NamedTuple):
    meaning: str
    values: Mapping[str, str] = {}


NONDISCOUNT = "usage before the discount"
DISCOUNTED = "usage after the discount"
SUPPORT_TARGETS = {
    "nondiscount": NONDISCOUNT,
    "discounted": DISCOUNTED,
    "cloudpayonly": "usage without applied fees",
    "cloudpaywithfee": "usage and applied fees",
}
AGENCY_TARGETS = {
    "nondiscount": NONDISCOUNT,
    "discounted": DISCOUNTED,
    "cloudpayonly": "usage alone",
    "cloudpaywithfee": "usage and the support fee",
}

# fmt: off
TERM_TEXTS: Mapping[str, TermText] = {
    "calc_type": TermText("What the lines of usage are grouped by.", {
        "account": "one line for each account and service",
        "tag": "one line for each value of the organisation's tag and service"}),
    "currency": TermText("The currency of the invoice.", {
        "jpy": "whole yen", "usd": "dollars and cents"}),
    "discount_calc_logic": TermText("Whether the agency fee is discounted.", {
        "usageamount": "the agency fee is not discounted",
        "allamount": "the agency fee is discounted too"}),
    "discount_rate": TermText("The discount as a fraction: 0.05 is 5 %."),
    "discount_target_usage": TermText("Whether the support fee is discounted.", {
        "cloudpaywithfee": "usage and the support fee are discounted",
        "cloudpayonly": "usage alone is discounted"}),
    "substitution_fee": TermText("How the agency fee is calculated.", {
        "percent": "`substitution_rate` of its base",
        "fix": "the amount of `substitution_fix`",
        "automatic": "the larger of the two",
        "usagetable": "its base at the rates of the organisation's usage table"}),
    "substitution_fee_calc_target": TermText("The base of the agency fee.", AGENCY_TARGETS),
    "substitution_fee_calc_type": TermText("What the agency fee is calculated for.", {
        "allsum": "once for the whole invoice",
        "account": "for each account or tag value, and then added up"}),
    "substitution_fee_target_usage": TermText("The base of the agency fee.", AGENCY_TARGETS),
    "substitution_fix": TermText("The fixed agency fee, in the currency of the costs."),
    "substitution_rate": TermText("The agency fee as a fraction of its base."),
    "support_amount_target": TermText("The usage in the base of the support fee.", {
        "allusage": "all usage",
        "cloudpayonlywithfee": "usage that is not marketplace, and applied fees"}),
    "support_fee": TermText("How the support fee is calculated.", {
        "fix": "the amount of `support_fix`",
        "percent": "`support_rate` of its base",
        "aws_developer": "the developer plan of AWS",
        "aws_business": "the business plan of AWS",
        "aws_enterprise": "the enterprise plan of AWS"}),
    "support_fee_calc_target": TermText("The base of the support fee.", SUPPORT_TARGETS),
    "support_fix": TermText("The fixed support fee, in the currency of the costs."),
    "support_rate": TermText("The support fee as a fraction of its base."),
    "tax_rate": TermText("The tax as a fraction: 0.10 is 10 %."),
}
# fmt: on


def describe_term(field: str) -> str:
    """The meaning of a field, of its values, and what is allowed by operation and vendor."""
    text, row = TERM_TEXTS[field], ALLOWED_VALUES[field]
    values = "; ".join(f"`{value}`: {meaning}" for value, meaning in text.values.items())
    return " ".join(filter(None, [text.meaning, values and f"{values}.", _describe_row(row)]))


def _describe_row(row: RuleRow) -> str:
    if row.create == row.update:
        return f"Allowed: {_describe_cell(row.create)}."
    create, update = _describe_cell(row.create), _describe_cell(row.update)
    return f"Allowed when a billing group is created: {create}; when it is updated: {update}."


def _describe_cell(cell: Rule | PerVendor) -> str:
    if isinstance(cell, PerVendor):
        return ", ".join(f"for {vendor} {rule}" for vendor, rule in cell.rows.items())
    return str(cell)


def restrict_values(field: str) -> dict[str, object]:
    """The JSON Schema keywords of all values that some operation and vendor allow."""
    row = ALLOWED_VALUES[field]
    cells = [row.create, row.update]
    rules = [
        rule
        for cell in cells
        for rule in (cell.rows.values() if isinstance(cell, PerVendor) else [cell])
    ]
    ranges = [rule for rule in rules if isinstance(rule, Between)]
    if ranges:
        return {
            "minimum": min(rule.low for rule in ranges),
            "maximum": max(rule.high for rule in ranges),
        }
    words = [word for rule in rules if isinstance(rule, OneOf) for word in rule.values]
    return {"enum": list(dict.fromkeys(words))}
