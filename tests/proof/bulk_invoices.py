"""Invoices of a bulk run are those of single runs, and the month is their sum."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from random import Random
from typing import Any

from nimbill.foundation import exact_json
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import MonthEnd
from tests.proof.row_environment import RowEnvironment

GROUPS = 8
LINES = 40
SERVICES = ("AmazonEC2", "AmazonS3", "AmazonRDS")
TOTALS = ("pre_tax", "tax", "total")


def check_bulk_run(environment: RowEnvironment, random: Random) -> Iterator[str]:
    """Bill random groups one by one, then all at once, and yield what differs."""
    service = environment.service
    service.organisation = service.new_organisation("D1")
    month_end = MonthEnd(service, environment.new_folder("d1"))
    groups = _create_groups(month_end, random)
    for group in groups:
        response = month_end.create_invoices(group)
        assert response.status_code == 200, response.text
    single = {group: month_end.get_invoice(group)["sheet"] for group in groups}
    bulk = {"vendor": "aws", "bulk": True, "group": []}
    response = month_end.post(f"/invoices/calculation/{month_end.month}", bulk)
    assert response.status_code == 200, response.text
    sums: defaultdict[str, defaultdict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for group in groups:
        invoice = month_end.get_invoice(group)
        if invoice["revision"] != 2 or invoice["sheet"] != single[group]:
            yield f"the bulk run: another invoice of {group} than the single run"
        for name in TOTALS:
            sums[invoice["sheet"]["currency"]][name] += invoice["sheet"][name]
    found = month_end.get(f"/invoices/{month_end.month}/summary?vendor=aws").text
    for row in exact_json.decode_stored(found)["totals"]:
        expected = sums.pop(row["currency"])
        if {name: row[name] for name in TOTALS} != expected:
            yield f"the bulk run: the month's {row['currency']} are not the sum of its invoices"
    if sums:
        yield f"the bulk run: the month has no sum of {sorted(sums)}"


def _create_groups(month_end: MonthEnd, random: Random) -> list[str]:
    accounts = [f"{number:012}" for number in range(1, 2 * GROUPS + 1)]
    groups = [
        month_end.create_group(f"BG-{number}", *accounts[2 * number : 2 * number + 2])
        for number in range(GROUPS)
    ]
    lines = [
        report_line(
            f"{random.randrange(-(10**9), 10**12)}e-8",
            UsageAccountId=random.choice(accounts),
            ProductCode=random.choice(SERVICES),
        )
        for _ in range(LINES)
    ]
    imported = month_end.import_costs(*lines)
    assert imported["state"] == "done", imported
    for group in groups:
        assert month_end.save_settings(group, **_choose_terms(random)).status_code == 200
        assert month_end.save_rate(group, rate=Decimal("150.25")).status_code == 200
    return groups


def _choose_terms(random: Random) -> dict[str, Any]:
    return {
        "currency": random.choice(["jpy", "usd"]),
        "discount_rate": Decimal(random.randrange(100)) / 1000,
        "substitution_rate": Decimal(random.randrange(200)) / 1000,
        "tax_rate": Decimal(random.choice(["0", "0.08", "0.10"])),
    }
