"""What the demo prints: where to look, how to log in, and commands that work when pasted."""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from nimbill.demo.accounts import Account, Accounts
from nimbill.demo.chapters import password_of
from nimbill.demo.cost_files import FINAL_MONTH, INBOX, INVOICED, PROVISIONAL_MONTH
from nimbill.demo.estate import PEOPLE, PORTAL_LOGINS
from nimbill.demo.story import AOZORA, MINATO

SOUND = (
    '{"billinggroup_id": "BG-0100", "billinggroup_name": "まつかぜ茶舗", '
    '"company_name": "株式会社まつかぜ茶舗", "inv_aggregate": true}'
)
UNSOUND = (
    '{"billinggroup_id": "", "billinggroup_name": "まつかぜ茶舗", "inv_aggregate": "yes", '
    '"language": "fr", "invoices": {"acme": {}}}'
)
EXTRACT = """sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/'"""
PATH = """sed 's/.*"path":"\\([^"]*\\)".*/\\1/'"""
IDS = """grep -o '"billinggroup_id":"[^"]*"'"""
ACCOUNTS = """grep -o '"customer_id":"[^"]*","customer_name":"[^"]*"'"""
IMPORTS = """grep -o '"sources":[^]]*],"state":"[^"]*"'"""
STRAYS = """grep -o '"accounts_in_no_group":[^]]*]'"""
APPLIED = """grep -o '"calc_type":[^}]*"apply":true'"""
MOVED = """grep -o '"customer_name":"[^"]*","dest_customer_id":"[0-9][^"]*"'"""
KANSAI = PEOPLE[1]
NAMES = """grep -o '"name":"[^"]*"'"""
CHANGES = """grep -o '"action":"[^"]*","resource":"[^"]*"'"""


class Command(NamedTuple):
    purpose: str
    line: str


def guide(address: str, folder: Path, accounts: Accounts) -> str:
    """The whole page."""
    return "\n".join(_lines(address, folder, accounts))


def _lines(address: str, folder: Path, accounts: Accounts) -> Iterator[str]:
    account = accounts[AOZORA.english_name]
    yield f"\nNimbill answers at {address}\n"
    yield f"  API page  {address}/docs (Authorize takes a token, see below)"
    yield f"  health    {address}/healthz, {address}/readyz"
    yield f"  figures   {address}/metrics"
    yield f"  log       {folder / 'demo.log'}\n"
    yield f"{AOZORA.name} ({AOZORA.english_name}) bills {len(AOZORA.customers)} companies."
    yield "Its root user and first API client, the same at every start:\n"
    for name in ("organisation_id", "username", "password", "client_id", "client_secret"):
        yield f"  {name:15}  {getattr(account, name)}"
    yield "\nTo try, pasted into another terminal:"
    for command in commands(address, folder, accounts):
        yield f"\n# {command.purpose}\n{command.line}"
    yield f"\nCtrl-C stops it. The data stays in {folder}; remove that folder to start afresh.\n"


def commands(address: str, folder: Path, accounts: Accounts) -> list[Command]:
    """Lines for a shell; the first two set what the others use."""
    aozora, minato = accounts[AOZORA.english_name], accounts[MINATO.english_name]
    post = """curl -s $API/m/core/billinggroup -H "$AUTH" -H 'Content-Type: application/json'"""
    return [
        Command(
            "a token, good for a day",
            f"API={address}\n"
            "TOKEN=$(curl -s $API/core/access_token -d grant_type=client_credentials \\\n"
            f"  {_client(aozora, '-d')} | {EXTRACT})\n"
            'AUTH="Authorization: Bearer $TOKEN"',
        ),
        Command(
            "the companies it bills; without grep, everything about them",
            f'curl -s $API/m/core/billinggroup -H "$AUTH" | {NAMES}',
        ),
        Command(
            "one more; sent again with the same key, it is still one",
            f"{post} -H 'Idempotency-Key: my-first-group' \\\n  -d {shlex.quote(SOUND)}; echo",
        ),
        Command(
            "a request that breaks several rules: all of them are named",
            f"{post} \\\n  -d {shlex.quote(UNSOUND)}; echo",
        ),
        *_what_else(aozora),
        *_costs(folder, aozora),
        Command(
            "who changed what, newest first",
            f'curl -s $API/m/core/audit -H "$AUTH" | {CHANGES}',
        ),
        Command(
            "is that record untouched?",
            f"{_command(folder)} audit verify \\\n  --organisation {aozora.organisation_id}",
        ),
        Command(
            f"another reseller, {MINATO.name}, by password: it sees its own companies alone",
            "OTHER=$(curl -s $API/core/access_token -F grant_type=password \\\n"
            f"  {_client(minato, '-F')} \\\n"
            f"  -F username={minato.username} -F password={minato.password} | {EXTRACT})\n"
            f'curl -s $API/m/core/billinggroup -H "Authorization: Bearer $OTHER" | {NAMES}',
        ),
    ]


def _what_else(aozora: Account) -> list[Command]:
    """What the story adds to the companies."""
    return [
        Command(
            "their accounts at the vendors, and the projects they belong to",
            f'curl -s "$API/m/core/accts?vendor=aws&limit=4" -H "$AUTH" | {ACCOUNTS}\n'
            f'curl -s $API/m/core/project -H "$AUTH"; echo',
        ),
        Command(
            "billing groups as CSV, by a link that is good for ten minutes",
            'curl -s $(curl -s $API/m/core/exportcsv/billing-group -H "$AUTH" \\\n'
            f"  -H 'Content-Type: application/json' -d '{{\"redo\": false}}' | {PATH}) | head -n 3",
        ),
        Command(
            f"a subuser, {KANSAI.username}, who may read {len(KANSAI.billing_groups)} companies "
            "and nothing else",
            f"{_token('SUBUSER', 'core/access_token', aozora, KANSAI.username)}\n"
            'curl -s $API/m/core/billinggroup -H "Authorization: Bearer $SUBUSER" | '
            f"{IDS}\n"
            'curl -s $API/m/core/audit -H "Authorization: Bearer $SUBUSER"; echo',
        ),
        Command(
            "a customer, at the portal: its company and what it is shown",
            f"{_token('CUSTOMER', 'access_token', aozora, PORTAL_LOGINS['BG-0001'])}\n"
            'curl -s $API/m/portal/me -H "Authorization: Bearer $CUSTOMER"; echo',
        ),
    ]


def _costs(folder: Path, aozora: Account) -> list[Command]:
    """What the vendors charged: read, decided on, taken in once more, and given out."""
    invoiced, out = folder / INBOX / INVOICED.place, folder / f"focus-{FINAL_MONTH}.parquet"
    organisation = f"--organisation {aozora.organisation_id}"
    return [
        Command(
            "what the vendors charged in a month, by service, to the last digit; also by account, "
            "day, line_type or tag:team",
            f'curl -s "$API/m/core/costs/{FINAL_MONTH}?by=service" -H "$AUTH"; echo',
        ),
        Command(
            "how these costs came in, and whose account is in no billing group",
            f'curl -s $API/m/core/costs/imports -H "$AUTH" | {IMPORTS}\n'
            f'curl -s $API/m/core/costs/imports -H "$AUTH" | {STRAYS} | sort -u',
        ),
        Command(
            "the one-off charge that was applied to its customer's invoice, and whose reserved "
            "instance was moved to whom; without grep, all of them",
            f'curl -s "$API/m/core/billinggroup/recalculation/{FINAL_MONTH}?vendor=aws" '
            f'-H "$AUTH" | \\\n  {APPLIED}\n'
            f'curl -s "$API/m/core/ri/purchased?vendor=aws" -H "$AUTH" | {MOVED}',
        ),
        Command(
            f"{PROVISIONAL_MONTH} is provisional; here it is again as the vendor invoiced it",
            f"{_command(folder)} import --vendor aws {organisation} \\\n"
            f"  {shlex.quote(str(invoiced))}",
        ),
        Command(
            "a month as FOCUS 1.2, for other programs",
            f"{_command(folder)} export focus {FINAL_MONTH} {organisation} \\\n"
            f"  --output {shlex.quote(str(out))}",
        ),
    ]


def _token(variable: str, path: str, account: Account, username: str) -> str:
    password = password_of(account, username)
    return (
        f"{variable}=$(curl -s $API/{path} -d grant_type=password {_client(account, '-d')} \\\n"
        f"  -d username={username} -d password={password} | {EXTRACT})"
    )


def _client(account: Account, option: str) -> str:
    return f"{option} client_id={account.client_id} {option} client_secret={account.client_secret}"


def _command(folder: Path) -> str:
    return f"NIMBILL_DATA={shlex.quote(str(folder))} {_program()}"


def _program() -> str:
    """How the demo itself was started, so that it can be started so again from anywhere."""
    started_as = Path(sys.argv[0]).absolute()
    if started_as.name == "nimbill":
        return shlex.quote(str(started_as))
    return f"{shlex.quote(sys.executable)} -m nimbill"
