"""Every field of an invoice setting and every value that is allowed somewhere is explained."""

from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED_VALUES
from nimbill.customers.billing_groups.invoice_term_texts import (
    TERM_TEXTS,
    describe_term,
    restrict_values,
)


def test_every_allowed_value_has_a_meaning() -> None:
    assert list(TERM_TEXTS) == list(ALLOWED_VALUES)
    for field, text in TERM_TEXTS.items():
        values = restrict_values(field).get("enum", [])
        assert isinstance(values, list)
        assert set(text.values) == set(values), field


def test_a_description_names_what_each_operation_allows() -> None:
    assert describe_term("discount_calc_logic") == (
        "Whether the agency fee is discounted. `usageamount`: the agency fee is not discounted; "
        "`allamount`: the agency fee is discounted too. Allowed when a billing group is created: "
        "one of usageamount; when it is updated: one of usageamount, allamount."
    )
    assert describe_term("discount_rate") == (
        "The discount as a fraction: 0.05 is 5 %. Allowed: from 0 to 1."
    )
