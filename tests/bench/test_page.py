"""docs/performance.md, its pictures and the table of the README show what the records contain."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from bench import page, suites
from bench.page import build_files, format_page, format_summary, format_table, replace_table
from bench.pictures import build_axis, draw_curve
from bench.rounds import Curve, Spread
from bench.suite_records import (
    RESULTS,
    MeasuredContender,
    MeasuredLine,
    SuiteRecord,
    keep_record,
    read_records,
)


def build_line(
    case: str, contender: str, ratio: float | None = None, target: float | None = None
) -> MeasuredLine:
    spread = None if ratio is None else Spread(ratio, ratio - 0.1, ratio + 0.1)
    rate = Spread(300, 290, 310)
    return MeasuredLine(
        case=case, contender=contender, rounds=3, rate=rate, ratio=spread, target=target
    )


def build_contender(name: str, role: str | None) -> MeasuredContender:
    return MeasuredContender(name=name, role=role, description=f"what {name} is")  # type: ignore[arg-type]


RECORD = SuiteRecord(
    suite="serving",
    description="requests",
    date="2026-11-18",
    commit="0123456789+",
    machine="2 cores",
    load=0.2,
    command="make bench ARGS=serving",
    unit="requests/s",
    slice_seconds=0.7,
    seconds=70,
    summary_case="GET",
    case_descriptions={},
    contenders=[
        build_contender("nimbill", None),
        build_contender("quick", "floor"),
        build_contender("quicker", "floor"),
        build_contender("usual", "instead"),
    ],
    lines=[
        build_line("GET", "nimbill"),
        build_line("GET", "quick", 0.9, 0.6),
        build_line("GET", "quicker", 0.5, 0.6),
        build_line("GET", "usual", 2.5, 1.5),
    ],
    notes=["| a | further table |"],
    curves=[],
    versions={"python": "3.11", "postgresql": "18"},
)
CURVE = Curve(
    name="lists",
    title="Lists & more",
    x_label="accounts",
    y_label="records/s",
    points={"nimbill": [(1000, 5.5), (50000, 700.0)], "bare": [(1000, 9.0)]},
)


# ── the files of the project ─────────────────────────────────────────────────────────────────────


def test_page_pictures_and_readme_show_the_records() -> None:
    """`make bench` writes them; `python -m bench --page` writes them without measuring."""
    expected = build_files(read_records())

    different = [path for path, content in expected.items() if path.read_text() != content]
    drawn = set(page.PICTURES.glob(f"{page.PICTURE_PREFIX}*.svg"))

    assert different == []
    assert drawn == {path for path in expected if path.suffix == ".svg"}


def test_every_suite_has_a_section_with_prose() -> None:
    assert sorted(page.ORDER) == suites.list_suites()
    assert {path.stem for path in page.PROSE.glob("*.md")} == {"introduction", *page.ORDER}


def test_every_record_belongs_to_a_suite() -> None:
    assert {path.stem for path in RESULTS.iterdir()} <= set(suites.list_suites())


# ── the page ─────────────────────────────────────────────────────────────────────────────────────


def test_a_section_states_when_and_on_what_it_was_measured() -> None:
    text = format_page({"serving": RECORD})

    assert "Measured on 2026-11-18 at 0123456789+, 2 cores, load 0.2 before the run" in text
    assert "- usual: what usual is" in text
    assert "| a | further table |" in text
    assert "Not measured yet: `make bench ARGS=lists`." in text


def test_the_table_shows_ratio_spread_and_targets() -> None:
    rows = format_table(RECORD)

    assert rows[3] == ("| GET | quick | floor | 300 (290–310) | 0.90 (0.80–1.00) | 0.6 met |")
    assert rows[4].endswith("| 0.50 (0.40–0.60) | 0.6 MISSED |")


def test_two_contenders_share_a_row() -> None:
    pair = replace(RECORD, contenders=RECORD.contenders[:2], lines=RECORD.lines[:2])

    rows = format_table(pair)

    assert rows[0] == ("| Case | nimbill, requests/s | quick (floor) | nimbill ÷ quick | target |")
    assert rows[2:] == ["| GET | 300 (290–310) | 300 (290–310) | 0.90 (0.80–1.00) | 0.6 met |"]


def test_a_table_without_targets_has_no_column_for_them() -> None:
    lines = [replace(line, target=None) for line in RECORD.lines]

    rows = format_table(replace(RECORD, lines=lines))

    assert rows[0].endswith("| nimbill ÷ it |")
    assert rows[3].endswith("| 0.90 (0.80–1.00) |")


def test_a_contender_that_was_not_measured_is_named() -> None:
    pair = replace(
        RECORD,
        contenders=RECORD.contenders[:2],
        lines=RECORD.lines[:1],
        failures=["GET, quick: 503"],
    )

    text = format_page({"serving": pair})

    assert "- Not measured: GET, quick: 503" in text
    assert "| – | – |" in format_summary({"serving": pair})


def test_missed_targets_are_listed() -> None:
    (missed,) = page.list_missed_targets([RECORD])

    assert missed == "serving: GET, nimbill ÷ quicker: 0.50 (0.40–0.60), target 0.6 MISSED"


# ── the README ───────────────────────────────────────────────────────────────────────────────────


def test_the_summary_compares_with_the_fastest_contender_of_a_role() -> None:
    (row,) = format_summary({"serving": RECORD}).splitlines()[2:]

    assert row.startswith("| Serving: GET | 2.50 (usual) | 0.50 (quicker) |")
    assert row.endswith("| `make bench ARGS=serving` | 0123456789+, load 0.2 |")


def test_a_suite_without_such_a_contender_has_a_dash() -> None:
    pair = replace(RECORD, contenders=RECORD.contenders[:2], lines=RECORD.lines[:2])

    assert "| – | 0.90 (quick) |" in format_summary({"serving": pair})


def test_a_suite_without_a_main_case_is_not_in_the_summary() -> None:
    records = {"serving": replace(RECORD, summary_case=None)}

    assert len(format_summary(records).splitlines()) == 2


def test_only_the_table_of_the_readme_is_replaced() -> None:
    text = "# Name\n<!-- ratios -->\nold\n<!-- end of ratios -->\n\nmore\n"

    assert replace_table(text, "new") == text.replace("old", "new")


# ── records and pictures ─────────────────────────────────────────────────────────────────────────


def test_a_run_replaces_the_record_of_its_suite(tmp_path: Path) -> None:
    for load in (7.5, 0.1):
        keep_record(replace(RECORD, load=load, curves=[CURVE]), tmp_path)

    (record,) = read_records(tmp_path).values()

    assert (record.load, record.lines, record.curves) == (0.1, RECORD.lines, [CURVE])


def test_a_picture_is_xml_with_a_background_and_named_lines() -> None:
    root = ElementTree.fromstring(draw_curve(CURVE, {"nimbill": "ours", "bare": "bare (floor)"}))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]

    assert root[1].attrib["fill"] == "#fff"
    assert {"Lists & more", "accounts", "records/s", "ours", "bare (floor)", "50,000"} <= set(texts)


@pytest.mark.parametrize(
    ("values", "steps"),
    [
        ([1, 256], [1, 3, 10, 30, 100, 300]),
        ([20, 90], [20, 50, 100]),
        ([210, 240], [200, 300]),
        ([1, 10**7], [10.0**exponent for exponent in range(8)]),
    ],
)
def test_the_steps_of_an_axis_are_round_and_few(values: list[float], steps: list[float]) -> None:
    assert build_axis(values, 0, 100).list_steps() == steps


def test_an_axis_is_logarithmic() -> None:
    axis = build_axis([10, 1000], 0, 100)

    assert axis.place(100) == 50
    assert axis.place(10) == pytest.approx(100 - axis.place(1000), abs=0.2)
