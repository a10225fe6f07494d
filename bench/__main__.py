"""Runs benchmark suites: python -m bench [suite …] [--rounds 11] [--lines 1000000] [--json]."""

import json
import sys
from argparse import ArgumentParser

from bench import report, suites
from bench.rounds import run_suite


def main() -> None:
    parser = ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("suite", nargs="*", help=f"{', '.join(suites.list_suites())}; default: all")
    parser.add_argument("--rounds", type=int, default=11, help="number of measurements per case")
    parser.add_argument("--lines", type=int, help="lines of the month that imports and sums use")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object and nothing else"
    )
    arguments = parser.parse_args()
    unknown = set(arguments.suite) - set(suites.list_suites())
    if unknown:
        parser.error(f"unknown suite: {', '.join(sorted(unknown))}")
    if arguments.rounds < 1:
        parser.error("--rounds must be at least 1")

    results = []
    for name in arguments.suite or suites.list_suites():
        suite = suites.load_suite(name)
        if arguments.lines and suite.with_lines:
            suite = suite.with_lines(arguments.lines)
        with suite.contenders() as contenders:
            lines = run_suite(
                suite, contenders, rounds=arguments.rounds, print_progress=_print_progress
            )
        if not arguments.json:
            print(report.format_table(suite, contenders, lines, rounds=arguments.rounds) + "\n")
        results.append(report.build_data(suite, lines, rounds=arguments.rounds))

    environment = report.describe_environment()
    if arguments.json:
        print(json.dumps({"environment": environment, "suites": results}))
    else:
        print(", ".join(f"{name} {value}" for name, value in environment.items()))


def _print_progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
