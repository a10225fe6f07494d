"""A delivery that arrives twice, from twenty clients at once, late or in halves counts once.

Random months are imported, repeated, imported in parallel, in halves and completely, and the older
version after the newer one. After each import the stored sums are those of one import of the right
version.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from decimal import Decimal
from pathlib import Path
from random import Random

from nimbill.database.tenant_scope import transaction
from nimbill.demo.vendor_files.charges import SyntheticMonth, sum_costs
from nimbill.demo.vendor_files.dialects import Dialect
from nimbill.demo.vendor_files.file_writer import write_files
from nimbill.imports.commit_import import commit_import
from nimbill.imports.preparation import PreparedImport
from tests.imports.in_process_importer import InProcessImporter, load_totals
from tests.proof.broken_variants import BrokenVariant
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment

TARGET = (
    "the same files twice, by 20 clients at once (exactly one counts), half and then complete: "
    "sums of one import; "
    "an older version after a newer one is refused with 409"
)
QUICK = 1  # months
FULL = 40
SECONDS_MAX = 300
CONFLICT = 409

CLIENTS = 20
DIALECTS = (Dialect.aws_cur, Dialect.azure_ea, Dialect.focus_1_2, Dialect.aws_cur2)


def measure(environment: RowEnvironment, size: int) -> Measurement:
    random, misses, states_counted = environment.random("D3"), [], Counter[str]()
    for number in range(size):
        importer = InProcessImporter(
            environment.service,
            environment.service.new_organisation("D3"),
            environment.new_folder("d3"),
        )
        misses += _check_month(importer, DIALECTS[number % len(DIALECTS)], random, states_counted)
    counted = ", ".join(f"{count} {state}" for state, count in sorted(states_counted.items()))
    return Measurement(f"{size} months, imports that ended {counted}: {len(misses)} wrong", misses)


def _check_month(
    importer: InProcessImporter, dialect: Dialect, random: Random, states_counted: Counter[str]
) -> list[str]:
    vendor = dialect.vendors[0]
    older, newer = (
        SyntheticMonth(vendor=vendor, lines=120, seed=random.randrange(1000)) for _ in range(2)
    )
    files = {
        name: write_files(month, dialect, importer.folder / name, file_format="csv", parts=2).parts
        for name, month in (("older", older), ("newer", newer))
    }
    misses = []

    def expect(case: str, state: str, month: SyntheticMonth, *sources: Path) -> None:
        record = importer(*sources, vendor=vendor)
        states_counted[record["state"]] += 1
        refused = (record["problem"] or {}).get("status") == CONFLICT
        if record["state"] != state or refused != (state == "refused"):
            misses.append(f"{dialect}, {case}: {record['state']} {record['problem']}")
        misses.extend(_compare_sums(importer, f"{dialect}, {case}", month))

    half = importer(files["older"][0], vendor=vendor)
    states_counted[half["state"]] += 1
    expect("half, then complete", "done", older, *files["older"])
    expect("again", "unchanged", older, *files["older"])
    expect("again, in another order", "unchanged", older, *reversed(files["older"]))
    states = _import_at_once(importer, vendor, files["newer"])
    states_counted.update(states)
    if states["done"] != 1 or set(states) - {"done", "unchanged"}:
        misses.append(f"{dialect}, {CLIENTS} at once: {dict(states)}")
    misses += _compare_sums(importer, f"{dialect}, {CLIENTS} at once", newer)
    expect("older after newer", "refused", newer, *files["older"])
    return misses


def _import_at_once(
    importer: InProcessImporter, vendor: str, files: tuple[Path, ...]
) -> Counter[str]:
    """Prepare all imports before the first is committed, then commit all in parallel."""
    started = [importer.start(*files, vendor=vendor) for _ in range(CLIENTS)]
    prepared = {import_id: importer.prepare(import_id) for import_id in started}

    async def commit(import_id: str, ready: PreparedImport) -> None:
        engine = importer.service.resources.engine
        async with transaction(engine, importer.scope.organisation_id) as db:
            await commit_import(db, importer.service.settings, importer.scope, import_id, ready)

    async def commit_all() -> None:
        await asyncio.gather(*(commit(*item) for item in prepared.items()))

    importer.service.run(commit_all)
    return Counter(importer.get_record(import_id)["state"] for import_id in started)


def _compare_sums(importer: InProcessImporter, case: str, month: SyntheticMonth) -> list[str]:
    expected: Counter[str] = Counter()
    for (customer, _), cost in sum_costs(month).items():
        expected[customer] = expected.get(customer, Decimal(0)) + cost  # type: ignore[assignment]
    found = load_totals(importer)
    return [] if found == dict(expected) else [f"{case}: {found}, expected {dict(expected)}"]


VARIANTS = [
    BrokenVariant(
        "deliveries-not-compared",
        "A delivery is not compared with earlier ones.",
        "older after newer: done",
        "imports/preparation.py",
        "if delivery.content_hash in request.known_deliveries:",
        "if False and delivery.content_hash in request.known_deliveries:",
        also=[
            (
                "imports/records.py",
                """.order_by(sa.desc("is_current"), _imports.create_time.desc())
        .limit(1)""",
                """.order_by(sa.desc("is_current"), _imports.create_time.desc())
        .limit(0)""",
            )
        ],
    ),
]
