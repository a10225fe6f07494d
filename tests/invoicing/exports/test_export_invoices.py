"""POST /m/core/export/csv/invoice_account/{month} and invoice_tag/{month}"""

from __future__ import annotations

from decimal import Decimal

from nimbill.access.role_actions import RoleAction
from nimbill.invoicing.exports import columns
from tests.imports.aws_reports import report_line
from tests.invoicing.exports.export_requests import (
    BOM,
    create_month_link,
    download_content,
    download_file,
    parse_rows,
)
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, MonthEnd
from tests.problem_responses import read_problem
from tests.subusers import create_subuser

READER = RoleAction.ReadInvoice
GROUP = ["BG-A", "name", "company", "aws"]


def file_of_month(
    month_end: MonthEnd, what: str = "invoice_account", headers: dict[str, str] | None = None
) -> list[list[str]]:
    """The rows, without the header."""
    service = month_end.service
    header, *found = parse_rows(
        download_content(service, create_month_link(service, what, MONTH, headers))
    )
    assert header == list(
        columns.INVOICE_ACCOUNT if what == "invoice_account" else columns.INVOICE_TAG
    )
    return found


def create_invoice(month_end: MonthEnd, **fields: str) -> str:
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    month_end.import_costs(*EXAMPLE_A)
    month_end.prepare_groups(group, **fields)
    assert month_end.create_invoices(group).status_code == 200
    return group


def test_without_invoices_the_file_has_only_the_header(month_end: MonthEnd) -> None:
    month_end.prepare_groups(month_end.create_group("BG-A", *ACCOUNTS_OF_A))

    for what, header in (
        ("invoice_account", columns.INVOICE_ACCOUNT),
        ("invoice_tag", columns.INVOICE_TAG),
    ):
        file = download_content(month_end.service, create_month_link(month_end.service, what))
        assert file == BOM + (",".join(header) + "\r\n").encode()


def test_rows_of_worked_example_a(month_end: MonthEnd) -> None:
    create_invoice(month_end)

    first, second = ([name, f"account {name}"] for name in ACCOUNTS_OF_A)
    nobody, later = ["", ""], ["", "0", "", ""]
    assert file_of_month(month_end) == [
        [*GROUP, *first, "Service", "AmazonEC2", "150269", "142755", "142755", *later],
        [*GROUP, *first, "Service", "AmazonS3", "7550", "7173", "7173", *later],
        [*GROUP, *second, "Service", "AmazonRDS", "3055", "2902", "2902", *later],
        [*GROUP, *first, "Account", "_ACCOUNT_TOTAL", "157819", "149928", "149928", *later],
        [*GROUP, *second, "Account", "_ACCOUNT_TOTAL", "3055", "2902", "2902", *later],
        [*GROUP, *nobody, "Product", "_SUPPORT", "16087", "15283", "15283", *later],
        [*GROUP, *nobody, "Product", "_SUBSTITUTION", "5043", "5043", "5043", *later],
        [
            *(*GROUP, *nobody, "Product", "_TOTAL", "182004", "173156", "173156"),
            *("0", "0", "17316", "190472"),
        ],
    ]


def test_each_file_contains_the_invoices_of_its_calc_type(month_end: MonthEnd) -> None:
    service = month_end.service
    response = service.http.put(
        "/m/core/settings", json={"cost_tag_key": "Team"}, headers=service.root()
    )
    assert response.status_code == 200, response.text
    by_tag = month_end.create_group("BG-T", "333333333333")
    by_account = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    tagged = report_line("10", UsageAccountId="333333333333", Team="web")
    month_end.import_costs(*EXAMPLE_A, tagged, report_line("5", UsageAccountId="333333333333"))
    month_end.prepare_groups(by_account)
    month_end.prepare_groups(by_tag, calc_type="tag")
    assert month_end.create_invoices().status_code == 200

    tags = file_of_month(month_end, "invoice_tag")

    assert {row[0] for row in file_of_month(month_end)} == {"BG-A"}
    assert {row[0] for row in tags} == {"BG-T"}
    assert [row[4:8] for row in tags if row[5] == "Service"] == [
        ["web", "Service", "AmazonEC2", "1503"],
        ["", "Service", "AmazonEC2", "751"],
    ]


def test_an_applied_entry_is_listed_with_its_account_and_escaped(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    fee = report_line(
        "10",
        LineItemType="Fee",
        UsageAccountId=ACCOUNTS_OF_A[0],
        LineItemDescription="=1+1",
    )
    month_end.import_costs(*EXAMPLE_A, fee)
    entries = month_end.get(f"/billinggroup/recalculation/{MONTH}?vendor=aws").json()
    applied = month_end.post(
        "/billinggroup/recalculation",
        {
            "data": [entries[0]["id"]],
            "month": MONTH,
            "exchange_rate": Decimal("120.5"),
            "tax_free": True,
            "apply": True,
            "vendor": "aws",
        },
    )
    assert applied.status_code == 200, applied.text
    month_end.prepare_groups(group)
    month_end.create_invoices(group)

    *_, entry, total = file_of_month(month_end)

    assert entry[4:] == [
        *(ACCOUNTS_OF_A[0], f"account {ACCOUNTS_OF_A[0]}", "Product", "'=1+1"),
        *("1205", "1205", "0", "", "0", "", ""),
    ]
    assert (total[9], total[10]) == ("174361", "173156")


def test_restricted_users_get_only_invoices_of_their_groups(month_end: MonthEnd) -> None:
    create_invoice(month_end)
    other = month_end.create_group("BG-B", "444444444444")
    month_end.prepare_groups(other)
    month_end.create_invoices(other)
    person = create_subuser(
        month_end.service, core=[READER], filters=[("core", "billingGroup", other)]
    )

    assert {row[0] for row in file_of_month(month_end)} == {"BG-A", "BG-B"}
    assert {row[0] for row in file_of_month(month_end, headers=person.core)} == {"BG-B"}


def test_only_the_current_revision_is_exported(month_end: MonthEnd) -> None:
    group = create_invoice(month_end)
    month_end.save_settings(group, tax_rate=Decimal(0))
    month_end.create_invoices(group)

    totals = [row for row in file_of_month(month_end) if row[7] == "_TOTAL"]

    assert [row[-1] for row in totals] == ["173156"]


def test_the_file_name_contains_the_month_and_the_link_is_bound_to_the_caller(
    month_end: MonthEnd,
) -> None:
    service = month_end.service
    person = create_subuser(service, core=[READER])
    url = create_month_link(service, headers=person.core)

    before = download_file(service, url)
    client = f"/m/u/users/client/{person.user_id}/{person.client_id}"
    assert service.http.delete(client, headers=service.root()).status_code == 200

    assert before.headers["content-disposition"] == (
        f'attachment; filename="invoice-account-{MONTH}.csv"'
    )
    assert download_file(service, url).status_code == 404


def test_an_invalid_month_is_refused(month_end: MonthEnd) -> None:
    for month in ("2026-13", "202609", "latest"):
        read_problem(month_end.post(f"/export/csv/invoice_tag/{month}", {}), 400)
