"""docs/invoice.md contains the worked example and the support plans as calculated."""

from __future__ import annotations

from pathlib import Path

import pytest

from nimbill.invoicing.calculation.sheet import Explanation, Fee, calculate_invoice
from nimbill.invoicing.calculation.support_plans import PRICE_LISTS
from tests.invoicing.worked_examples import load_example

PAGE = (Path(__file__).parents[3] / "docs" / "invoice.md").read_text()


def row(*cells: object) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def test_the_documented_example_equals_the_calculation() -> None:
    case = load_example("a").case
    sheet = calculate_invoice(case.charges, case.terms())
    rows = [
        row(f"{line.customer_id} {line.service}", line.charge, line.after, line.why.working)
        for line in sheet.lines
    ]
    for name, fee in (("Support", sheet.support), ("Agency fee", sheet.agency)):
        assert isinstance(fee, Fee)
        rows.append(row(name, fee.charge, fee.after, fee.why.working))
    assert isinstance(sheet.tax_why, Explanation)
    rows.append(row("Tax", "", sheet.tax, sheet.tax_why.working).replace("|  |", "| |"))
    rows += [
        row(account.customer_id, account.total, account.total_exchanged)
        for account in sheet.accounts
    ]
    rows.append(row("before tax", sheet.pre_tax_usd, sheet.pre_tax))

    assert [row for row in rows if row not in PAGE] == []
    assert f"**{sheet.total}**" in PAGE


@pytest.mark.parametrize("plan", PRICE_LISTS[-1][1])
def test_the_documented_support_plans_are_current(plan: str) -> None:
    price = PRICE_LISTS[-1][1][plan]
    bands = ", ".join(
        f"{rate * 100:.0f} %"
        + (f" to {upto:,}" if upto else " above" if len(price.bands) > 1 else "")
        for upto, rate in price.bands
    )

    assert row(f"`{plan}`", f"{price.minimum:,}", bands) in PAGE
