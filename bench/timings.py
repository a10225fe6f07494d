"""Wall-clock time, CPU time and peak memory of runs in fresh processes, compared with targets."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from bench.conversions import RunTiming
from bench.rounds import Spread, compute_spread, format_spread

Clock = Literal["seconds", "cpu_seconds"]


class SpeedTarget(NamedTuple):
    """The minimum speed of a contender relative to the fastest of its competitors in each round."""

    contender: str
    competitors: Sequence[str]
    minimum: float


class TimingLog:
    """All runs by case and contender, in the order of the rounds."""

    def __init__(self) -> None:
        self._timings: defaultdict[str, defaultdict[str, list[RunTiming]]]
        self._timings = defaultdict(lambda: defaultdict(list))

    def add(self, case: str, contender: str, timing: RunTiming) -> None:
        self._timings[case][contender].append(timing)

    def find_peaks(self) -> dict[str, dict[str, float]]:
        """The highest memory in MiB by contender and case."""
        peaks: defaultdict[str, dict[str, float]] = defaultdict(dict)
        for case, contenders in self._timings.items():
            for name, timings in contenders.items():
                peaks[name][case] = max(run.peak_mib for run in timings)
        return dict(peaks)

    def format_tables(
        self, targets: Sequence[SpeedTarget], memory_targets: Mapping[str, float]
    ) -> list[str]:
        """Markdown tables of the timings and of the ratios with their targets."""
        ratios = ["", *self._format_ratios(targets)] if targets else []
        return [*self._format_timings(memory_targets), *ratios]

    def _format_timings(self, memory_targets: Mapping[str, float]) -> list[str]:
        rows = ["| Case | Contender | seconds | CPU seconds | peak MiB |", "|---|---|---|---|---|"]
        for case, contenders in self._timings.items():
            for name, timings in contenders.items():
                wall = format_spread(compute_spread([run.seconds for run in timings]), ".1f")
                cpu = format_spread(compute_spread([run.cpu_seconds for run in timings]), ".1f")
                peak = max(run.peak_mib for run in timings)
                limit = memory_targets.get(name)
                result = "" if limit is None else f", {limit:.0f} {_met(peak <= limit)}"
                rows.append(f"| {case} | {name} | {wall} | {cpu} | {peak:.0f}{result} |")
        return rows

    def _format_ratios(self, targets: Sequence[SpeedTarget]) -> list[str]:
        rows = ["| Case | Ratio | wall clock | CPU time | target |", "|---|---|---|---|---|"]
        for case, contenders in self._timings.items():
            for target in targets:
                wall = compute_ratio(contenders, target, clock="seconds")
                cpu = compute_ratio(contenders, target, clock="cpu_seconds")
                name = f"{target.contender} ÷ {' or '.join(target.competitors)}"
                ratios = f"{format_spread(wall, '.2f')} | {format_spread(cpu, '.2f')}"
                result = f"{target.minimum:.2f} {_met(wall.median >= target.minimum)}"
                result += f", CPU time {_met(cpu.median >= target.minimum)}"
                rows.append(f"| {case} | {name} | {ratios} | {result} |")
        return rows


def compute_ratio(
    timings: Mapping[str, Sequence[RunTiming]], target: SpeedTarget, *, clock: Clock
) -> Spread:
    """Divide the time of the fastest competitor by the contender's time, within each round."""
    fastest = [
        min(getattr(timing, clock) for timing in round_timings)
        for round_timings in zip(*(timings[name] for name in target.competitors), strict=True)
    ]
    own = [getattr(timing, clock) for timing in timings[target.contender]]
    return compute_spread(
        [other_time / own_time for other_time, own_time in zip(fastest, own, strict=True)]
    )


def _met(is_met: bool) -> str:
    return "met" if is_met else "MISSED"
