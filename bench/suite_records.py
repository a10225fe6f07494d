"""The last run of each suite, kept as bench/results/SUITE.json; the pages are written from them."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from bench.machine import ROOT, describe_machine
from bench.rounds import ComparisonLine, Contender, Curve, Role, Spread, Suite, SuiteRun
from nimbill.foundation import clock

RESULTS = ROOT / "bench/results"


class MeasuredContender(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    role: Role | None  # None: Nimbill itself
    description: str


class MeasuredLine(msgspec.Struct, frozen=True, kw_only=True):
    case: str
    contender: str
    rounds: int
    rate: Spread
    ratio: Spread | None  # None: of the baseline to itself
    target: float | None  # the minimum of the ratio

    @property
    def is_met(self) -> bool | None:
        if self.target is None or self.ratio is None:
            return None
        return self.ratio.median >= self.target


class SuiteRecord(msgspec.Struct, frozen=True, kw_only=True):
    suite: str
    description: str
    date: str
    commit: str
    machine: str
    load: float  # before the run
    command: str
    unit: str
    slice_seconds: float
    seconds: int  # of the whole run
    summary_case: str | None
    case_descriptions: dict[str, str]
    contenders: list[MeasuredContender]
    lines: list[MeasuredLine]
    failures: list[str] = []  # contenders that could not be measured, with their case
    notes: list[str]  # further rows in Markdown
    curves: list[Curve]
    versions: dict[str, str]

    @property
    def baseline(self) -> str:
        return next(each.name for each in self.contenders if each.role is None)


class RunCircumstances(msgspec.Struct, frozen=True, kw_only=True):
    """What is known before a run starts, and the time it took."""

    commit: str
    load: float
    command: str
    seconds: float
    versions: dict[str, str]


def build_record(
    suite: Suite,
    contenders: Sequence[Contender],
    run: SuiteRun,
    circumstances: RunCircumstances,
) -> SuiteRecord:
    return SuiteRecord(
        suite=suite.name,
        description=suite.description,
        date=f"{clock.now():%Y-%m-%d}",
        commit=circumstances.commit,
        machine=describe_machine(),
        load=circumstances.load,
        command=circumstances.command,
        unit=suite.unit,
        slice_seconds=suite.slice_seconds,
        seconds=round(circumstances.seconds),
        summary_case=suite.summary_case,
        case_descriptions=dict(suite.case_descriptions),
        contenders=[
            MeasuredContender(
                name=each.name,
                role=None if each.name == suite.baseline else suite.roles[each.name],
                description=each.description,
            )
            for each in contenders
        ],
        lines=[_build_line(suite, line) for line in run.lines],
        failures=run.failures,
        notes=list(suite.extra_rows()) if suite.extra_rows else [],
        curves=list(suite.curves(run.lines)) if suite.curves else [],
        versions=circumstances.versions,
    )


def _build_line(suite: Suite, line: ComparisonLine) -> MeasuredLine:
    is_baseline = line.contender == suite.baseline
    return MeasuredLine(
        case=line.case,
        contender=line.contender,
        rounds=line.rounds,
        rate=_shorten(line.rate),
        ratio=None if is_baseline else _shorten(line.ratio),
        target=suite.targets.get(line.contender),
    )


def _shorten(spread: Spread) -> Spread:
    return Spread(*(float(f"{value:.5g}") for value in spread))


def keep_record(record: SuiteRecord, folder: Path = RESULTS) -> None:
    """Replace the record of the suite."""
    folder.mkdir(exist_ok=True)
    content = msgspec.json.format(msgspec.json.encode(record), indent=1)
    (folder / f"{record.suite}.json").write_bytes(content + b"\n")


def read_records(folder: Path = RESULTS) -> dict[str, SuiteRecord]:
    return {
        path.stem: msgspec.json.decode(path.read_bytes(), type=SuiteRecord)
        for path in sorted(folder.glob("*.json"))
    }
