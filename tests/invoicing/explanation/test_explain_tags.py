"""The explanation of an invoice by tag."""

from __future__ import annotations

from tests.invoicing.explanation.test_explain_invoice import COSTS, explain_line
from tests.invoicing.month_end import ACCOUNTS_OF_A, MonthEnd


def test_usage_of_a_tag_has_days_if_reports_use_the_tag(month_end: MonthEnd) -> None:
    keys = {"cost_tag_key": "Team", "report_tag_keys": ["Team"]}
    assert month_end.put("/settings", keys).status_code == 200
    group = month_end.create_group("BG-T", *ACCOUNTS_OF_A)
    month_end.import_costs(*COSTS)
    month_end.prepare_groups(group, calc_type="tag")
    assert month_end.create_invoices(group).status_code == 200

    amounts = [explain_line(month_end, group, f"usage-{number}") for number in (1, 2)]

    assert [(amount["tag"], amount["by_day"]) for amount in amounts] == [("red", True), ("", True)]
    assert [part["day"] for amount in amounts for part in amount["parts"]] == [
        "2026-09-05",
        "2026-09-06",
    ]
    for amount in amounts:
        assert sum(part["amount"] for part in amount["parts"]) == amount["base"]
