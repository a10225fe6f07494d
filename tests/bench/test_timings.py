"""Timings are compared within each round, with the fastest of several competitors."""

from bench.conversions import RunTiming
from bench.timings import SpeedTarget, TimingLog, compute_ratio


def timing(seconds: float, cpu_seconds: float, peak_mib: float = 100) -> RunTiming:
    return RunTiming(seconds, cpu_seconds, peak_mib, 1)


TIMINGS = {
    "ours": [timing(4, 2), timing(10, 2)],
    "quick": [timing(2, 3), timing(20, 3)],
    "steady": [timing(8, 1), timing(8, 1)],
}


def test_the_fastest_competitor_is_chosen_in_each_round() -> None:
    """2 s divided by 4 s in the first round, 8 s divided by 10 s in the second."""
    target = SpeedTarget("ours", ("quick", "steady"), 0.8)

    ratio = compute_ratio(TIMINGS, target, clock="seconds")

    assert (round(ratio.median, 6), ratio.low < 0.65 < ratio.high) == (0.65, True)


def test_cpu_time_is_compared_separately() -> None:
    target = SpeedTarget("ours", ("quick", "steady"), 0.8)

    assert compute_ratio(TIMINGS, target, clock="cpu_seconds") == (0.5, 0.5, 0.5)


def test_twice_the_time_is_half_the_speed() -> None:
    timings = {"ours": [timing(2, 2)], "other": [timing(1, 4)]}

    ratio = compute_ratio(timings, SpeedTarget("ours", ("other",), 1), clock="seconds")

    assert ratio == (0.5, 0.5, 0.5)


def test_tables_show_which_targets_are_met() -> None:
    log = TimingLog()
    log.add("case", "ours", timing(4, 1, 900))
    log.add("case", "other", timing(2, 2, 2000))

    rows = log.format_tables([SpeedTarget("ours", ("other",), 0.8)], {"ours": 1024})

    assert "| case | ours | 4.0 (4.0–4.0) | 1.0 (1.0–1.0) | 900, 1024 met |" in rows
    assert "| case | other | 2.0 (2.0–2.0) | 2.0 (2.0–2.0) | 2000 |" in rows
    assert rows[-1] == (
        "| case | ours ÷ other | 0.50 (0.50–0.50) | 2.00 (2.00–2.00) | 0.80 MISSED, CPU time met |"
    )


def test_the_peak_memory_is_the_highest_of_all_rounds() -> None:
    log = TimingLog()
    for peak in (1025, 300):
        log.add("case", "ours", timing(1, 1, peak))

    rows = log.format_tables([], {"ours": 1024})

    assert rows[2].endswith("| 1025, 1024 MISSED |")
    assert log.find_peaks() == {"ours": {"case": 1025}}
