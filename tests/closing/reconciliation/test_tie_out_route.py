"""GET /m/core/invoices/tie-out/{month} and the command `nimbill tie-out`."""

from __future__ import annotations

import json
import re
import subprocess
from decimal import Decimal
from typing import Any

import pytest

from nimbill.foundation import exact_json
from tests.adjustments.reserved_instances.reservations import move_instances
from tests.commands.run_command import run_command, service_environment
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, PAYER, MonthEnd
from tests.problem_responses import read_problem
from tests.subusers import create_subuser

FIRST, SECOND = ACCOUNTS_OF_A
UNASSIGNED = "999999999999"
OTHER_LINES = (
    report_line("107.07", LineItemType="Tax", UsageAccountId=FIRST),
    report_line("-3.5", LineItemType="EdpDiscount", UsageAccountId=FIRST),
    report_line("0.25", LineItemType="Whatever", UsageAccountId=FIRST),
    report_line("672", LineItemType="Fee", UsageAccountId=FIRST),
    report_line("-12.5", LineItemType="Credit", UsageAccountId=SECOND),
    report_line("7.75", UsageAccountId=UNASSIGNED),
)
ARN = "arn:aws:ec2:ap-northeast-1:111111111111:reserved-instances/6a1f"
RESERVED = report_line(
    "30",
    LineItemType="RIFee",
    UsageAccountId=FIRST,
    ReservationARN=ARN,
    NumberOfReservations="3",
    StartTime="2026-01-01T00:00:00Z",
    EndTime="2029-01-01T00:00:00Z",
)


def load_tie_out(month_end: MonthEnd, query: str = "?vendor=aws", headers: Any = None) -> Any:
    response = month_end.get(f"/invoices/tie-out/{MONTH}{query}", headers)
    assert response.status_code == 200, response.text
    return exact_json.decode_stored(response.text)


def apply_entry(month_end: MonthEnd, entry_id: str, month: str, *, apply: bool = True) -> None:
    body = {
        "data": [entry_id],
        "month": month,
        "exchange_rate": 0,
        "tax_free": False,
        "apply": apply,
        "vendor": "aws",
    }
    assert month_end.post("/billinggroup/recalculation", body).status_code == 200


def create_invoice(month_end: MonthEnd, *lines: dict[str, str]) -> str:
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    month_end.import_costs(*lines)
    month_end.prepare_groups(group)
    assert month_end.create_invoices(group).status_code == 200
    return group


def test_every_charge_of_the_vendor_is_accounted_for(month_end: MonthEnd) -> None:
    create_invoice(month_end, *EXAMPLE_A, *OTHER_LINES)
    applied = month_end.get(f"/billinggroup/recalculation/{MONTH}?vendor=aws").json()[0]
    apply_entry(month_end, applied["id"], "2026-10")

    found = load_tie_out(month_end)

    assert found["month"] == MONTH
    assert found["ties"] is True
    assert found["differences"] == []
    assert found["accounts_in_no_group"] == [
        {
            "vendor": "aws",
            "payer_id": PAYER,
            "customer_id": UNASSIGNED,
            "currency": "USD",
            "amount": Decimal("7.75"),
        }
    ]
    (payer,) = found["payers"]
    assert payer.pop("import_id").startswith("imp_")
    assert payer == {
        "vendor": "aws",
        "payer_id": PAYER,
        "currency": "USD",
        "provisional": False,
        "total": Decimal("1841.776456789"),
        "moved_fees": 0,
        "invoiced": Decimal("1070.706456789"),
        "in_no_group": Decimal("7.75"),
        "entries_applied": 672,
        "entries_unapplied": Decimal("-12.5"),
        "tax": Decimal("107.07"),
        "discount": Decimal("-3.5"),
        "unknown": Decimal("0.25"),
        "difference": 0,
    }


def test_a_later_import_is_a_difference_until_the_invoice_is_created_again(
    month_end: MonthEnd,
) -> None:
    group = create_invoice(month_end, *EXAMPLE_A)
    later = report_line("0.0000000001", UsageAccountId=FIRST)
    month_end.import_costs(*EXAMPLE_A, later)

    found = load_tie_out(month_end)

    assert found["ties"] is False
    assert found["payers"][0]["difference"] == Decimal("0.0000000001")
    assert found["differences"] == [
        {
            "vendor": "aws",
            "payer_id": PAYER,
            "reason": "amount_differs",
            "company_id": group,
            "invoice_no": "202609-0001",
            "customer_id": FIRST,
            "service": "AmazonEC2",
            "marketplace": False,
            "currency": "USD",
            "invoiced": Decimal("1000.123456789"),
            "counts": Decimal("1000.1234567891"),
            "difference": Decimal("0.0000000001"),
        }
    ]
    month_end.create_invoices(group)
    assert load_tie_out(month_end)["ties"] is True


def test_an_entry_applied_or_taken_back_after_the_invoice_is_a_difference(
    month_end: MonthEnd,
) -> None:
    fee = report_line("672", LineItemType="Fee", UsageAccountId=FIRST)
    group = create_invoice(month_end, *EXAMPLE_A, fee)
    (entry,) = month_end.get(f"/billinggroup/recalculation/{MONTH}?vendor=aws").json()
    expected = {
        "vendor": "aws",
        "reason": "entry_not_on_invoice",
        "company_id": group,
        "invoice_no": "202609-0001",
        "entry_id": entry["id"],
        "customer_id": FIRST,
        "currency": "USD",
        "invoiced": 0,
        "applied": 672,
        "difference": 672,
    }

    apply_entry(month_end, entry["id"], MONTH)
    found = load_tie_out(month_end)

    assert (found["state"], found["differences"]) == ("differs", [])
    assert found["entry_differences"] == [expected]
    month = month_end.get(f"/months/{MONTH}?vendor=aws").json()
    blockers = {step["step"]: step["blockers"] for step in month["steps"]}["checked"]
    assert [(each["reason"], each["subjects"]) for each in blockers] == [
        ("entry_not_on_invoice", [group])
    ]

    month_end.create_invoices(group)
    assert load_tie_out(month_end)["ties"] is True
    apply_entry(month_end, entry["id"], MONTH, apply=False)
    (taken_back,) = load_tie_out(month_end)["entry_differences"]
    assert taken_back["reason"] == "entry_not_applied"


def test_a_missing_invoice_is_listed_for_each_service(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    month_end.import_costs(*EXAMPLE_A)

    found = load_tie_out(month_end)

    assert found["ties"] is False
    assert [
        (
            difference["reason"],
            difference["company_id"],
            difference["customer_id"],
            difference["service"],
        )
        for difference in found["differences"]
    ] == [
        ("invoice_missing", group, FIRST, "AmazonEC2"),
        ("invoice_missing", group, FIRST, "AmazonS3"),
        ("invoice_missing", group, SECOND, "AmazonRDS"),
    ]


def test_a_move_after_the_invoice_is_a_difference_that_cancels_out(
    month_end: MonthEnd,
) -> None:
    groups = [
        month_end.create_group(f"BG-{customer_id}", customer_id) for customer_id in ACCOUNTS_OF_A
    ]
    month_end.import_costs(*EXAMPLE_A, RESERVED)
    month_end.prepare_groups(*groups)
    month_end.create_invoices()
    assert load_tie_out(month_end)["ties"] is True

    assert move_instances(month_end.service, 1, SECOND).status_code == 200
    found = load_tie_out(month_end)

    assert found["payers"][0]["difference"] == 0
    assert [
        (difference["customer_id"], difference["difference"]) for difference in found["differences"]
    ] == [
        (FIRST, -10),
        (SECOND, 10),
    ]
    month_end.create_invoices()
    assert load_tie_out(month_end)["ties"] is True


def test_an_invoice_by_tag_ties(month_end: MonthEnd) -> None:
    month_end.put("/settings", {"cost_tag_key": "Team"})
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    month_end.import_costs(*EXAMPLE_A, report_line("5", UsageAccountId=FIRST, Team="web"))
    month_end.prepare_groups(group, calc_type="tag")
    month_end.create_invoices(group)

    found = load_tie_out(month_end)

    assert found["ties"] is True
    assert found["payers"][0]["invoiced"] == Decimal("1075.706456789")


def test_without_a_vendor_all_vendors_are_tied_out(month_end: MonthEnd) -> None:
    create_invoice(month_end, *EXAMPLE_A)

    assert [payer["vendor"] for payer in load_tie_out(month_end, "")["payers"]] == ["aws"]
    assert load_tie_out(month_end, "")["state"] == "ties"
    assert load_tie_out(month_end, "?vendor=azure")["payers"] == []


def test_pages_of_the_lists_have_every_row_once(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    unassigned = [f"99999999999{number}" for number in range(3)]
    month_end.import_costs(
        *EXAMPLE_A,
        *(report_line("1", UsageAccountId=account) for account in unassigned),
        *(report_line(cost, LineItemType="Fee", UsageAccountId=FIRST) for cost in ("5", "6")),
    )
    for entry in month_end.get(f"/billinggroup/recalculation/{MONTH}?vendor=aws").json():
        apply_entry(month_end, entry["id"], MONTH)
    everything = load_tie_out(month_end)
    lists = ("differences", "entry_differences", "accounts_in_no_group")
    assert [len(everything[name]) for name in lists] == [3, 2, 3]

    pages = [load_tie_out(month_end, f"?vendor=aws&limit=2&offset={start}") for start in (0, 2)]

    for name in lists:
        assert [row for page in pages for row in page[name]] == everything[name]
    for page in pages:
        assert page["payers"] == everything["payers"]
        assert page["counts"] == dict(zip(lists, (3, 2, 3), strict=True))
        assert (page["state"], page["ties"]) == ("differs", False)
    behind = load_tie_out(month_end, "?vendor=aws&limit=2&offset=4")
    assert [behind[name] for name in lists] == [[], [], []]
    assert {row["company_id"] for row in everything["differences"]} == {group}


@pytest.mark.parametrize("page", ["limit=0", "limit=x", "offset=-1"])
def test_an_invalid_page_of_the_tie_out_is_refused(month_end: MonthEnd, page: str) -> None:
    read_problem(month_end.get(f"/invoices/tie-out/{MONTH}?{page}"), 400)


def test_a_month_or_vendor_without_data_has_nothing_to_compare(month_end: MonthEnd) -> None:
    create_invoice(month_end, *EXAMPLE_A)

    other_vendor = load_tie_out(month_end, "?vendor=azure")
    future = month_end.get("/invoices/tie-out/2199-12").json()

    for found in (other_vendor, future):
        assert (found["state"], found["ties"]) == ("nothing_to_compare", False)
        assert (found["payers"], found["differences"]) == ([], [])


def test_restricted_users_cannot_see_the_tie_out(month_end: MonthEnd) -> None:
    group = create_invoice(month_end, *EXAMPLE_A)
    person = create_subuser(
        month_end.service, core=["ReadInvoice"], filters=[("core", "billingGroup", group)]
    )

    read_problem(month_end.get(f"/invoices/tie-out/{MONTH}", person.core), 404)


@pytest.mark.parametrize("path", [f"{MONTH}?vendor=nobody", "2026-13", "2026-9"])
def test_an_invalid_month_or_vendor_is_refused(month_end: MonthEnd, path: str) -> None:
    read_problem(month_end.get(f"/invoices/tie-out/{path}"), 400)


def test_the_command_prints_the_tie_out_and_its_exit_code_says_whether_it_ties(
    month_end: MonthEnd,
) -> None:
    service = month_end.service
    organisation = ("--organisation", service.organisation.organisation_id)
    create_invoice(month_end, *EXAMPLE_A, *OTHER_LINES)

    def run_tie_out(*options: str) -> subprocess.CompletedProcess[str]:
        env = service_environment(service)
        return run_command("tie-out", MONTH, *organisation, *options, env=env)

    tied = run_tie_out("--vendor", "aws")

    assert tied.returncode == 0, tied.stderr
    assert "vendor total" in tied.stdout
    assert "1,841.776456789" in tied.stdout
    assert f"in no billing group: aws {UNASSIGNED} 7.75 USD" in tied.stdout
    assert tied.stdout.splitlines()[-1] == f"{MONTH} ties"

    month_end.import_costs(*EXAMPLE_A)  # the removed lines were on no invoice
    still_tied = run_tie_out("--json")

    assert still_tied.returncode == 0, still_tied.stdout

    month_end.import_costs(EXAMPLE_A[0])
    differing, as_json = run_tie_out(), run_tie_out("--json")

    assert (differing.returncode, as_json.returncode) == (1, 1)
    assert re.search(
        r"not_in_costs: 202609-0001 cmp_\w+ \(BG-\w+ name\) "
        r"222222222222 \(account 222222222222\) AmazonRDS: invoiced 20\.333",
        differing.stdout,
    )
    assert json.loads(as_json.stdout) == month_end.get(f"/invoices/tie-out/{MONTH}").json()


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_the_command_refuses_an_unknown_organisation(
    month_end: MonthEnd, as_json: tuple[str, ...]
) -> None:
    env = service_environment(month_end.service)

    result = run_command("tie-out", MONTH, "--organisation", "org_unknown", *as_json, env=env)

    assert result.returncode == 2
    assert result.stderr == "nimbill: No organisation has this id or name.\n"
    assert "ties" not in result.stdout


def test_the_command_does_not_succeed_if_there_is_nothing_to_compare(month_end: MonthEnd) -> None:
    service = month_end.service
    organisation = ("--organisation", service.organisation.organisation_id)
    env = service_environment(service)

    printed = run_command("tie-out", "2199-12", *organisation, env=env)
    as_json = run_command("tie-out", "2199-12", *organisation, "--json", env=env)

    assert (printed.returncode, as_json.returncode) == (3, 3)
    assert printed.stdout.startswith("2199-12 has nothing to compare")
    assert json.loads(as_json.stdout)["state"] == "nothing_to_compare"


def test_the_command_refuses_an_invalid_month(month_end: MonthEnd) -> None:
    service = month_end.service
    organisation = ("--organisation", service.organisation.organisation_id)

    refused = run_command("tie-out", "2026-13", *organisation, env=service_environment(service))

    assert refused.returncode == 2
