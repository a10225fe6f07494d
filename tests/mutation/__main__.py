"""Mutation testing of a seeded sample: python -m tests.mutation [--sample 300] [--seed N]"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.fault_injection.replacements import ROOT
from tests.mutation.areas import AREAS, RECORDED_TESTS, Area
from tests.mutation.choose_tests import choose_tests
from tests.mutation.mutants import Mutant
from tests.mutation.record import record_executed_lines
from tests.mutation.report import describe_tests, format_report, read_explained
from tests.mutation.run_mutants import MutantResult, run_mutants
from tests.mutation.sample import choose_mutants
from tests.mutation.tests_of_lines import TestIndex

EXPLAINED = Path(__file__).with_name("explained_survivors.txt")
SAMPLE = 300
SEED = 20_261_116


def main() -> int:
    """Return 0 if enough mutants were noticed and every other one is explained."""
    arguments = _parse_arguments()
    mutants = [
        (area, mutant)
        for area, mutant in choose_mutants(arguments.sample, arguments.seed)
        if arguments.area in (None, area.name) and arguments.only in str(mutant)
    ]
    record = record_executed_lines(
        RECORDED_TESTS, anew=arguments.record, processes=arguments.processes
    )
    results = run_sample(mutants, TestIndex(ROOT, record), arguments.processes)
    report, code = format_report(results, read_explained(EXPLAINED.read_text()))
    print(f"\nSeed {arguments.seed}.\n{report}")
    return code


def run_sample(
    mutants: Sequence[tuple[Area, Mutant]], index: TestIndex, processes: int
) -> list[MutantResult]:
    work = [(area, each, choose_tests(ROOT, area, each, index)) for area, each in mutants]
    results = []
    for result in run_mutants(work, processes):
        results.append(result)
        survived = f"SURVIVED {describe_tests(result)}"
        outcome = f"noticed by {result.noticed_by}" if result.noticed_by else survived
        print(f"{len(results)}/{len(mutants)} {result.mutant}: {outcome}", flush=True)
    return results


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("tests.mutation", description=__doc__)
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--area", choices=[area.name for area in AREAS], help="a part of the sample"
    )
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="mutants that are printed with it"
    )
    parser.add_argument("--record", action="store_true", help="record the executed lines anew")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
