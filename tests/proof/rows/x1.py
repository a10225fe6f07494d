"""An import that is killed at any moment is in whole or not at all, and the next try finishes it.

Versions of an invented month are taken in one after the other by the command itself; it is killed
with everything it started, at a random moment, and tried again until it is through. Whoever looks
meanwhile sees the old month or the new one. In the end all is as if nobody had been killed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from random import Random

from nimbill.demo.vendor_files import Dialect, Month, costs_of, write_files
from tests.imports.taking import Taking, totals
from tests.proof.real_server import environment_for
from tests.proof.row import Measured
from tests.proof.stage import Stage

TARGET = (
    "1,000 kills during imports: 0 acknowledged and lost, 0 doubled, 0 seen in part; in the end "
    "what an undisturbed run gives"
)
QUICK = 2  # kills
FULL = 200  # --size 1000 for the whole target
SECONDS_MAX = 600

LINES = 2_000
TRIES_MAX = 6
SECONDS_PER_RUN_MAX = 300


@dataclass
class Run:
    taking: Taking
    env: dict[str, str]
    random: Random
    ends: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)
    seconds: float = 4.0  # of a run nobody disturbs


def measure(stage: Stage, size: int) -> Measured:
    service = stage.service
    taking = Taking(service, service.new_organisation("X1"), stage.new_folder("x1"))
    settings = {
        "NIMBILL_DATABASE_URL": stage.postgres.url,
        "NIMBILL_KEY_FILE": str(service.settings.key_file),
    }
    run = Run(taking, environment_for(service.settings.data, settings), stage.random("X1"))
    before: dict[str, Decimal] = {}
    version = 0
    while run.ends["killed"] < size and len(run.misses) < 5:
        version += 1
        month = Month(lines=LINES, seed=version)
        folder = taking.folder / f"v{version}"
        parts = write_files(month, Dialect.aws_cur, folder, form="csv.gz", parts=2).parts
        after = _of(month)
        _until_through(run, parts, before, after, disturbed=version > 1)
        before = after
    counted = ", ".join(f"{count} {end}" for end, count in sorted(run.ends.items()))
    said = f"{version} versions of a month, runs that ended {counted}"
    return Measured(f"{said}: {len(run.misses)} wrong", run.misses)


def _of(month: Month) -> dict[str, Decimal]:
    sums: dict[str, Decimal] = {}
    for (customer, _), cost in costs_of(month).items():
        sums[customer] = sums.get(customer, Decimal(0)) + cost
    return sums


def _until_through(
    run: Run,
    parts: tuple[Path, ...],
    before: dict[str, Decimal],
    after: dict[str, Decimal],
    *,
    disturbed: bool,
) -> None:
    over, seen = threading.Event(), threading.Thread(target=lambda: None)
    seen = threading.Thread(target=_look, args=(run, over, before, after))
    seen.start()
    try:
        for number in range(TRIES_MAX):
            kill_after = None
            if disturbed and number < TRIES_MAX - 1:
                kill_after = run.random.uniform(0.2, 1.1) * run.seconds
            code = _import(run, parts, kill_after)
            run.ends["killed" if code is None else f"with {code}"] += 1
            if code == 0:
                break
            if code is not None:
                run.misses.append(f"exit code {code}")
    finally:
        over.set()
        seen.join()
    found = totals(run.taking)
    if found != after:
        run.misses.append(f"in the end {found}, expected {after}")
    files = run.taking.stored("SELECT count(DISTINCT import_id) AS n FROM lake_files")[0].n
    if files != 1:
        run.misses.append(f"files of {files} imports count")


def _import(run: Run, parts: tuple[Path, ...], kill_after: float | None) -> int | None:
    """The exit code; None where it was killed first."""
    organisation = run.taking.organisation.organisation_id
    command = [sys.executable, "-m", "nimbill", "import", *map(str, parts)]
    began = time.monotonic()
    process = subprocess.Popen(
        [*command, "--vendor", "aws", "--organisation", organisation],
        env=run.env,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        code = process.wait(kill_after or SECONDS_PER_RUN_MAX)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None
    if kill_after is None:
        run.seconds = time.monotonic() - began
    return code


def _look(
    run: Run, over: threading.Event, before: dict[str, Decimal], after: dict[str, Decimal]
) -> None:
    """Never anything in between, and never the old month again once the new one was seen."""
    new_seen = False
    while not over.wait(0.05):
        found = totals(run.taking)
        new_seen = new_seen or found == after
        if found not in (before, after) or (new_seen and found != after):
            run.misses.append(f"seen meanwhile: {found}")
            return
