"""What tests ask of invoices that were made, or could not be."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from nimbill.storage import Scope
from tests.answers import problem_of
from tests.invoices.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MonthEnd
from tests.months.closing import inside


def of_a(month_end: MonthEnd) -> str:
    """The group of worked example A, ready."""
    group = month_end.group("BG-A", *ACCOUNTS_OF_A)
    month_end.costs(*EXAMPLE_A)
    month_end.ready(group)
    return group


def numbers(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [one["invoice_no"] for one in answer.json()["created"]]


def missing(answer: Any) -> dict[str, str]:
    return {v["field"]: v["rule"] for v in problem_of(answer, 409)["violations"]}


def stored(month_end: MonthEnd, question: str) -> Any:
    async def ask(db: Any, _scope: Scope) -> Any:
        return (await db.execute(sa.text(question))).all()

    return inside(month_end.service, ask)
