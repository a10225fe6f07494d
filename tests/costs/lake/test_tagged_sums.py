"""Sums by day and by the values of several tag keys together."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from nimbill.costs.lake import sums
from nimbill.costs.lake.engines.compiled_sums import TAG_KEYS_MAX, load_sql
from nimbill.costs.lake.records import cost_months, cost_sums, cost_tagged_sums
from nimbill.costs.lake.tagged_batches import combine_tags
from nimbill.customers.organisation_settings.report_tag_rules import KEYS_MAX
from tests.costs.generated_months import (
    LARGEST_UNITS,
    TAG_KEYS,
    Sums,
    build_line,
    compute_tagged_sums,
    generate_month,
    parse_sums,
)
from tests.costs.lake.test_records import load_rows
from tests.costs.lake.test_sums import EngineBench, bench
from tests.costs.stored_months import store_month
from tests.running_service import Service

__all__ = ["bench"]

KEYS = ("user:Team", "it's", "チーム", "null", 'say "so"')
OTHER_KEYS = [key for key in TAG_KEYS if key not in KEYS][:5]


@pytest.mark.parametrize("keys", [KEYS[:1], KEYS[:2], KEYS, OTHER_KEYS])
def test_tagged_sums_of_random_months_are_exact(bench: EngineBench, keys: tuple[str, ...]) -> None:
    lines = generate_month(len(keys), 700)

    result = bench.run_tagged(keys, bench.store_lines(lines))

    assert parse_sums(result) == compute_tagged_sums(lines, keys)


def test_tagged_sums_that_overflow_a_decimal_are_exact(bench: EngineBench) -> None:
    lines = generate_month(100, 700, largest=LARGEST_UNITS)

    result = bench.run_tagged(KEYS, bench.store_lines(lines))

    assert parse_sums(result) == compute_tagged_sums(lines, KEYS)


@pytest.mark.parametrize("seed", range(3))
def test_tagged_sums_add_up_to_the_monthly_sums(bench: EngineBench, seed: int) -> None:
    files = bench.store_lines(generate_month(seed, 500))

    tagged = parse_sums(bench.run_tagged(KEYS[:3], files))

    added: dict[Any, tuple[Fraction, int]] = defaultdict(lambda: (Fraction(0), 0))
    for (*key, _first, _second, _third, currency), (cost, lines) in tagged.items():
        before = added[*key, currency]
        added[*key, currency] = (before[0] + cost, before[1] + lines)
    monthly: Sums = parse_sums(bench.run("monthly_sums", files))
    assert added == monthly


@pytest.mark.parametrize("key", ["tag key 2", "'tag key 2'", "'", "' OR 1=1 --", "\\", "$1"])
def test_a_key_is_never_read_as_sql(bench: EngineBench, key: str) -> None:
    lines = [build_line(tags=[(key, "a"), ("b", "c")]), build_line(tags=[("other", "d")])]

    result = bench.run_tagged([key, "b"], bench.store_lines(lines))

    rows = {(row["tag_1"], row["tag_2"], row["lines"]) for row in result.to_pylist()}
    assert rows == {("a", "c", 1), (None, None, 1)}


def test_the_query_is_compiled_in_advance_for_every_number_of_keys() -> None:
    assert TAG_KEYS_MAX == KEYS_MAX
    for count in range(1, KEYS_MAX + 1):
        sql = load_sql(sums.TaggedSums(KEYS[:count]), split=False)

        assert f'"tag_{count}"' in sql
        assert "tag key" not in sql


def test_tags_are_one_object_of_the_keys_that_a_line_has(bench: EngineBench) -> None:
    values = ['値 "x" \\', "", None]
    lines = [build_line(tags=[("a", value)]) for value in values] + [build_line()]
    keys = ["a", "b"]
    result = bench.run_tagged(keys, bench.store_lines(lines))

    batches = list(combine_tags(result.to_batches(), keys))

    tags = {text: lines for batch in batches for text, lines in _count_lines(batch)}
    assert {text: json.loads(text) for text in tags} == {
        '{"a": "値 \\"x\\" \\\\"}': {"a": '値 "x" \\'},
        '{"a": ""}': {"a": ""},
        "{}": {},
    }
    assert tags['{"a": ""}'] == 2  # a key without a value has the value ""


def _count_lines(batch: Any) -> Any:
    return zip(batch["tags"].to_pylist(), batch["lines"].to_pylist(), strict=True)


def test_stored_tagged_sums_keep_every_value_and_are_replaced_with_the_month(
    service: Service,
) -> None:
    values = ["値 'x' \"y\" \\", "", "\\.", "NULL", "\\N", "a,b\n\r\nc\td", '"', " x "]
    lines = [build_line(tags=[("Team", value)], cost=Decimal(2)) for value in values]

    store_month(service, lines, tag_keys=["Team", "Stage"])

    rows = load_rows(service, cost_tagged_sums)
    assert sorted(row["tags"]["Team"] for row in rows) == sorted(values)
    assert [row["tag_keys"] for row in load_rows(service, cost_months)] == [["Team", "Stage"]]

    store_month(service, [build_line(), build_line()])

    assert load_rows(service, cost_tagged_sums) == []
    assert [row["tag_keys"] for row in load_rows(service, cost_months)] == [[]]
    assert len(load_rows(service, cost_sums)) == 1
