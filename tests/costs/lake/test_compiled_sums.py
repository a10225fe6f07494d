"""The compiled SQL file is up to date and complete."""

from nimbill.costs.lake import sums
from nimbill.costs.lake.engines.compiled_sums import (
    COMPILED_QUERIES,
    SQL_FILE,
    compile_all,
    load_sql,
)


def test_the_sql_file_is_up_to_date() -> None:
    hint = "run: python -m nimbill.costs.lake.engines.compiled_sums"

    assert SQL_FILE.read_text() == compile_all(), hint


def test_every_query_is_compiled_with_and_without_split_cost() -> None:
    functions = {name for name, value in vars(sums).items() if callable(value)}
    queries = {name for name in functions if name[0].islower()} - {"chosen"}

    assert queries == set(COMPILED_QUERIES)
    for name in COMPILED_QUERIES:
        whole, split = (load_sql(getattr(sums, name), split=split) for split in (False, True))
        has_cost = name != "product_names"
        assert (whole != split) is has_cost, name


def test_other_queries_are_compiled_when_they_are_run() -> None:
    def monthly_sums(lines):  # type: ignore[no-untyped-def]
        return lines.count()

    assert load_sql(monthly_sums, split=False) != load_sql(sums.monthly_sums, split=False)
