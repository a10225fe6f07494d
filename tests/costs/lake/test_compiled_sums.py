"""The SQL that is kept of the sums is what Ibis writes of them today."""

from nimbill.costs.lake import sums
from nimbill.costs.lake.engines.compiled_sums import PAGE, WRITTEN, page, sql_of


def test_the_page_is_fresh() -> None:
    said = "run: python -m nimbill.costs.lake.engines.compiled_sums"

    assert PAGE.read_text() == page(), said


def test_every_sum_stands_on_it_both_ways() -> None:
    defined = {name for name, one in vars(sums).items() if callable(one) and name[0].islower()}

    assert defined - {"chosen"} == set(WRITTEN)
    assert (
        len({sql_of(getattr(sums, name), wide=wide) for name in WRITTEN for wide in (False, True)})
        == 10
    )


def test_a_question_of_another_is_written_when_it_is_asked() -> None:
    def monthly_sums(lines):  # type: ignore[no-untyped-def]
        return lines.count()

    assert sql_of(monthly_sums, wide=False) != sql_of(sums.monthly_sums, wide=False)
