"""What the demo prints: where to look, how to log in, and commands that work when pasted."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from nimbill.demo.accounts import Accounts
from nimbill.demo.invoice_chapters import printed_folder
from nimbill.demo.sample_commands import commands
from nimbill.demo.story import AOZORA
from nimbill.demo.story_months import CURRENT, LAST_CLOSED, OPEN


class Told(NamedTuple):
    """From which month on the story is told, and whether some of it still is."""

    first: str
    in_part: bool


def guide(
    address: str, folder: Path, accounts: Accounts, companies: Mapping[str, str], told: Told
) -> str:
    """The whole page."""
    return "\n".join(_lines(address, folder, accounts, companies, told))


def _lines(
    address: str, folder: Path, accounts: Accounts, companies: Mapping[str, str], told: Told
) -> Iterator[str]:
    account = accounts[AOZORA.english_name]
    papers = printed_folder(folder, AOZORA)
    yield f"\nNimbill answers at {address}\n"
    yield f"  API page  {address}/docs (Authorize takes a token, see below)"
    yield f"  health    {address}/healthz, {address}/readyz"
    yield f"  figures   {address}/metrics"
    yield f"  log       {folder / 'demo.log'}"
    yield f"  invoices  {papers}, {len(list(papers.glob('*.pdf')))} printed ones\n"
    yield f"{AOZORA.name} ({AOZORA.english_name}) bills {len(AOZORA.customers)} companies"
    yield f"for what AWS charges in dollars and Azure in yen. {LAST_CLOSED} is invoiced and closed,"
    yield f"{OPEN} is invoiced and open, {CURRENT} is not over. {_before(told)}"
    yield "Its root user and first API client, the same at every start:\n"
    for name in ("organisation_id", "username", "password", "client_id", "client_secret"):
        yield f"  {name:15}  {getattr(account, name)}"
    yield "\nTo try, pasted into another terminal:"
    for command in commands(address, folder, accounts, companies):
        yield f"\n# {command.purpose}\n{command.line}"
    yield f"\nCtrl-C stops it. The data stays in {folder}; remove that folder to start afresh.\n"


def _before(told: Told) -> str:
    if told.first == LAST_CLOSED:
        return "The months before are left out."
    if told.in_part:
        return (
            f"The months from {told.first} on\nare taken in, invoiced and closed meanwhile; a line "
            "below says when they are there."
        )
    return f"The months from {told.first} on\nare invoiced and closed too."
