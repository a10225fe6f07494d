"""The shell commands of the API tour. They work when pasted in this order."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from nimbill.demo.cost_deliveries import INVOICED_DELIVERIES, inbox_of
from nimbill.demo.fixtures import FULL_PORTAL, PORTAL_LOGINS, SUBUSERS
from nimbill.demo.invoice_steps import pdf_folder
from nimbill.demo.logins import DemoLogin, DemoLogins, derive_password
from nimbill.demo.monthly_data import CURRENT_MONTH, LAST_CLOSED_MONTH, MONTHS, OPEN_MONTH
from nimbill.demo.resellers import AOZORA, MINATO
from nimbill.demo.shell_commands import EXTRACT_ACCESS, SampleCommand, client_options
from nimbill.demo.stack_steps import stack_commands  # version 3

VALID_GROUP = (
    '{"billinggroup_id": "BG-0100", "billinggroup_name": "まつかぜ茶舗", '
    '"company_name": "株式会社まつかぜ茶舗", "inv_aggregate": true}'
)
INVALID_GROUP = (
    '{"billinggroup_id": "", "billinggroup_name": "まつかぜ茶舗", "inv_aggregate": "yes", '
    '"language": "fr", "invoices": {"acme": {}}}'
)
EXTRACT_PATH = """sed 's/.*"path":"\\([^"]*\\)".*/\\1/'"""
GROUP_IDS = """grep -o '"billinggroup_id":"[^"]*"'"""
ACCOUNTS = """grep -o '"customer_id":"[^"]*","customer_name":"[^"]*"'"""
IMPORTS = """grep -o '"sources":[^]]*],"state":"[^"]*"'"""
UNASSIGNED_ACCOUNTS = """grep -o '"accounts_in_no_group":[^]]*]'"""
APPLIED_ENTRIES = """grep -o '"calc_type":[^}]*"apply":true'"""
MOVED_RESERVATIONS = """grep -o '"customer_name":"[^"]*","dest_customer_id":"[0-9][^"]*"'"""
TOTALS = """grep -o '"billinggroup_name":"[^"]*"\\|"total":{"aws[^}]*}'"""
INVOICE_PARTS = """'"lines":.{[^}]*}\\|"support":{[^}]*}\\|"agency":{[^}]*}\\|"pre_tax":[^{[]*'"""
EXTRACT_URL = """sed 's/.*"url":"\\([^"]*\\)".*/\\1/'"""
PROPOSALS = """grep -o '"proposals":\\[{[^]]*]'"""
RESTRICTED_SUBUSER = SUBUSERS[1]
NAMES = """grep -o '"name":"[^"]*"'"""
CHANGES = """grep -o '"action":"[^"]*","resource":"[^"]*"'"""


def sample_commands(
    address: str, folder: Path, logins: DemoLogins, companies: Mapping[str, str]
) -> list[SampleCommand]:
    """The first command sets variables that the others use."""
    aozora, minato = logins[AOZORA.english_name], logins[MINATO.english_name]
    post = """curl -s $API/m/core/billinggroup -H "$AUTH" -H 'Content-Type: application/json'"""
    return [
        SampleCommand(
            "Get a token, valid for a day.",
            f"API={address}\n"
            "TOKEN=$(curl -s $API/core/access_token -d grant_type=client_credentials \\\n"
            f"  {client_options(aozora, '-d')} | {EXTRACT_ACCESS})\n"
            'AUTH="Authorization: Bearer $TOKEN"',
        ),
        SampleCommand(
            "List the customers. Without grep: all their fields.",
            f'curl -s $API/m/core/billinggroup -H "$AUTH" | {NAMES}',
        ),
        SampleCommand(
            "Add a customer. Repeating it with the same key adds no second one.",
            f"{post} -H 'Idempotency-Key: my-first-group' \\\n"
            f"  -d {shlex.quote(VALID_GROUP)}; echo",
        ),
        SampleCommand(
            "Send an invalid request. The response lists every violation.",
            f"{post} \\\n  -d {shlex.quote(INVALID_GROUP)}; echo",
        ),
        *_master_data_commands(aozora),
        *_invoice_commands(folder, aozora, companies),
        *_cost_commands(folder, aozora),
        *stack_commands(aozora),  # version 3
        SampleCommand(
            "Show the audit log, newest entries first.",
            f'curl -s $API/m/core/audit -H "$AUTH" | {CHANGES} | sed -n 1,12p',
        ),
        SampleCommand(
            "Verify the hash chain of the audit log.",
            f"{_nimbill(folder)} audit verify \\\n  --organisation {aozora.organisation_id}",
        ),
        SampleCommand(
            f"Log in as another reseller, {MINATO.name}. It sees only its own customers.",
            "OTHER=$(curl -s $API/core/access_token -F grant_type=password \\\n"
            f"  {client_options(minato, '-F')} \\\n"
            f"  -F username={minato.username} -F password={minato.password} | {EXTRACT_ACCESS})\n"
            f'curl -s $API/m/core/billinggroup -H "Authorization: Bearer $OTHER" | {NAMES}',
        ),
    ]


def _master_data_commands(aozora: DemoLogin) -> list[SampleCommand]:
    return [
        SampleCommand(
            "List cloud accounts and projects.",
            f'curl -s "$API/m/core/accts?vendor=aws&limit=4" -H "$AUTH" | {ACCOUNTS}\n'
            f'curl -s $API/m/core/project -H "$AUTH"; echo',
        ),
        SampleCommand(
            "Download billing groups as CSV. The link is valid for ten minutes.",
            'curl -s $(curl -s $API/m/core/exportcsv/billing-group -H "$AUTH" \\\n'
            f"  -H 'Content-Type: application/json' -d '{{\"redo\": false}}' | {EXTRACT_PATH}) |"
            " sed -n 1,3p",
        ),
        SampleCommand(
            f"Log in as the subuser {RESTRICTED_SUBUSER.username}, who may read only "
            f"{len(RESTRICTED_SUBUSER.billing_groups)} billing groups.",
            f"{_login('SUBUSER', 'core/access_token', aozora, RESTRICTED_SUBUSER.username)}\n"
            'curl -s $API/m/core/billinggroup -H "Authorization: Bearer $SUBUSER" | '
            f"{GROUP_IDS}\n"
            'curl -s $API/m/core/audit -H "Authorization: Bearer $SUBUSER"; echo',
        ),
        SampleCommand(
            "Log in to the portal as a customer.",
            f"{_login('CUSTOMER', 'access_token', aozora, PORTAL_LOGINS[FULL_PORTAL])}\n"
            'curl -s $API/m/portal/me -H "Authorization: Bearer $CUSTOMER"; echo',
        ),
        SampleCommand(
            "Show the customer's usage of the last year, by month and at its own price.",
            f'curl -s "$API/m/portal/usage/account/graph?from={MONTHS[0]}&to={OPEN_MONTH}" \\\n'
            '  -H "Authorization: Bearer $CUSTOMER" | cut -c1-600; echo',
        ),
    ]


def _invoice_commands(
    folder: Path, aozora: DemoLogin, companies: Mapping[str, str]
) -> list[SampleCommand]:
    aws_customer, combined_customer = companies["BG-0001"], companies["BG-0004"]
    invoices = f"$API/m/core/invoices/{OPEN_MONTH}"
    pdf, archive = (shlex.quote(str(folder / f"my-{OPEN_MONTH}.{end}")) for end in ("pdf", "zip"))
    return [
        SampleCommand(
            f"List the invoices of {OPEN_MONTH}. Without grep: their settings too.",
            f'curl -s {invoices} -H "$AUTH" | {TOTALS} | sed -n 1,8p',
        ),
        SampleCommand(
            "Show the first line, fees and totals of an invoice, each with its calculation.",
            f'curl -s {invoices}/{aws_customer}/aws -H "$AUTH" | grep -o {INVOICE_PARTS}',
        ),
        SampleCommand(
            "Download a combined PDF for AWS and Azure, and all PDFs of the month as a zip.",
            f'curl -s -o {pdf} {invoices}/{combined_customer}/pdf -H "$AUTH"\n'
            f'curl -s -o {archive} {invoices}/zip -H "$AUTH"; ls -l {pdf} {archive}',
        ),
        SampleCommand(
            "Download invoices as CSV by account. invoice_tag groups them by tag.",
            f"curl -s $(curl -s -X POST $API/m/core/export/csv/invoice_account/{OPEN_MONTH} \\\n"
            f'  -H "$AUTH" | {EXTRACT_URL}) | sed -n 1,4p',
        ),
        SampleCommand(
            "Show cost, revenue and profit of each project in the month.",
            f'curl -s $API/m/core/project/{OPEN_MONTH} -H "$AUTH"; echo',
        ),
        SampleCommand(
            "Reconcile the invoices with the vendor charges, to the last digit.",
            f"{_nimbill(folder)} tie-out {OPEN_MONTH} --organisation {aozora.organisation_id}",
        ),
        SampleCommand(
            f"Show the late correction of {LAST_CLOSED_MONTH} and the entries proposed for it.",
            f'curl -s $API/m/core/costs/imports -H "$AUTH" | {PROPOSALS}',
        ),
    ]


def _cost_commands(folder: Path, aozora: DemoLogin) -> list[SampleCommand]:
    invoiced, out = (
        inbox_of(folder, aozora.organisation_id) / INVOICED_DELIVERIES[0].folder,
        folder / f"focus-{OPEN_MONTH}.parquet",
    )
    organisation = f"--organisation {aozora.organisation_id}"
    return [
        SampleCommand(
            "Show what the vendors charged in a month, by service, to the last digit. "
            "It can also be listed by account, day, line_type or tag:team.",
            f'curl -s "$API/m/core/costs/{OPEN_MONTH}?by=service" -H "$AUTH"; echo',
        ),
        SampleCommand(
            "List the imports, and the accounts that belong to no billing group.",
            f'curl -s $API/m/core/costs/imports -H "$AUTH" | {IMPORTS}\n'
            f'curl -s $API/m/core/costs/imports -H "$AUTH" | {UNASSIGNED_ACCOUNTS} | sort -u',
        ),
        SampleCommand(
            "Show the one-off charges on invoices and the moved reserved instances. "
            "Without grep: all of them.",
            f'curl -s "$API/m/core/billinggroup/recalculation/{OPEN_MONTH}?vendor=aws" '
            f'-H "$AUTH" | \\\n  {APPLIED_ENTRIES}\n'
            f'curl -s "$API/m/core/ri/purchased?vendor=aws" -H "$AUTH" | {MOVED_RESERVATIONS}',
        ),
        SampleCommand(
            f"{CURRENT_MONTH} is provisional. Import its final files, create its invoices and "
            "write them as PDF.",
            f"{_nimbill(folder)} import --vendor aws {organisation} \\\n"
            f"  {shlex.quote(str(invoiced))}\n"
            f"{_nimbill(folder)} invoice create {CURRENT_MONTH} --vendor aws {organisation}\n"
            f"{_nimbill(folder)} invoice print {CURRENT_MONTH} {organisation} \\\n"
            f"  --into {shlex.quote(str(pdf_folder(folder, AOZORA).with_name(CURRENT_MONTH)))}",
        ),
        SampleCommand(
            "Export a month as FOCUS 1.2.",
            f"{_nimbill(folder)} export focus {OPEN_MONTH} {organisation} \\\n"
            f"  --output {shlex.quote(str(out))}",
        ),
    ]


def _login(variable: str, path: str, login: DemoLogin, username: str) -> str:
    password = derive_password(login, username)
    return (
        f"{variable}=$(curl -s $API/{path} -d grant_type=password \\\n"
        f"  {client_options(login, '-d')} \\\n"
        f"  -d username={username} -d password={password} | {EXTRACT_ACCESS})"
    )


def _nimbill(folder: Path) -> str:
    return f"NIMBILL_DATA={shlex.quote(str(folder))} {_program_path()}"


def _program_path() -> str:
    """The program that started the demo, as an absolute path."""
    program = Path(sys.argv[0]).absolute()
    if program.name == "nimbill":
        return shlex.quote(str(program))
    return f"{shlex.quote(sys.executable)} -m nimbill"
