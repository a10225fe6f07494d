"""Import cost files every night, and report what somebody has to look at."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from nimbill_client import Client, ImportRecord, NimbillError


def list_findings(record: ImportRecord) -> list[str]:
    """What keeps the costs from counting, or from being invoiced."""
    findings = []
    if record.problem is not None:
        findings.append(f"{record.problem.file or 'The delivery'}: {record.problem.detail}")
    if record.state == "parked":
        findings.append(f"Parked ({record.parked_reason}). Compare it, then release it.")
    if record.state == "drift":
        findings.append(f"The month {record.month} is closed; {len(record.proposals)} corrections.")
    if record.accounts_in_no_group:
        findings.append(f"In no billing group: {', '.join(record.accounts_in_no_group)}")
    return findings


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vendor", help="aws, azure or another that the settings enable")
    parser.add_argument("files", nargs="*", type=Path, help="cost files to upload")
    parser.add_argument("--source", help="a folder or bucket that the service reads instead")
    given = parser.parse_args(arguments)
    if bool(given.files) == bool(given.source):
        parser.error("name either files or a --source")

    with Client.from_environment() as client:
        try:
            if given.source:
                started = client.imports.start(given.vendor, given.source)
            else:
                started = client.imports.upload(given.vendor, given.files)
            record = client.imports.wait(started.import_id, seconds_max=3600)
        except NimbillError as error:
            print(error)
            return 1

    findings = list_findings(record)
    print(f"{record.import_id}: {record.state}, {record.lines} lines of {record.month}")
    print("\n".join(findings))
    # Any other exit code than 0 makes cron send a mail, or a pipeline fail.
    return 0 if record.counts and not findings else 1


if __name__ == "__main__":
    raise SystemExit(main())
