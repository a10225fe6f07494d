"""nimbill demo, in a real process: what it prints works, and a second start goes on."""

from __future__ import annotations

import json
import re
import signal
import stat
import subprocess
from pathlib import Path

import httpx

from nimbill import exact_json
from nimbill.demo.cost_chapters import NEIGHBOURS_ACCOUNT
from nimbill.demo.cost_files import DELIVERIES, FINAL_MONTH, PROVISIONAL_MONTH
from nimbill.demo.cost_writing import LINES, STRAYS
from nimbill.demo.story import AOZORA, MINATO
from tests.command_line import SECONDS_MAX, database_runs, environment, started
from tests.demo.running_demo import LOGIN, Demo, running_demo
from tests.proof.real_server import free_port


def pasted(commands: str) -> str:
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail"],
        input=commands,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_demo_shows_what_it_promises_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with running_demo(tmp_path) as demo:
        first_login = demo.login
        _every_address_answers(demo)
        _the_printed_commands_work(demo)
        _only_its_owner_reads_the_login(demo)
        code, rest = demo.stop(signal.SIGINT)

    assert code == 0
    assert "Stopped." in rest
    assert not database_runs(demo.folder)

    with running_demo(tmp_path) as again:
        assert again.login == first_login
        said = pasted(again.commands)
        assert said.count("create_billing_group") == len(AOZORA.customers) + 1
        assert said.count('"action":"create_import"') == len(DELIVERIES) + 2  # two pasted
        assert f"unchanged: aws {PROVISIONAL_MONTH}" in said
        assert said.count('"dest_customer_id"') == 1
        code, _ = again.stop(signal.SIGTERM)

    assert code == 0
    assert not database_runs(again.folder)


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
    assert said.count("create_billing_group") == len(AOZORA.customers) + 1
    for called in ("create_account", "create_project", "create_invoice_template", "map_roles"):
        assert f'"action":"{called}"' in said
    assert "ひなた水産 本番" in said
    assert "東日本営業部" in said
    assert "請求グループID" in said
    assert said.count("role_action_missing") == 1  # the subuser and the audit log
    (customer,) = [json.loads(line) for line in said.splitlines() if '"flags"' in line]
    assert customer["company"]["name"] == AOZORA.customers[0].company_name
    assert customer["flags"]["dashboard_graph"] is False
    assert re.search(r"intact: \d+ rows", said)
    _costs_are_there(said)


def _costs_are_there(said: str) -> None:
    (costs,) = [exact_json.read(line.encode()) for line in said.splitlines() if '"totals"' in line]
    assert {total["vendor"]: total["lines"] for total in costs["totals"]} == LINES
    assert sum(row["cost"] for row in costs["rows"]) == sum(
        total["cost"] for total in costs["totals"]
    )
    assert not costs["provisional"]
    for delivery in DELIVERIES:
        assert f'"sources":["{delivery.place}"],"state":"done"' in said
    for stray in STRAYS.values():
        assert f'"accounts_in_no_group":["{stray}"]' in said
    assert said.count('"apply":true') == 1
    assert f'"dest_customer_id":"{NEIGHBOURS_ACCOUNT}"' in said
    assert f"done: aws {PROVISIONAL_MONTH}, {LINES['aws']:,} lines" in said
    assert f"{FINAL_MONTH}.parquet: {sum(LINES.values())} lines" in said


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
