"""What runs in fresh processes took, on both clocks, and the most memory they held."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bench.conversions import Took
from bench.rounds import Spread, spread


class Aim(NamedTuple):
    """At least so many times the quickest of these, round by round."""

    contender: str
    of: Sequence[str]
    least: float


class Clocks:
    """Every run, by case and contender, in the order of the rounds."""

    def __init__(self) -> None:
        self._took: defaultdict[str, defaultdict[str, list[Took]]]
        self._took = defaultdict(lambda: defaultdict(list))

    def add(self, case: str, contender: str, took: Took) -> None:
        self._took[case][contender].append(took)

    def as_rows(self, aims: Sequence[Aim], memory_aims: Mapping[str, float]) -> list[str]:
        """Tables in Markdown: what each took, and what became of the aims."""
        rows = ["| Case | Contender | seconds | CPU seconds | peak MiB |", "|---|---|---|---|---|"]
        for case, contenders in self._took.items():
            for name, runs in contenders.items():
                wall, cpu = (shown(spread([one[clock] for one in runs]), ".1f") for clock in (0, 1))
                peak = max(one.peak_mib for one in runs)
                most = memory_aims.get(name)
                met = "" if most is None else f", {most:.0f} {_met(peak <= most)}"
                rows.append(f"| {case} | {name} | {wall} | {cpu} | {peak:.0f}{met} |")
        rows += ["", "| Case | Ratio | by the clock | by CPU time | aim |", "|---|---|---|---|---|"]
        for case, contenders in self._took.items():
            for aim in aims:
                wall_ratio, cpu_ratio = (ratio(contenders, aim, clock=clock) for clock in (0, 1))
                what = f"{aim.contender} ÷ {' or '.join(aim.of)}"
                met = f"{aim.least:.2f} {_met(wall_ratio.middle >= aim.least)}"
                met += f", by CPU {_met(cpu_ratio.middle >= aim.least)}"
                both = f"{shown(wall_ratio, '.2f')} | {shown(cpu_ratio, '.2f')}"
                rows.append(f"| {case} | {what} | {both} | {met} |")
        return rows


def ratio(runs: Mapping[str, Sequence[Took]], aim: Aim, *, clock: int) -> Spread:
    """Of speeds: the quickest one's time in a round by the contender's in the same round."""
    quickest = [
        min(took[clock] for took in took_in_round)
        for took_in_round in zip(*(runs[name] for name in aim.of), strict=True)
    ]
    mine = [took[clock] for took in runs[aim.contender]]
    return spread([theirs / own for theirs, own in zip(quickest, mine, strict=True)])


def shown(figure: Spread, form: str) -> str:
    return f"{figure.middle:{form}} ({figure.low:{form}}–{figure.high:{form}})"


def _met(is_met: bool) -> str:
    return "met" if is_met else "MISSED"
