"""Measures suites and writes docs/performance.md and the table of the README.

python -m bench [SUITE …] [--rounds 5] [--minutes 2] [--lines 1000000] [--no-record]
python -m bench --page
"""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from bench import suites
from bench.machine import find_commit
from bench.page import format_table, list_missed_targets, write_pages
from bench.runner import (
    RunOptions,
    exit_on_termination,
    measure_suite,
    print_progress,
    run_in_own_process,
    summarize,
)
from bench.suite_records import SuiteRecord, keep_record, read_records


def main() -> int:
    """Return 1 if a suite failed. A missed target is printed and is no failure."""
    arguments = _parse_arguments()
    exit_on_termination()
    if arguments.page:
        write_pages(read_records())
        return 0
    options = RunOptions(arguments.rounds, arguments.lines, arguments.minutes)
    if arguments.result:
        record = measure_suite(arguments.suite[0], options, commit=arguments.commit)
        arguments.result.write_bytes(msgspec.json.encode(record))
        return 0
    return _run_all(arguments, options)


def _run_all(arguments: Namespace, options: RunOptions) -> int:
    names = arguments.suite or suites.list_suites()
    commit, measured, failures = find_commit(), [], []
    for number, name in enumerate(names, start=1):
        print_progress(f"suite {number} of {len(names)}: {name}")
        with TemporaryDirectory(prefix="nimbill-bench-") as folder:
            result = Path(folder) / "record.json"
            failure = run_in_own_process(name, options, commit=commit, result=result)
            if failure is not None:
                failures.append(f"- {name}: {failure}")
                print_progress(f"{name} FAILED: {failure}")
                continue
            record = msgspec.json.decode(result.read_bytes(), type=SuiteRecord)
        measured.append(record)
        print(f"{name}: {record.description}\n\n" + "\n".join(format_table(record)) + "\n")
        print("\n".join([*record.notes, ""]), flush=True)
        if not arguments.no_record:
            keep_record(record)
            write_pages(read_records())
    unmeasured = [f"{each.suite}: {failure}" for each in measured for failure in each.failures]
    if unmeasured:
        print("\n".join(["Not measured:", *unmeasured]))
    print("\n".join(["Missed targets:", *(list_missed_targets(measured) or ["none"])]))
    if failures:
        print(summarize(failures))
    return 1 if failures else 0


def _parse_arguments() -> Namespace:
    parser = ArgumentParser(
        "python -m bench", description=__doc__, formatter_class=RawDescriptionHelpFormatter
    )
    names = suites.list_suites()
    parser.add_argument("suite", nargs="*", help=f"{', '.join(names)}; default: all")
    parser.add_argument("--rounds", type=int, help="rounds per case, if there is time")
    parser.add_argument("--minutes", type=float, help="time for the rounds of each suite")
    parser.add_argument("--lines", type=int, help="lines of the largest month of a suite")
    parser.add_argument("--no-record", action="store_true", help="only print the results")
    parser.add_argument("--page", action="store_true", help="write the pages from the records")
    # of the process that measures one suite
    parser.add_argument("--result", type=Path, help="write the record of one suite to this file")
    parser.add_argument("--commit", default="", help="the commit that is measured")
    arguments = parser.parse_args()
    unknown = set(arguments.suite) - set(names)
    if unknown:
        parser.error(f"unknown suite: {', '.join(sorted(unknown))}")
    for option in ("rounds", "minutes", "lines"):
        value = getattr(arguments, option)
        if value is not None and value <= 0:
            parser.error(f"--{option} must be positive")
    if arguments.result and len(arguments.suite) != 1:
        parser.error("--result needs one suite")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
