"""The text that the demo prints: addresses, login, and commands to paste."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from nimbill.demo.fixtures import FULL_PORTAL, PORTAL_LOGINS
from nimbill.demo.invoice_steps import pdf_folder
from nimbill.demo.logins import DemoLogins
from nimbill.demo.monthly_data import CURRENT_MONTH, LAST_CLOSED_MONTH, OPEN_MONTH
from nimbill.demo.resellers import AOZORA
from nimbill.demo.sample_commands import sample_commands
from nimbill.demo.seed_steps import derive_password


class SeededMonths(NamedTuple):
    first: str
    unfinished: bool  # whether earlier months are still being created


def format_guide(
    address: str,
    folder: Path,
    logins: DemoLogins,
    companies: Mapping[str, str],
    months: SeededMonths,
) -> str:
    return "\n".join(
        [
            *_addresses(address, folder),
            *_login(logins, months),
            "\nTo try, paste into another terminal:",
            *(
                f"\n# {command.purpose}\n{command.line}"
                for command in sample_commands(address, folder, logins, companies)
            ),
            f"\nPress Ctrl-C to stop. The data stays in {folder}.",
            "Remove that folder to start again.\n",
        ]
    )


def _addresses(address: str, folder: Path) -> Iterator[str]:
    pdf_files = pdf_folder(folder, AOZORA)
    count = len(list(pdf_files.glob("*.pdf")))
    yield f"\nNimbill is running at {address}\n"
    yield f"  API page  {address}/docs (Authorize accepts a token, see below)"
    yield f"  health    {address}/healthz, {address}/readyz"
    yield f"  metrics   {address}/metrics"
    yield f"  log       {folder / 'demo.log'}"
    yield f"  invoices  {pdf_files} ({count} PDF files)\n"


def _login(logins: DemoLogins, months: SeededMonths) -> Iterator[str]:
    login = logins[AOZORA.english_name]
    yield f"{AOZORA.name} ({AOZORA.english_name}) bills {len(AOZORA.customers)} companies for"
    yield "AWS costs in dollars and Azure costs in yen."
    yield f"{LAST_CLOSED_MONTH} is invoiced and closed, {OPEN_MONTH} is invoiced and open,"
    yield f"{CURRENT_MONTH} is not over. {_earlier_months(months)}"
    yield "\nThe root user and first API client, the same at every start:\n"
    for name in ("organisation_id", "username", "password", "client_id", "client_secret"):
        yield f"  {name:15}  {getattr(login, name)}"
    email = PORTAL_LOGINS[FULL_PORTAL]
    yield "\nA customer, who sees its own costs and invoices in the portal:\n"
    yield f"  {'username':15}  {email}"
    yield f"  {'password':15}  {derive_password(login, email)}"


def _earlier_months(months: SeededMonths) -> str:
    if months.first == LAST_CLOSED_MONTH:
        return "Earlier months are not included."
    if months.unfinished:
        return (
            f"The months since {months.first} are being\nimported, invoiced and closed; a line "
            "below reports when they are complete."
        )
    return f"The months since {months.first} are\ninvoiced and closed too."
