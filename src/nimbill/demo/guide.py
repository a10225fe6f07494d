"""The text that the demo prints: the address, the logins, and where to find more."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from nimbill.demo.fixtures import FULL_PORTAL, PORTAL_LOGINS
from nimbill.demo.invoice_steps import pdf_folder
from nimbill.demo.logins import DemoLogin, DemoLogins, derive_password
from nimbill.demo.monthly_data import (
    CURRENT_MONTH,
    CURRENT_MONTH_DAYS,
    LAST_CLOSED_MONTH,
    OPEN_MONTH,
)
from nimbill.demo.resellers import AOZORA
from nimbill.demo.sample_commands import RESTRICTED_SUBUSER, sample_commands

TOUR = "api-tour.sh"


class SeededMonths(NamedTuple):
    first: str
    unfinished: bool  # whether earlier months are still being created


def format_guide(address: str, folder: Path, logins: DemoLogins, months: SeededMonths) -> str:
    return "\n".join(
        [
            f"\nNimbill is running. Open {address} in a browser.\n",
            *_months(months),
            *_logins(logins[AOZORA.english_name]),
            *_addresses(address, folder),
            f"\nPress Ctrl-C to stop. The data stays in {folder}.",
            "Remove that folder to start again.\n",
        ]
    )


def write_tour(
    address: str, folder: Path, logins: DemoLogins, companies: Mapping[str, str]
) -> None:
    """Write the commands of docs/api-tour.md with the secrets of this demo; others cannot read."""
    commands = sample_commands(address, folder, logins, companies)
    text = "\n".join(f"# {command.purpose}\n{command.line}\n" for command in commands)
    descriptor = os.open(folder / TOUR, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as out:
        out.write(text)


def _months(months: SeededMonths) -> Iterator[str]:
    yield f"{AOZORA.name} ({AOZORA.english_name}) bills {len(AOZORA.customers)} companies for"
    yield "AWS costs in dollars and Azure costs in yen."
    yield f"{LAST_CLOSED_MONTH} is invoiced and closed, {OPEN_MONTH} is invoiced and open, and"
    yield f"{CURRENT_MONTH} has the costs of {CURRENT_MONTH_DAYS} days and no invoices yet."
    yield _earlier_months(months)


def _logins(login: DemoLogin) -> Iterator[str]:
    """The first API client is for scripts."""
    clerk, customer = RESTRICTED_SUBUSER.username, PORTAL_LOGINS[FULL_PORTAL]
    yield "\nSign in as the operator, who may do everything; the same at every start:\n"
    yield from _fields(
        organisation_id=login.organisation_id, username=login.username, password=login.password
    )
    yield f"\nOr as a clerk, who sees {len(RESTRICTED_SUBUSER.billing_groups)} customers:\n"
    yield from _fields(username=clerk, password=derive_password(login, clerk))
    yield "\nA customer, who sees its own costs and invoices in the portal:\n"
    yield from _fields(username=customer, password=derive_password(login, customer))
    yield "\nThe first API client, for scripts:\n"
    yield from _fields(client_id=login.client_id, client_secret=login.client_secret)


def _fields(**fields: str) -> Iterator[str]:
    for name, value in fields.items():
        yield f"  {name:15}  {value}"


def _addresses(address: str, folder: Path) -> Iterator[str]:
    pdf_files = pdf_folder(folder, AOZORA)
    count = len(list(pdf_files.glob("*.pdf")))
    yield "\nMore to look at:\n"
    yield f"  portal    {address}/portal (for the customer above)"
    yield f"  API page  {address}/docs (Authorize accepts a token)"
    yield f"  API tour  {folder / TOUR} (commands to paste, see docs/api-tour.md)"
    yield f"  health    {address}/healthz, {address}/readyz"
    yield f"  metrics   {address}/metrics"
    yield f"  log       {folder / 'demo.log'}"
    yield f"  invoices  {pdf_files} ({count} PDF files)"
    yield f"  mails     {folder / 'outbox'} (sent invoices as .eml files)"
    yield f"  approval  {address}/console/approvals (the operator can decide about a credit note)"


def _earlier_months(months: SeededMonths) -> str:
    if months.first == LAST_CLOSED_MONTH:
        return "Earlier months are not included."
    if months.unfinished:
        return (
            f"The months since {months.first} are being imported, invoiced and closed;\n"
            "a line below reports when they are complete."
        )
    return f"The months since {months.first} are invoiced and closed too."
