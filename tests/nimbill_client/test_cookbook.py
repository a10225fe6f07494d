"""The scripts of docs/cookbook.md take a customer from creation to a closed, corrected month."""

from __future__ import annotations

import io
import re
import runpy
import zipfile
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest

from nimbill.imports import job_types
from nimbill_client import Client
from tests.imports.aws_reports import write_report
from tests.imports.preparation_in_thread import prepare_in_thread
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, PAYER
from tests.nimbill_client.service_client import connect
from tests.running_service import Service

ROOT = Path(__file__).parents[2]
COOKBOOK = ROOT / "docs" / "cookbook"
SCRIPTS = ("month_end", "new_customer", "correction", "nightly_import")
CUSTOMER = ("BG-A", "Example Ltd", "--payer", PAYER)
REASON = "The agreed discount was 7 %."


@dataclass
class Cookbook:
    """A new organisation, and what the scripts returned and printed for it."""

    connect: Callable[[], Client]
    folder: Path
    exit_codes: dict[str, int]
    printed: dict[str, str]


@pytest.fixture(scope="module")
def cookbook(running: Service, tmp_path_factory: pytest.TempPathFactory) -> Cookbook:
    """Run the scripts once, in the order of a month, as a user would on the command line."""
    organisation = running.new_organisation()
    folder = tmp_path_factory.mktemp("cookbook")

    def connect_to_service() -> Client:
        return connect(running, organisation)

    cookbook = Cookbook(connect_to_service, folder, {}, {})
    bill = write_report(folder / "bill.csv", EXAMPLE_A)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Client, "from_environment", connect_to_service)
        patch.setattr(job_types, "run_preparation", prepare_in_thread)
        both = [part for number in ACCOUNTS_OF_A for part in ("--account", number)]
        invoice = (MONTH, "aws", "--rate", "150.25", "--folder", str(folder))
        correct = (MONTH, "aws", "BG-A", "--discount", "0.07", "--reason", REASON)
        for name, script, arguments in [
            ("customer", "new_customer", (*CUSTOMER, "--account", ACCOUNTS_OF_A[0])),
            ("import", "nightly_import", ("aws", str(bill))),
            ("second account", "new_customer", (*CUSTOMER, *both)),
            ("month that is not closed yet", "month_end", invoice),
            ("month end", "month_end", (*invoice, "--close")),
            ("closed month", "month_end", invoice),
            ("unknown customer", "correction", (MONTH, "aws", "BG-X", *correct[3:])),
            ("correction", "correction", (*correct, "--pdf", str(folder / "corrected.pdf"))),
        ]:
            printed = io.StringIO()
            with redirect_stdout(printed):
                run_script = runpy.run_path(str(COOKBOOK / f"{script}.py"))["main"]
                cookbook.exit_codes[name] = run_script(arguments)
            cookbook.printed[name] = printed.getvalue()
    return cookbook


def test_a_customer_is_created_once_even_if_the_script_runs_again(cookbook: Cookbook) -> None:
    assert cookbook.exit_codes["customer"] == cookbook.exit_codes["second account"] == 0
    with cookbook.connect() as client:
        (group,) = client.billing_groups.list_all()

    assert (group.billinggroup_id, group.name) == ("BG-A", "Example Ltd")
    assert sorted(account.customer_id for account in group.account) == sorted(ACCOUNTS_OF_A)


def test_a_nightly_import_reports_accounts_without_a_group(cookbook: Cookbook) -> None:
    assert cookbook.exit_codes["import"] == 1
    assert f"In no billing group: {ACCOUNTS_OF_A[1]}" in cookbook.printed["import"]
    with cookbook.connect() as client:
        (record,) = client.imports.list_all()
        costs = client.costs.read(MONTH, "aws")

    assert (record.state, record.month, record.lines) == ("done", MONTH, 3)
    assert [total.cost for total in costs.totals] == [Decimal("1070.7064567890")]


def test_a_month_end_creates_invoices_and_files_and_closes_the_month(cookbook: Cookbook) -> None:
    assert cookbook.exit_codes["month end"] == 0
    assert "Created 1 invoices." in cookbook.printed["month end"]
    assert f"{MONTH} aws is closed." in cookbook.printed["month end"]
    with zipfile.ZipFile(cookbook.folder / f"{MONTH}-aws.zip") as archive:
        (name,) = archive.namelist()
        assert archive.read(name).startswith(b"%PDF")
    assert ACCOUNTS_OF_A[0] in (cookbook.folder / f"{MONTH}-accounts.csv").read_text("utf-8-sig")


def test_a_month_end_without_closing_says_whether_the_month_is_ready(cookbook: Cookbook) -> None:
    assert cookbook.exit_codes["month that is not closed yet"] == 0
    assert "Tie-out: ties, 0 differences." in cookbook.printed["month that is not closed yet"]
    assert f"{MONTH} aws is open." in cookbook.printed["month that is not closed yet"]


def test_a_refusal_is_printed(cookbook: Cookbook) -> None:
    assert "409 month_closed" in cookbook.printed["closed month"]
    assert cookbook.exit_codes["unknown customer"] == 1
    assert "There is no billing group BG-X." in cookbook.printed["unknown customer"]


def test_a_correction_creates_a_revision_and_closes_the_month_again(cookbook: Cookbook) -> None:
    assert cookbook.exit_codes["correction"] == 0
    assert "revision 2: 190472\n" in cookbook.printed["correction"]
    assert f"{MONTH} aws is closed." in cookbook.printed["correction"]
    assert (cookbook.folder / "corrected.pdf").read_bytes().startswith(b"%PDF")
    with cookbook.connect() as client:
        (group,) = client.billing_groups.list_all()
        invoice = client.invoices.read(MONTH, group.company_id, "aws")
        before, _ = client.invoices.list_revisions(MONTH, group.company_id, "aws")
        status = client.months.read(MONTH, "aws")
        reasons = [
            entry.sent.get("reason")
            for entry in client.audit.list_entries()
            if entry.resource.startswith("month/") and isinstance(entry.sent, dict)
        ]

    assert (invoice.revision, invoice.setting.discount_rate) == (3, Decimal("0.07"))
    assert invoice.sheet.total < before.invoice.sheet.total == Decimal(190472)
    assert (status.state, invoice.memo) == ("closed", REASON)
    assert REASON in reasons


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_page_shows_the_script_as_it_is(script: str) -> None:
    """To change a script, change its file and copy it into the page."""
    page = (ROOT / "docs" / "cookbook.md").read_text()
    link, code = re.findall(rf"\[(cookbook/{script}\.py)\].*?```python\n(.*?)```", page, re.DOTALL)[
        0
    ]

    assert code == (ROOT / "docs" / link).read_text()


def test_the_page_shows_every_script() -> None:
    assert {path.stem for path in COOKBOOK.glob("*.py")} == set(SCRIPTS)
