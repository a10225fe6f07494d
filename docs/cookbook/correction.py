"""Correct the discount of one customer in a month that may be closed already."""

import argparse
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import msgspec

from nimbill_client import (
    BilledVendor,
    Client,
    InvoiceDocument,
    MonthlyInvoiceSetting,
    NimbillError,
)


def change_discount(
    client: Client, before: InvoiceDocument, vendor: BilledVendor, discount: Decimal, reason: str
) -> InvoiceDocument:
    """Create the invoice again with its own terms, apart from the discount."""
    terms = msgspec.structs.asdict(before.setting) | {"discount_rate": discount}
    setting = MonthlyInvoiceSetting(**terms, memo=reason)
    client.invoices.save_settings(before.month, {before.company_id: {vendor: setting}})
    client.invoices.create(before.month, vendor, [before.company_id])
    return client.invoices.read(before.month, before.company_id, vendor)


def correct(client: Client, given: argparse.Namespace) -> int:
    group = client.billing_groups.find(given.group_id)
    if group is None:
        print(f"There is no billing group {given.group_id}.")
        return 1
    before = client.invoices.read(given.month, group.company_id, given.vendor)
    closed = client.months.read(given.month, given.vendor).state == "closed"
    if closed:
        client.months.reopen(given.month, given.vendor, given.reason)
    after = change_discount(client, before, given.vendor, given.discount, given.reason)
    client.invoices.download_pdf(given.month, group.company_id, given.vendor, given.pdf)
    if closed:
        client.months.close(given.month, given.vendor)
    for document in (before, after):
        print(f"{document.invoice_no} revision {document.revision}: {document.sheet.total}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("month", help="such as 2026-09")
    parser.add_argument("vendor", help="aws, azure or another that the settings enable")
    parser.add_argument("group_id", help="your own id of the customer, such as BG-7")
    parser.add_argument("--discount", type=Decimal, required=True, help="such as 0.07")
    parser.add_argument("--reason", required=True, help="for the audit log and the invoice")
    parser.add_argument("--pdf", type=Path, default=Path("corrected.pdf"))
    given = parser.parse_args(arguments)

    with Client.from_environment() as client:
        try:
            exit_code = correct(client, given)
            status = client.months.read(given.month, given.vendor)
        except NimbillError as error:
            print(error)
            return 1
    # After an interruption the month may still be open; close it as at the end of a month.
    print(f"{status.month} {status.vendor} is {status.state}.")
    return exit_code


if __name__ == "__main__":
    raise SystemExit(main())
