"""Invoice a month: terms, exchange rate, invoices, tie-out, files; then close it."""

import argparse
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from nimbill_client import BilledVendor, Client, MonthStatus, NimbillError


def create_invoices(client: Client, month: str, vendor: BilledVendor, rate: Decimal) -> None:
    """Everything here can be repeated: an invoice that is created again gets a new revision."""
    groups = [
        group.company_id
        for group in client.billing_groups.list_all()
        if any(account.vendor == vendor for account in group.account)
    ]
    client.invoices.save_default_settings(month)
    client.invoices.save_exchange_rate(month, vendor, groups, rate)
    result = client.invoices.create(month, vendor)
    print(f"Created {len(result.created)} invoices.")
    for skipped in result.skipped:
        print(f"  {skipped.company_id} has none: {skipped.reason}")
    for warning in result.warnings:
        print(f"  {warning.invoice_no}: {warning.detail}")


def write_files(client: Client, month: str, vendor: BilledVendor, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    client.invoices.download_zip(month, folder / f"{month}-{vendor}.zip", vendor)
    client.invoices.export_accounts_csv(month, folder / f"{month}-accounts.csv")


def list_blockers(status: MonthStatus) -> Iterator[str]:
    for step in status.steps:
        for blocker in step.blockers:
            yield f"  {step.step}: {blocker.reason} {', '.join(blocker.subjects)}"


def invoice_month(client: Client, given: argparse.Namespace) -> None:
    create_invoices(client, given.month, given.vendor, given.rate)
    write_files(client, given.month, given.vendor, given.folder)
    tie_out = client.months.tie_out(given.month, given.vendor)
    print(f"Tie-out: {tie_out.state}, {len(tie_out.differences)} differences.")
    if given.close:
        client.months.close(given.month, given.vendor)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("month", help="such as 2026-09")
    parser.add_argument("vendor", help="aws, azure or another that the settings enable")
    parser.add_argument("--rate", type=Decimal, required=True, help="yen for one dollar")
    parser.add_argument("--folder", type=Path, default=Path(), help="for the files")
    parser.add_argument("--close", action="store_true", help="close it, if nothing is missing")
    given = parser.parse_args(arguments)

    with Client.from_environment() as client:
        try:
            invoice_month(client, given)
        except NimbillError as error:
            print(error)
        status = client.months.read(given.month, given.vendor)
    print(f"{status.month} {status.vendor} is {status.state}.")
    print("\n".join(list_blockers(status)))
    return 0 if status.state == "closed" or (status.can_be_closed and not given.close) else 1


if __name__ == "__main__":
    raise SystemExit(main())
