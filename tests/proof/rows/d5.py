"""Exported texts are read back as stored, none runs as a formula, and numbers are unchanged.

Random cells, mostly of characters that are difficult for spreadsheets and CSV readers, are written
and read back by two parsers. Some take the complete path through billing groups and both exports.
"""

from __future__ import annotations

import json
from decimal import Decimal
from random import Random
from typing import Any

from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.invoicing.exports.export_requests import GROUPS, SETTINGS, create_link, download_content
from tests.invoicing.exports.formula_escaping import (
    FORMULA_CHARACTERS,
    FORMULAS,
    Cell,
    find_faults,
    parse_with_both_readers,
    unescape_cell,
)
from tests.proof.broken_variants import BrokenVariant
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.running_service import Service

TARGET = (
    "100,000 cells: equal after the round trip, 0 text cells that begin with = + - @ TAB CR "
    "LF NUL, numbers unchanged"
)
QUICK = 4_000
FULL = 100_000
SECONDS_MAX = 120

WIDTH, HEIGHT = 10, 40
GROUPS_PER_CELLS = 100  # one group is created in the service per this many cells

HARD = "=+-@\t\r\n\0＝＋－＠'\"'\",;| \ufeff\u2028\u3000a1あ𠮷é"
FREE_FIELDS = (
    *("billinggroup_name", "company_name", "postal", "address", "phone", "personal"),
    "billing_title",
)


def measure(environment: RowEnvironment, size: int) -> Measurement:
    random = environment.random("D5")
    misses: list[str] = []
    cells = 0
    while cells < size:
        rows = [[_cell(random) for _ in range(WIDTH)] for _ in range(HEIGHT)]
        misses += find_faults(rows)
        cells += WIDTH * HEIGHT
    stored, service_faults = _check_service(environment.service, random, size // GROUPS_PER_CELLS)
    figures = f"{cells} cells and {stored} of stored groups, read by 2 parsers: "
    misses += service_faults
    return Measurement(f"{figures}{len(misses)} wrong", misses)


def _cell(random: Random) -> Cell:
    if random.random() < 0.2:
        number = Decimal(random.randrange(-(10**15), 10**15)).scaleb(-random.randrange(12))
        return random.choice([number, random.randrange(-(10**9), 10**9), None])
    return _text(random)


def _text(random: Random) -> str:
    choice = random.random()
    if choice < 0.2:
        return random.choice(FORMULAS)
    if choice < 0.8:
        return "".join(random.choices(HARD, k=random.randrange(8)))
    code_points = (random.randrange(0x11_0000) for _ in range(random.randrange(12)))
    return "".join(chr(point) for point in code_points if not 0xD800 <= point <= 0xDFFF)


def _check_service(service: Service, random: Random, count: int) -> tuple[int, list[str]]:
    """Groups with such texts in every free field, except NUL, which bodies may not contain."""
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
        parse_with_both_readers(download_content(service, create_link(service, address, root)))[1:]
        for address in (GROUPS, SETTINGS)
    )
    found = {unescape_cell(row[0]): [unescape_cell(cell) for cell in row[1:8]] for row in groups}
    settings_by_name = {unescape_cell(row[0]): unescape_cell(row[1]) for row in settings}
    wrong = [
        f"group {name!r} was changed by the export"
        for name in expected
        if found.get(name) != expected[name]
    ]
    wrong += [
        f"setting of {n!r} was changed by the export"
        for n in expected
        if settings_by_name.get(n) != expected[n][0]
    ]
    wrong += [
        f"a text cell begins like a formula: {cell[:40]!r}"
        for row in (*groups, *settings)
        for cell in row
        if cell.startswith(FORMULA_CHARACTERS)
    ]
    return wrong + [f"a rate was written {row[3]}" for row in settings if row[3] != "0.05"]


VARIANTS = [
    BrokenVariant(
        "formulas-not-quoted",
        "Texts that begin like formulas are written unchanged.",
        "a text cell begins like a formula",
        "invoicing/exports/csv_file.py",
        "return escape_formula(cell)",
        "return cell",
    ),
    BrokenVariant(
        "quote-not-escaped",
        "A text that already begins with a quote is not quoted again, so two texts become one.",
        "came back as",
        "foundation/spreadsheet_text.py",
        '_FORMULA_START = re.compile("\'*[=+\\\\-@\\t\\r\\n\\0＝＋－＠]")',
        '_FORMULA_START = re.compile("[=+\\\\-@\\t\\r\\n\\0＝＋－＠]")',
    ),
]
