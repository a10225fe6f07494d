"""What a run of mutants prints at its end, and whether it counts as passed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tests.mutation.mutants import Key
from tests.mutation.run_mutants import MutantResult

NOTICED_SHARE_MIN = 0.95


def read_explained(text: str) -> dict[Key, str]:
    """Reasons by file, line and description; line numbers would change with every edit."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    parts = [[part.strip() for part in line.split(" | ")] for line in lines]
    return {(file, line, description): reason for file, line, description, reason in parts}


def format_report(results: Sequence[MutantResult], explained: Mapping[Key, str]) -> tuple[str, int]:
    """The text and the exit code: 0 if enough mutants were noticed and the others are explained."""
    survivors = [result for result in results if result.noticed_by is None]
    unexplained = [each for each in survivors if each.mutant.key not in explained]
    lines = [*_format_shares(results), *(_format_survivor(each, explained) for each in survivors)]
    return "\n".join(lines), int(_share(results) < NOTICED_SHARE_MIN or bool(unexplained))


def _format_shares(results: Sequence[MutantResult]) -> Iterator[str]:
    yield f"{_count(results)} of {len(results)} mutants were noticed: {_share(results):.1%}."
    for area in sorted({result.area.name for result in results}):
        own = [result for result in results if result.area.name == area]
        yield f"  {area}: {_count(own)} of {len(own)}, {_share(own):.1%}"


def _format_survivor(result: MutantResult, explained: Mapping[Key, str]) -> str:
    reason = explained.get(result.mutant.key, "NOT EXPLAINED")
    return f"survived {describe_tests(result)}: {result.mutant}: {reason}"


def describe_tests(result: MutantResult) -> str:
    tests = result.tests
    number = len(tests.first) + len(tests.more)
    if number == 0:
        return "(no test executes it)"
    left_out = f", {tests.left_out} more execute it" if tests.left_out else ""
    return f"({number} tests{left_out})"


def _count(results: Sequence[MutantResult]) -> int:
    return sum(result.noticed_by is not None for result in results)


def _share(results: Sequence[MutantResult]) -> float:
    return _count(results) / len(results) if results else 0
