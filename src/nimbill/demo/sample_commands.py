"""Commands worth trying on the demo; each works when it is pasted, in this order."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from nimbill.demo.accounts import Accounts, DemoLogin
from nimbill.demo.chapters import password_of
from nimbill.demo.cost_files import INBOX, INVOICED
from nimbill.demo.fixtures import PEOPLE, PORTAL_LOGINS
from nimbill.demo.invoice_chapters import printed_folder
from nimbill.demo.stack_chapters import DEPLOYMENT
from nimbill.demo.story import AOZORA, MINATO
from nimbill.demo.story_months import CURRENT, LAST_CLOSED, OPEN

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
TOTALS = """grep -o '"billinggroup_name":"[^"]*"\\|"total":{"aws[^}]*}'"""
PARTS = """'"lines":.{[^}]*}\\|"support":{[^}]*}\\|"agency":{[^}]*}\\|"pre_tax":[^{[]*'"""
URL = """sed 's/.*"url":"\\([^"]*\\)".*/\\1/'"""
PROPOSED = """grep -o '"proposals":\\[{[^]]*]'"""
V3_SHOWN = """'^deprecation: .*\\|^sunset: .*\\|"stack_status":"[^"]*"\\|"nickname":"[^"]*"'"""
KANSAI = PEOPLE[1]
NAMES = """grep -o '"name":"[^"]*"'"""
CHANGES = """grep -o '"action":"[^"]*","resource":"[^"]*"'"""


class Command(NamedTuple):
    purpose: str
    line: str


def commands(
    address: str, folder: Path, accounts: Accounts, companies: Mapping[str, str]
) -> list[Command]:
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
        *_invoices(folder, aozora, companies),
        *_costs(folder, aozora),
        *_stacks(aozora),
        Command(
            "who changed what, newest first",
            f'curl -s $API/m/core/audit -H "$AUTH" | {CHANGES} | sed -n 1,12p',
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


def _what_else(aozora: DemoLogin) -> list[Command]:
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
            f"  -H 'Content-Type: application/json' -d '{{\"redo\": false}}' | {PATH}) |"
            " sed -n 1,3p",
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


def _invoices(folder: Path, aozora: DemoLogin, companies: Mapping[str, str]) -> list[Command]:
    """What was billed: listed, explained, on paper, as CSV, by project, and tied out."""
    first, both = companies["BG-0001"], companies["BG-0004"]
    invoices = f"$API/m/core/invoices/{OPEN}"
    paper, archive = (shlex.quote(str(folder / f"my-{OPEN}.{end}")) for end in ("pdf", "zip"))
    return [
        Command(
            f"the invoices of {OPEN}; without grep, with the settings they were made with",
            f'curl -s {invoices} -H "$AUTH" | {TOTALS} | sed -n 1,8p',
        ),
        Command(
            "one of them: its first line, its fees and its totals, each with its rule and working",
            f'curl -s {invoices}/{first}/aws -H "$AUTH" | grep -o {PARTS}',
        ),
        Command(
            "on paper: AWS and Azure under one cover, and all of the month as one zip",
            f'curl -s -o {paper} {invoices}/{both}/pdf -H "$AUTH"\n'
            f'curl -s -o {archive} {invoices}/zip -H "$AUTH"; ls -l {paper} {archive}',
        ),
        Command(
            "as CSV, by a link that is good for ten minutes; invoice_tag is by tag",
            f"curl -s $(curl -s -X POST $API/m/core/export/csv/invoice_account/{OPEN} \\\n"
            f'  -H "$AUTH" | {URL}) | sed -n 1,4p',
        ),
        Command(
            "what each project cost, brought and left over in that month",
            f'curl -s $API/m/core/project/{OPEN} -H "$AUTH"; echo',
        ),
        Command(
            "is all that the vendors charged accounted for, to the last digit?",
            f"{_command(folder)} tie-out {OPEN} --organisation {aozora.organisation_id}",
        ),
        Command(
            f"what AWS changed in {LAST_CLOSED} after it was closed, and what would bill it",
            f'curl -s $API/m/core/costs/imports -H "$AUTH" | {PROPOSED}',
        ),
    ]


def _costs(folder: Path, aozora: DemoLogin) -> list[Command]:
    """What the vendors charged: read, decided on, taken in once more, and given out."""
    invoiced, out = folder / INBOX / INVOICED[0].place, folder / f"focus-{OPEN}.parquet"
    organisation = f"--organisation {aozora.organisation_id}"
    return [
        Command(
            "what the vendors charged in a month, by service, to the last digit; also by account, "
            "day, line_type or tag:team",
            f'curl -s "$API/m/core/costs/{OPEN}?by=service" -H "$AUTH"; echo',
        ),
        Command(
            "how these costs came in, and whose account is in no billing group",
            f'curl -s $API/m/core/costs/imports -H "$AUTH" | {IMPORTS}\n'
            f'curl -s $API/m/core/costs/imports -H "$AUTH" | {STRAYS} | sort -u',
        ),
        Command(
            "the one-off charges that were applied to their customers' invoices, and whose "
            "reserved instances were moved to whom; without grep, all of them",
            f'curl -s "$API/m/core/billinggroup/recalculation/{OPEN}?vendor=aws" '
            f'-H "$AUTH" | \\\n  {APPLIED}\n'
            f'curl -s "$API/m/core/ri/purchased?vendor=aws" -H "$AUTH" | {MOVED}',
        ),
        Command(
            f"{CURRENT} is provisional; here it is again as AWS invoiced it, then its invoices, "
            "then their paper",
            f"{_command(folder)} import --vendor aws {organisation} \\\n"
            f"  {shlex.quote(str(invoiced))}\n"
            f"{_command(folder)} invoice create {CURRENT} --vendor aws {organisation}\n"
            f"{_command(folder)} invoice print {CURRENT} {organisation} \\\n"
            f"  --into {shlex.quote(str(printed_folder(folder, AOZORA).with_name(CURRENT)))}",
        ),
        Command(
            "a month as FOCUS 1.2, for other programs",
            f"{_command(folder)} export focus {OPEN} {organisation} \\\n"
            f"  --output {shlex.quote(str(out))}",
        ),
    ]


def _stacks(aozora: DemoLogin) -> list[Command]:
    """The deprecated version 3, for those who still script against it."""
    return [
        Command(
            "a deployment: its layers and their instances, which this machine only simulates",
            f'curl -s $API/m/core/v0/deployments/{DEPLOYMENT} -H "$AUTH"; echo',
        ),
        Command(
            "the same by version 3, and what every answer of it says of its end",
            "LEGACY=$(curl -s $API/v3/access_token -d grant_type=password \\\n"
            f"  {_client(aozora, '-d')} | {EXTRACT})\n"
            f'curl -si $API/v3/alm/stack -H "Authorization: Bearer $LEGACY" | grep -io {V3_SHOWN}',
        ),
    ]


def _token(variable: str, path: str, account: DemoLogin, username: str) -> str:
    password = password_of(account, username)
    return (
        f"{variable}=$(curl -s $API/{path} -d grant_type=password {_client(account, '-d')} \\\n"
        f"  -d username={username} -d password={password} | {EXTRACT})"
    )


def _client(account: DemoLogin, option: str) -> str:
    return f"{option} client_id={account.client_id} {option} client_secret={account.client_secret}"


def _command(folder: Path) -> str:
    return f"NIMBILL_DATA={shlex.quote(str(folder))} {_program()}"


def _program() -> str:
    """How the demo itself was started, so that it can be started so again from anywhere."""
    started_as = Path(sys.argv[0]).absolute()
    if started_as.name == "nimbill":
        return shlex.quote(str(started_as))
    return f"{shlex.quote(sys.executable)} -m nimbill"
