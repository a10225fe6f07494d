"""The command: python -m bench [suite …] [--rounds 11] [--lines 1000000] [--json]."""

import json
import sys
from argparse import ArgumentParser

from bench import report, rounds, suites


def main() -> None:
    parser = ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("suite", nargs="*", help=f"of: {', '.join(suites.names())}; all of them")
    parser.add_argument("--rounds", type=int, default=11, help="how often each is measured")
    parser.add_argument("--lines", type=int, help="of the month that imports and sums are over")
    parser.add_argument("--json", action="store_true", help="one JSON object and nothing else")
    given = parser.parse_args()
    unknown = set(given.suite) - set(suites.names())
    if unknown or given.rounds < 1:
        parser.error(f"no such suite: {', '.join(unknown)}" if unknown else "at least one round")

    found = []
    for name in given.suite or suites.names():
        suite = suites.suite_named(name)
        if given.lines and suite.of_lines:
            suite = suite.of_lines(given.lines)
        with suite.contenders() as contenders:
            lines = rounds.run(suite, contenders, rounds=given.rounds, progress=_say)
        if not given.json:
            print(report.as_table(suite, contenders, lines, rounds=given.rounds) + "\n")
        found.append(report.as_data(suite, lines, rounds=given.rounds))

    environment = report.environment()
    if given.json:
        print(json.dumps({"environment": environment, "suites": found}))
    else:
        print(", ".join(f"{name} {value}" for name, value in environment.items()))


def _say(sentence: str) -> None:
    """Progress, for whoever watches; never among the results."""
    print(sentence, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
