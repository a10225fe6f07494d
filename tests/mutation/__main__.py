"""Mutation testing of a seeded sample: python -m tests.mutation [--sample 300] [--seed N]"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random

from tests.mutation.areas import AREAS, Area
from tests.mutation.mutants import Mutant, list_mutants
from tests.mutation.run_mutants import MutantResult, run_mutants

ROOT = Path(__file__).parents[2]
EXPLAINED = Path(__file__).with_name("explained_survivors.txt")
SAMPLE = 300
SEED = 20_261_116
NOTICED_SHARE_MIN = 0.95


def main() -> int:
    """Return 0 if enough mutants were noticed and every other one is explained."""
    arguments = _parse_arguments()
    mutants = choose_mutants(arguments.sample, arguments.seed, arguments.area)
    results = []
    for result in run_mutants(mutants, arguments.processes):
        results.append(result)
        outcome = f"noticed by {result.noticed_by}" if result.noticed_by else "SURVIVED"
        print(f"{len(results)}/{len(mutants)} {result.mutant}: {outcome}", flush=True)
    report, code = format_report(results, read_explained(EXPLAINED.read_text()))
    print(f"\nSeed {arguments.seed}.\n{report}")
    return code


def choose_mutants(sample: int, seed: int, area: str | None = None) -> list[tuple[Area, Mutant]]:
    """The same number from each area, as far as it has so many; the seed decides which."""
    areas = [each for each in AREAS if area in (None, each.name)]
    random = Random(seed)  # not for secrets
    chosen: list[tuple[Area, Mutant]] = []
    for number, each in enumerate(sorted(areas, key=lambda each: len(_all_mutants(each)))):
        share = (sample - len(chosen)) // (len(areas) - number)
        mutants = _all_mutants(each)
        in_random_order = random.sample(mutants, len(mutants))
        compiling = (mutant for mutant in in_random_order if mutant.compiles())
        chosen += [(each, mutant) for mutant in islice(compiling, share)]
    random.shuffle(chosen)
    return chosen


@cache
def _all_mutants(area: Area) -> list[Mutant]:
    return [mutant for file in area.list_files(ROOT) for mutant in list_mutants(ROOT, file)]


def read_explained(text: str) -> dict[tuple[str, str], str]:
    """Reasons by file and description; a line number would change with every edit."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    parts = [line.split(": ", 2) for line in lines]
    return {(file, description): reason for file, description, reason in parts}


def format_report(
    results: Sequence[MutantResult], explained: dict[tuple[str, str], str]
) -> tuple[str, int]:
    survivors = [result.mutant for result in results if result.noticed_by is None]
    unexplained = [
        mutant for mutant in survivors if (str(mutant.file), mutant.description) not in explained
    ]
    noticed = len(results) - len(survivors)
    share = noticed / len(results) if results else 0
    lines = [f"{noticed} of {len(results)} mutants were noticed: {share:.1%}."]
    for mutant in survivors:
        reason = explained.get((str(mutant.file), mutant.description), "NOT EXPLAINED")
        lines.append(f"survived: {mutant}: {reason}")
    return "\n".join(lines), int(share < NOTICED_SHARE_MIN or bool(unexplained))


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("tests.mutation", description=__doc__)
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--area", choices=[area.name for area in AREAS], help="default: all")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
