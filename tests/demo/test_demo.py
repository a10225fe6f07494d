"""nimbill demo, in a real process: what it prints works, and a second start goes on."""

from __future__ import annotations

import json
import re
import signal
import stat
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import httpx

from nimbill.demo.chapters import chapters_of
from nimbill.demo.cost_files import deliveries_of
from nimbill.demo.cost_writing import STRAYS
from nimbill.demo.invoice_chapters import printed_folder
from nimbill.demo.story import AOZORA, MINATO, RESELLERS
from nimbill.demo.story_months import CURRENT, MONTHS_MIN, MOVES, OPEN, last_months
from nimbill.foundation import exact_json
from tests.command_line import SECONDS_MAX, database_runs, environment, started
from tests.demo import what_the_demo_shows as shown
from tests.demo.running_demo import LOGIN, Demo, running_demo
from tests.proof.real_server import free_port


def pasted(commands: str) -> str:
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail"],
        input=commands,
        capture_output=True,
        text=True,
        timeout=2 * SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_demo_shows_what_it_promises_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with running_demo(tmp_path) as demo:
        first_login = demo.login
        _every_address_answers(demo)
        _the_story_was_told(demo)
        _the_printed_commands_work(demo)
        _only_its_owner_reads_the_login(demo)
        code, rest = demo.stop(signal.SIGINT)

    assert code == 0
    assert "Stopped." in rest
    assert not database_runs(demo.folder)

    with running_demo(tmp_path) as again:
        assert again.login == first_login
        assert not re.search(r"^ +\d+ s ", again.page, re.MULTILINE)  # nothing is told twice
        ask = shown.Asking(again, AOZORA)
        assert len(ask("/billinggroup")) == len(AOZORA.customers) + 1  # one was pasted
        assert ask(f"/costs/{CURRENT}?vendor=aws")["provisional"] is False
        assert sum(one["invoice_no"] is not None for one in _invoices(ask, CURRENT)) == len(
            list(AOZORA.customers_of("aws"))
        )
        code, _ = again.stop(signal.SIGTERM)

    assert code == 0
    assert not database_runs(again.folder)


def _invoices(ask: shown.Asking, month: str) -> list[Any]:
    listed: list[Any] = ask(f"/invoices/{month}")["billinggroup"]
    return listed


def _the_story_was_told(demo: Demo) -> None:
    steps = re.findall(r"^ +\d+ s  (.+): (.+)$", demo.page, re.MULTILINE)
    assert steps == [
        (reseller.english_name, name)
        for part in range(3)
        for reseller in RESELLERS
        for name in chapters_of(reseller, last_months(MONTHS_MIN))[part]
    ]
    ask = shown.Asking(demo, AOZORA)
    shown.every_group_with_accounts_has_its_invoices(ask)
    shown.every_finished_month_ties_out_to_nothing(ask)
    shown.the_closed_month_stays_and_the_late_change_is_told(ask)
    shown.entries_and_reservations_were_decided_on(ask)
    shown.the_other_reseller_has_its_invoices_too(shown.Asking(demo, MINATO))
    shown.printed_invoices_lie_where_it_says(demo)
    shown.a_stack_of_version_3_stands(ask)


def _every_address_answers(demo: Demo) -> None:
    printed = re.findall(rf"{re.escape(demo.address)}/\w+", demo.page.partition("\n# ")[0])

    assert {address.rpartition("/")[2] for address in printed} == {
        "docs",
        "healthz",
        "readyz",
        "metrics",
    }
    assert {httpx.get(address).status_code for address in printed} == {200}


def _the_printed_commands_work(demo: Demo) -> None:
    said = pasted(demo.commands)

    listed = [line for line in said.splitlines() if line.startswith('"name":')]
    for customer in (*AOZORA.customers, *MINATO.customers):
        assert listed.count(f'"name":"{customer.company_name}"') == 1
    assert '"billinggroup_id":"BG-0100"' in said
    (refused,) = [json.loads(line) for line in said.splitlines() if '"violations"' in line]
    assert len(refused["violations"]) > 3
    for called in ("create_invoices", "create_invoice"):
        assert f'"action":"{called}"' in said
    assert "ひなた水産 本番" in said
    assert "東日本営業部" in said
    assert "請求グループID" in said
    assert said.count("role_action_missing") == 1  # the subuser and the audit log
    (customer,) = [json.loads(line) for line in said.splitlines() if '"flags"' in line]
    assert customer["company"]["name"] == AOZORA.customers[0].company_name
    assert customer["flags"]["dashboard_graph"] is False
    assert re.search(r"intact: \d+ rows", said)
    assert said.count('"key":"AWS::EC2::Instance"') == 3
    assert '"nickname":"calm-harbour"' in said
    assert '"stack_status":"CREATE_COMPLETE"' in said
    assert re.search(r"^sunset: \w{3}, \d\d \w{3} \d{4} ", said, re.IGNORECASE | re.MULTILINE)
    _costs_are_there(said)
    _invoices_are_there(said, demo)


def _costs_are_there(said: str) -> None:
    (costs,) = [exact_json.read(line.encode()) for line in said.splitlines() if '"totals"' in line]
    assert [total["vendor"] for total in costs["totals"]] == ["aws", "azure"]
    assert sum(row["cost"] for row in costs["rows"]) == sum(
        total["cost"] for total in costs["totals"]
    )
    for delivery in deliveries_of(AOZORA, last_months(MONTHS_MIN)):
        assert f'"sources":["{delivery.place}"],"state":"done"' in said
    for stray in STRAYS.values():
        assert f'"accounts_in_no_group":["{stray}"]' in said
    assert said.count('"apply":true') == 3
    assert said.count('"dest_customer_id":"0') == len(MOVES)
    assert f"done: aws {CURRENT}, " in said
    assert f"focus-{OPEN}.parquet: " in said


def _invoices_are_there(said: str, demo: Demo) -> None:
    of_aws = len(list(AOZORA.customers_of("aws")))
    assert re.search(r'"total":{"aws":\d+,"azure":null}', said)
    for part in ("lines", "support", "agency"):
        assert len(re.findall(rf'^"{part}":.*"working":', said, re.MULTILINE)) == 1
    assert f"{OPEN} ties" in said
    assert '"proposals":[{' in said
    assert "BillingGroupID,BillingGroupName,CompanyName" in said
    assert (
        '"project_code":"EAST","project_label":"東日本営業部","project_currency":"jpy","am' in said
    )
    assert f"{of_aws} invoices made" in said
    assert f"{of_aws} invoices in {printed_folder(demo.folder, AOZORA).with_name(CURRENT)}" in said
    assert (demo.folder / f"my-{OPEN}.pdf").read_bytes().startswith(b"%PDF")
    with zipfile.ZipFile(demo.folder / f"my-{OPEN}.zip") as archive:
        assert len(archive.namelist()) == sum(len(one.clouds) for one in AOZORA.customers)


def _only_its_owner_reads_the_login(demo: Demo) -> None:
    kept = demo.folder / "demo.json"

    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert demo.login["client_secret"] in kept.read_text()
    assert demo.login["client_secret"] not in (demo.folder / "demo.log").read_text()


def test_a_login_that_does_not_fit_the_database_is_said(tmp_path: Path) -> None:
    folder = tmp_path / ".nimbill-demo"
    folder.mkdir(mode=0o700)
    account: dict[str, object] = {**dict.fromkeys(LOGIN, "of another database"), "told": []}
    resellers = {reseller.english_name: account for reseller in (AOZORA, MINATO)}
    (folder / "demo.json").write_text(json.dumps(resellers))

    process = started("demo", "--port", str(free_port()), env=environment(folder), cwd=tmp_path)
    _, said = process.communicate(timeout=SECONDS_MAX)

    assert process.returncode == 2
    assert "remove the demo's data folder to start afresh" in said
    assert not database_runs(folder)
