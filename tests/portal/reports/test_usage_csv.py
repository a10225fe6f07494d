"""The rows of usage reports."""

from __future__ import annotations

from decimal import Decimal

from nimbill.portal.reports.usage_csv import REPORTS, ReportBy, UsageTable, build_header, build_rows
from nimbill.portal.usage_sums import PricedMonth, UnpricedMonth, Usage


def test_usage_without_a_price_has_a_row_that_says_why() -> None:
    report = REPORTS[ReportBy.account]
    usage = Usage(
        months={PricedMonth("2026-09", "aws", True)},
        unpriced={UnpricedMonth("2026-09", "azure", "rate_missing")},
    )
    priced = ("2026-09", "aws", "1", "one", "EC2", "false", "JPY", Decimal("1.5"))

    rows = list(build_rows(report, UsageTable([priced], usage)))

    assert rows == [
        (*priced, "true", None),
        ("2026-09", "azure", *[None] * 7, "rate_missing"),
    ]
    assert {len(row) for row in rows} == {len(build_header(report))}
