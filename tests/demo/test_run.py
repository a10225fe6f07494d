"""`nimbill demo` in a real process: the printed commands work, and a second start continues."""

from __future__ import annotations

import json
import re
import signal
import stat
import subprocess
import zipfile
from pathlib import Path

import httpx

from nimbill.demo.cost_deliveries import list_deliveries
from nimbill.demo.invoice_steps import pdf_folder
from nimbill.demo.monthly_data import (
    CURRENT_MONTH,
    MONTHS,
    MONTHS_MIN,
    OPEN_MONTH,
    RESERVED_INSTANCE_MOVES,
    last_months,
)
from nimbill.demo.resellers import AOZORA, MINATO, RESELLERS
from nimbill.demo.seed_steps import build_seed_plan
from nimbill.demo.write_cost_files import UNASSIGNED_ACCOUNTS
from nimbill.foundation import exact_json
from tests.command_line import SECONDS_MAX, build_environment, is_database_running, start_command
from tests.demo import seed_data_checks
from tests.demo.demo_process import LOGIN_FIELDS, DemoProcess, start_demo
from tests.demo.seed_data_checks import ResellerClient
from tests.private_modes import list_open_files
from tests.proof.real_server import free_port


def run_in_shell(commands: str) -> str:
    process = subprocess.run(
        ["bash", "-e", "-o", "pipefail"],
        input=commands,
        capture_output=True,
        text=True,
        timeout=2 * SECONDS_MAX,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


# Takes about a minute: it starts the whole demo twice and imports and invoices three months.
def test_the_demo_shows_the_seed_data_and_a_second_start_continues(tmp_path: Path) -> None:
    with start_demo(tmp_path) as demo:
        first_login = demo.login
        check_addresses(demo)
        check_seed_data(demo)
        check_commands(demo)
        check_login_file(demo)
        code, output = demo.stop(signal.SIGINT)

    assert code == 0
    assert "Stopped." in output
    assert not is_database_running(demo.folder)

    with start_demo(tmp_path) as restarted:
        assert restarted.login == first_login
        assert not re.search(r"^ +\d+ s ", restarted.guide, re.MULTILINE)  # no step runs again
        client = ResellerClient(restarted, AOZORA)
        assert len(client.get("/billinggroup")) == len(AOZORA.customers) + 1  # a command added one
        assert client.get(f"/costs/{CURRENT_MONTH}?vendor=aws")["provisional"] is False
        groups = client.get(f"/invoices/{CURRENT_MONTH}")["billinggroup"]
        assert sum(group["invoice_no"] is not None for group in groups) == len(
            list(AOZORA.list_customers("aws"))
        )
        code, _ = restarted.stop(signal.SIGTERM)

    assert code == 0
    assert not is_database_running(restarted.folder)


def check_seed_data(demo: DemoProcess) -> None:
    steps = re.findall(r"^ +\d+ s  (.+): (.+)$", demo.guide, re.MULTILINE)
    assert steps == [
        (reseller.english_name, name)
        for phase in range(3)
        for reseller in RESELLERS
        for name in build_seed_plan(reseller, last_months(MONTHS_MIN))[phase]
    ]
    client = ResellerClient(demo, AOZORA)
    seed_data_checks.check_every_customer_is_invoiced(client)
    seed_data_checks.check_invoiced_months_reconcile(client)
    seed_data_checks.check_late_correction_is_reported(client)
    seed_data_checks.check_adjustments_are_applied(client)
    seed_data_checks.check_closed_month_is_mostly_paid(client)
    seed_data_checks.check_invoices_are_mailed_and_one_is_corrected(client, demo)
    seed_data_checks.check_open_month_can_be_sent(client)
    seed_data_checks.check_customer_has_an_account_group(client)
    seed_data_checks.check_customer_has_a_subuser(client)
    seed_data_checks.check_second_reseller_is_invoiced(ResellerClient(demo, MINATO))
    seed_data_checks.check_pdf_files_exist(demo)
    seed_data_checks.check_stack_is_complete(client)  # version 3
    seed_data_checks.check_operator_can_decide_about_a_request(client)


def check_addresses(demo: DemoProcess) -> None:
    addresses = re.findall(rf"{re.escape(demo.address)}/\w+", demo.guide)

    assert {address.rpartition("/")[2] for address in addresses} == {
        "console",
        "docs",
        "healthz",
        "readyz",
        "metrics",
        "portal",
    }
    assert {httpx.get(address, timeout=60).status_code for address in addresses} == {200}


def check_commands(demo: DemoProcess) -> None:
    output = run_in_shell(demo.commands)

    names = [line for line in output.splitlines() if line.startswith('"name":')]
    for customer in (*AOZORA.customers, *MINATO.customers):
        assert names.count(f'"name":"{customer.company_name}"') == 1
    assert '"billinggroup_id":"BG-0100"' in output
    (refused,) = [json.loads(line) for line in output.splitlines() if '"violations"' in line]
    assert len(refused["violations"]) > 3
    for action in ("create_invoices", "create_invoice"):
        assert f'"action":"{action}"' in output
    assert "ひなた水産 本番" in output
    assert "東日本営業部" in output
    assert "請求グループID" in output
    assert output.count("role_action_missing") == 1  # the subuser cannot read the audit log
    (customer,) = [json.loads(line) for line in output.splitlines() if '"flags"' in line]
    assert customer["company"]["name"] == AOZORA.customers[0].company_name
    assert {flag for flag, on in customer["flags"].items() if not on} == {
        flag for flag in customer["flags"] if flag.startswith("aq_")
    }
    (graph,) = [line for line in output.splitlines() if line.startswith('{"interval"')]
    assert f'"points":["{MONTHS[0]}",' in graph
    assert re.search(r"intact: \d+ rows", output)
    assert output.count('"key":"AWS::EC2::Instance"') == 3  # version 3
    assert '"nickname":"calm-harbour"' in output  # version 3
    assert '"stack_status":"CREATE_COMPLETE"' in output  # version 3
    assert re.search(  # version 3
        r"^sunset: \w{3}, \d\d \w{3} \d{4} ", output, re.IGNORECASE | re.MULTILINE
    )
    check_cost_output(output)
    check_invoice_output(output, demo)


def check_cost_output(output: str) -> None:
    (costs,) = [
        exact_json.decode(line.encode()) for line in output.splitlines() if '"totals"' in line
    ]
    assert [total["vendor"] for total in costs["totals"]] == ["aws", "azure"]
    assert sum(row["cost"] for row in costs["rows"]) == sum(
        total["cost"] for total in costs["totals"]
    )
    for delivery in list_deliveries(AOZORA, last_months(MONTHS_MIN)):
        assert f'"sources":["{delivery.folder}"],"state":"done"' in output
    for customer_id in UNASSIGNED_ACCOUNTS.values():
        assert f'"accounts_in_no_group":["{customer_id}"]' in output
    assert output.count('"apply":true') == 3
    assert output.count('"dest_customer_id":"0') == len(RESERVED_INSTANCE_MOVES)
    assert f"done: aws {CURRENT_MONTH}, " in output
    assert f"focus-{OPEN_MONTH}.parquet: " in output


def check_invoice_output(output: str, demo: DemoProcess) -> None:
    aws_customers = len(list(AOZORA.list_customers("aws")))
    assert re.search(r'"total":{"aws":\d+,"azure":null}', output)
    for part in ("lines", "support", "agency"):
        assert len(re.findall(rf'^"{part}":.*"working":', output, re.MULTILINE)) == 1
    assert f"{OPEN_MONTH} ties" in output
    assert '"proposals":[{' in output
    assert "BillingGroupID,BillingGroupName,CompanyName" in output
    assert (
        '"project_code":"EAST","project_label":"東日本営業部","project_currency":"jpy","am'
        in output
    )
    assert f"{aws_customers} invoices created" in output
    current_month_folder = pdf_folder(demo.folder, AOZORA).with_name(CURRENT_MONTH)
    assert f"{aws_customers} invoices written to {current_month_folder}" in output
    assert (demo.folder / f"my-{OPEN_MONTH}.pdf").read_bytes().startswith(b"%PDF")
    with zipfile.ZipFile(demo.folder / f"my-{OPEN_MONTH}.zip") as archive:
        assert len(archive.namelist()) == sum(
            len(customer.contracts) for customer in AOZORA.customers
        )


def check_login_file(demo: DemoProcess) -> None:
    """Only its owner can read the data, and the log contains no secret."""
    file = demo.folder / "demo.json"

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    # the shell has written files with these names
    assert [file for file in list_open_files(demo.folder) if "/my-" not in file] == []
    assert demo.login["client_secret"] in file.read_text()
    assert demo.login["client_secret"] not in (demo.folder / "demo.log").read_text()


# Takes several seconds: it starts a database and the service.
def test_a_login_of_another_database_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / ".nimbill-demo"
    folder.mkdir(mode=0o700)
    login: dict[str, object] = {
        **dict.fromkeys(LOGIN_FIELDS, "of another database"),
        "completed_steps": [],
    }
    logins = {reseller.english_name: login for reseller in (AOZORA, MINATO)}
    (folder / "demo.json").write_text(json.dumps(logins))

    process = start_command(
        "demo", "--port", str(free_port()), env=build_environment(folder), cwd=tmp_path
    )
    _, errors = process.communicate(timeout=SECONDS_MAX)

    assert process.returncode == 2
    assert "Remove the demo's data folder to start again." in errors
    assert not is_database_running(folder)
