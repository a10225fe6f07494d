"""Writes docs/performance.md, its pictures and the table of the README from the records."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.machine import ROOT
from bench.pictures import draw_curve
from bench.rounds import format_spread
from bench.suite_records import MeasuredLine, SuiteRecord

PAGE = ROOT / "docs/performance.md"
PICTURES = ROOT / "docs/images"
README = ROOT / "README.md"
PROSE = ROOT / "bench/prose"
README_BEGIN, README_END = "<!-- ratios -->", "<!-- end of ratios -->"
PICTURE_PREFIX = "growth-"

# The sections of the page; every suite has a file of the same name in bench/prose.
ORDER = (
    "serving",
    "tokens",
    "gate",
    "lists",
    "imports",
    "sums",
    "invoices",
    "pdf",
    "portal",
    "console",
    "growth_imports",
    "growth_lists",
    "growth_requests",
    "guarantees",
)
ROLE_NAMES = {None: "ours", "instead": "instead", "floor": "floor", "variant": "variant"}


def write_pages(records: Mapping[str, SuiteRecord]) -> None:
    for file, content in build_files(records).items():
        file.write_text(content)
    for path in PICTURES.glob(f"{PICTURE_PREFIX}*.svg"):
        if path not in build_files(records):
            path.unlink()


def build_files(records: Mapping[str, SuiteRecord]) -> dict[Path, str]:
    """Everything that is written from the records, by its path."""
    pictures = {
        PICTURES / f"{PICTURE_PREFIX}{curve.name}.svg": draw_curve(curve, _label_lines(record))
        for record in records.values()
        for curve in record.curves
    }
    readme = replace_table(README.read_text(), format_summary(records))
    return {PAGE: format_page(records), README: readme, **pictures}


def _label_lines(record: SuiteRecord) -> dict[str, str]:
    roles = {"instead": " (instead)", "floor": " (floor)"}
    return {each.name: each.name + roles.get(each.role or "", "") for each in record.contenders}


# ── the page ─────────────────────────────────────────────────────────────────────────────────────


def format_page(records: Mapping[str, SuiteRecord]) -> str:
    sections = [_format_section(name, records.get(name)) for name in ORDER]
    introduction = (PROSE / "introduction.md").read_text().rstrip()
    return "\n\n".join([introduction, *sections]) + "\n"


def _format_section(name: str, record: SuiteRecord | None) -> str:
    title, _, prose = (PROSE / f"{name}.md").read_text().strip().partition("\n")
    if record is None:
        measured = [f"Not measured yet: `make bench ARGS={name}`."]
    else:
        measured = [
            _describe_run(record),
            *(f"![{each.title}](images/{PICTURE_PREFIX}{each.name}.svg)" for each in record.curves),
            "\n".join(format_table(record)),
            "\n".join(f"- Not measured: {failure}" for failure in record.failures),
            "\n".join(_list_descriptions(record)),
            *(["\n".join(record.notes)] if record.notes else []),
        ]
    parts = [f"## {title.removeprefix('# ')}", *measured, prose.strip()]
    return "\n\n".join(part for part in parts if part)


def _describe_run(record: SuiteRecord) -> str:
    rounds = sorted({line.rounds for line in record.lines})
    many = f"{rounds[0]} to {rounds[-1]} rounds" if len(rounds) > 1 else f"{rounds[0]} rounds"
    many = "1 round" if rounds == [1] else many
    length = f" of {record.slice_seconds:g} s" if record.slice_seconds else ""
    versions = record.versions
    return (
        f"`{record.command}`: {record.description}; {many}{length}. Measured on {record.date} at "
        f"{record.commit}, {record.machine}, load {record.load:g} before the run, Python "
        f"{versions['python']}, PostgreSQL {versions['postgresql']}, in {record.seconds} s."
    )


def format_table(record: SuiteRecord) -> list[str]:
    """One row per case if there is one other contender, else one row per contender."""
    is_paired = len(record.contenders) == 2 and not record.failures
    cells = _list_pairs(record) if is_paired else _list_all(record)
    if all(line.target is None for line in record.lines):
        cells = [row[:-1] for row in cells]
    heading, *rows = (f"| {' | '.join(row)} |" for row in cells)
    return [heading, "|---" * len(cells[0]) + "|", *rows]


def _list_pairs(record: SuiteRecord) -> list[list[str]]:
    own = record.baseline
    (other,) = (each for each in record.contenders if each.role is not None)
    role = "" if other.role == "variant" else f" ({ROLE_NAMES[other.role]})"
    heading = [f"{own}, {record.unit}", f"{other.name}{role}", f"{own} ÷ {other.name}"]
    cells = [["Case", *heading, "target"]]
    by_name = {(line.case, line.contender): line for line in record.lines}
    for case in dict.fromkeys(line.case for line in record.lines):
        ours, theirs = by_name[case, own], by_name[case, other.name]
        cells.append([case, _rate(ours), _rate(theirs), _ratio(theirs), _target(theirs)])
    return cells


def _list_all(record: SuiteRecord) -> list[list[str]]:
    roles = {each.name: ROLE_NAMES[each.role] for each in record.contenders}
    return [
        ["Case", "Contender", "Role", record.unit, f"{record.baseline} ÷ it", "target"],
        *(
            [
                *(line.case, line.contender, roles[line.contender]),
                *(_rate(line), _ratio(line), _target(line)),
            ]
            for line in record.lines
        ),
    ]


def _rate(line: MeasuredLine) -> str:
    digits = ",.0f" if line.rate.median >= 10 else ".2f"
    return format_spread(line.rate, digits)


def _ratio(line: MeasuredLine) -> str:
    return "" if line.ratio is None else format_spread(line.ratio, ".2f")


def _target(line: MeasuredLine) -> str:
    if line.is_met is None:
        return ""
    return f"{line.target:g} {'met' if line.is_met else 'MISSED'}"


def _list_descriptions(record: SuiteRecord) -> list[str]:
    described = [(each.name, each.description) for each in record.contenders]
    described += record.case_descriptions.items()
    return [f"- {name}: {description}" for name, description in described if description]


# ── the table of the README ──────────────────────────────────────────────────────────────────────


def format_summary(records: Mapping[str, SuiteRecord]) -> str:
    """One row for the main case of each suite that has one."""
    rows = [
        "| Case | Nimbill ÷ the usual choice | Nimbill ÷ the floor | Command | Measured at |",
        "|---|---|---|---|---|",
    ]
    for name in ORDER:
        record = records.get(name)
        if record is not None and record.summary_case is not None:
            usual, floor = (_find_ratio(record, role) for role in ("instead", "floor"))
            measured = f"{record.commit}, load {record.load:g}"
            rows.append(
                f"| {_name_case(record)} | {usual} | {floor} | `{record.command}` | {measured} |"
            )
    return "\n".join(rows)


def _name_case(record: SuiteRecord) -> str:
    title = (PROSE / f"{record.suite}.md").read_text().partition("\n")[0].removeprefix("# ")
    remark = record.baseline.removeprefix("nimbill")  # ", with second reading"
    return f"{title}: {record.summary_case}{remark}"


def _find_ratio(record: SuiteRecord, role: str) -> str:
    """Of several contenders in this role, the fastest."""
    names = {each.name for each in record.contenders if each.role == role}
    lines = [
        line
        for line in record.lines
        if line.case == record.summary_case and line.contender in names and line.ratio
    ]
    if not lines:
        return "–"
    slowest = min(lines, key=lambda line: line.ratio.median if line.ratio else 0)
    assert slowest.ratio is not None
    return f"{slowest.ratio.median:.2f} ({slowest.contender})"


def replace_table(text: str, table: str) -> str:
    before, mark, rest = text.partition(f"{README_BEGIN}\n")
    assert mark, f"README.md has no {README_BEGIN}"
    after = rest.partition(README_END)[2]
    return f"{before}{README_BEGIN}\n{table}\n{README_END}{after}"


def list_missed_targets(records: Sequence[SuiteRecord]) -> list[str]:
    return [
        f"{record.suite}: {line.case}, {record.baseline} ÷ {line.contender}: "
        f"{_ratio(line)}, target {_target(line)}"
        for record in records
        for line in record.lines
        if line.is_met is False
    ]
