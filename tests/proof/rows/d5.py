"""Exported texts come back as they were stored, none runs as a formula, numbers stay as they are.

Random cells, most of them made of the signs that spreadsheets and CSV readers trip over, are
written and read back by two parsers. Some go the whole way: into billing groups and out of the
two files.
"""

from __future__ import annotations

import json
from decimal import Decimal
from random import Random
from typing import Any

from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.invoicing.exports.asking import GROUPS, SETTINGS, content, link
from tests.invoicing.exports.defusing import (
    FORMULAS,
    NEVER_FIRST,
    Cell,
    faults,
    original,
    parsed_by_both,
)
from tests.proof.row import Measurement
from tests.proof.stage import Stage
from tests.running_service import Service

TARGET = (
    "100,000 cells: equal after the round trip, 0 text cells that begin with "
    "= + - @ TAB CR LF NUL, numbers untouched"
)
QUICK = 4_000
FULL = 100_000
SECONDS_MAX = 120

WIDTH, HEIGHT = 10, 40
GROUPS_PER_CELLS = 100  # one group goes through the service for so many cells

HARD = "=+-@\t\r\n\0＝＋－＠'\"'\",;| \ufeff\u2028\u3000a1あ𠮷é"
FREE_FIELDS = (
    *("billinggroup_name", "company_name", "postal", "address", "phone", "personal"),
    "billing_title",
)


def measure(stage: Stage, size: int) -> Measurement:
    random = stage.random("D5")
    misses: list[str] = []
    cells = 0
    while cells < size:
        rows = [[_cell(random) for _ in range(WIDTH)] for _ in range(HEIGHT)]
        misses += faults(rows)
        cells += WIDTH * HEIGHT
    stored, of_service = _through_the_service(stage.service, random, size // GROUPS_PER_CELLS)
    said = f"{cells} cells and {stored} of stored groups, read by 2 parsers: "
    misses += of_service
    return Measurement(f"{said}{len(misses)} wrong", misses)


def _cell(random: Random) -> Cell:
    if random.random() < 0.2:
        number = Decimal(random.randrange(-(10**15), 10**15)).scaleb(-random.randrange(12))
        return random.choice([number, random.randrange(-(10**9), 10**9), None])
    return _text(random)


def _text(random: Random) -> str:
    how = random.random()
    if how < 0.2:
        return random.choice(FORMULAS)
    if how < 0.8:
        return "".join(random.choices(HARD, k=random.randrange(8)))
    anything = (random.randrange(0x11_0000) for _ in range(random.randrange(12)))
    return "".join(chr(point) for point in anything if not 0xD800 <= point <= 0xDFFF)


def _through_the_service(service: Service, random: Random, count: int) -> tuple[int, list[str]]:
    """Groups whose every free field is such a text; without NUL, which no body may hold."""
    organisation = service.new_organisation("D5")
    root = service.root(organisation)
    expected: dict[str, list[str]] = {}
    for number in range(count):
        texts = [_text(random).replace("\0", "") or "=" for _ in FREE_FIELDS]
        name = f"{_text(random).replace(chr(0), '')}{number}"
        body: dict[str, Any] = {
            "billinggroup_id": name,
            "inv_aggregate": True,
            "invoices": {"aws": VALID_SETTING},
            **dict(zip(FREE_FIELDS, texts, strict=True)),
        }
        answer = service.http.post(
            "/m/core/billinggroup",
            content=json.dumps(body),
            headers={**root, "Content-Type": "application/json"},
        )
        assert answer.status_code == 200, answer.text
        expected[name] = texts
    return count * (len(FREE_FIELDS) + 1), _differences(service, root, expected)


def _differences(
    service: Service, root: dict[str, str], expected: dict[str, list[str]]
) -> list[str]:
    groups, settings = (
        parsed_by_both(content(service, link(service, address, root)))[1:]
        for address in (GROUPS, SETTINGS)
    )
    found = {original(row[0]): [original(cell) for cell in row[1:8]] for row in groups}
    named = {original(row[0]): original(row[1]) for row in settings}
    wrong = [
        f"group {name!r} came back otherwise"
        for name in expected
        if found.get(name) != expected[name]
    ]
    wrong += [
        f"setting of {n!r} came back otherwise" for n in expected if named.get(n) != expected[n][0]
    ]
    wrong += [
        f"a text cell begins like a formula: {cell[:40]!r}"
        for row in (*groups, *settings)
        for cell in row
        if cell.startswith(NEVER_FIRST)
    ]
    return wrong + [f"a rate was written {row[3]}" for row in settings if row[3] != "0.05"]
