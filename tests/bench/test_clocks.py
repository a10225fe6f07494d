"""Speeds on two clocks are compared round by round, with the quickest of several."""

from bench.clocks import Aim, Clocks, ratio
from bench.conversions import Took


def took(seconds: float, cpu: float, peak: float = 100) -> Took:
    return Took(seconds, cpu, peak, 1)


RUNS = {
    "ours": [took(4, 2), took(10, 2)],
    "quick": [took(2, 3), took(20, 3)],
    "steady": [took(8, 1), took(8, 1)],
}


def test_the_quickest_is_the_quickest_of_each_round() -> None:
    """2 s by 4 s in the first round, 8 s by 10 s in the second."""
    found = ratio(RUNS, Aim("ours", ("quick", "steady"), 0.8), clock=0)

    assert (round(found.middle, 6), found.low < 0.65 < found.high) == (0.65, True)


def test_cpu_time_is_compared_apart_from_the_clock() -> None:
    assert ratio(RUNS, Aim("ours", ("quick", "steady"), 0.8), clock=1) == (0.5, 0.5, 0.5)


def test_twice_as_long_is_half_as_quick() -> None:
    found = ratio({"ours": [took(2, 2)], "it": [took(1, 4)]}, Aim("ours", ("it",), 1), clock=0)

    assert found == (0.5, 0.5, 0.5)


def test_aims_are_told_as_met_or_missed_on_both_clocks() -> None:
    clocks = Clocks()
    for name, runs in {"ours": [took(4, 1, 900)], "it": [took(2, 2, 2000)]}.items():
        for one in runs:
            clocks.add("case", name, one)

    rows = clocks.as_rows([Aim("ours", ("it",), 0.8)], {"ours": 1024})

    assert "| case | ours | 4.0 (4.0–4.0) | 1.0 (1.0–1.0) | 900, 1024 met |" in rows
    assert "| case | it | 2.0 (2.0–2.0) | 2.0 (2.0–2.0) | 2000 |" in rows
    assert rows[-1] == (
        "| case | ours ÷ it | 0.50 (0.50–0.50) | 2.00 (2.00–2.00) | 0.80 MISSED, by CPU met |"
    )


def test_the_peak_told_is_the_highest_of_all_rounds() -> None:
    clocks = Clocks()
    for peak in (1025, 300):
        clocks.add("case", "ours", took(1, 1, peak))

    rows = clocks.as_rows([], {"ours": 1024})

    assert rows[2].endswith("| 1025, 1024 MISSED |")
