"""POST /m/core/payments/csv: payments from a file, all or none."""

from __future__ import annotations

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation import exact_json
from tests.customers.csv_requests import list_audit_rows, list_errors
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import read_problem
from tests.receivables.payments.paid_invoices import (
    CSV_PATH,
    HEADER,
    INVOICE_NO,
    TOTAL,
    create_empty_invoice,
    create_sent_invoice,
    import_file,
    pay,
    read_amounts,
    read_payments,
    reverse,
    send_invoice,
)

AGAIN = "yes, if this is another payment with the same invoice, amount, date and note"
SENT = "an invoice that was sent and is not cancelled"


@pytest.fixture
def group(month_end: MonthEnd) -> str:
    return create_sent_invoice(month_end)


def test_a_file_records_a_payment_per_line(month_end: MonthEnd, group: str) -> None:
    response = import_file(
        month_end,
        f"{INVOICE_NO},100000,2026-10-05,振込,",
        f'{INVOICE_NO},"90,472",2026/10/6,,',
    )

    assert response.status_code == 200, response.text
    created = exact_json.decode_stored(response.text)["created"]
    assert created == read_payments(month_end, group)["payments"]
    assert [(each["amount"], each["paid_on"], each["note"]) for each in created] == [
        (100000, "2026-10-05", "振込"),
        (90472, "2026-10-06", None),
    ]
    assert read_amounts(month_end, group) == (0, TOTAL, 0, "paid")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp932"])
def test_japanese_headers_are_read(month_end: MonthEnd, group: str, encoding: str) -> None:
    header = "請求書番号,入金額,入金日,メモ"

    response = import_file(
        month_end, f"{INVOICE_NO},1,2026-10-05,振込", header=header, encoding=encoding
    )

    assert response.status_code == 200, response.text
    assert read_payments(month_end, group)["payments"][0]["note"] == "振込"


def test_every_error_is_reported_and_nothing_is_recorded(month_end: MonthEnd, group: str) -> None:
    response = import_file(
        month_end,
        f"{INVOICE_NO},1,2026-10-05,,",
        "202609-0099,1,2026-10-05,,",
        f"{INVOICE_NO},1.5,9999-12-31,,",
        f"{INVOICE_NO},x,2026-02-30,,no",
        ",1,,,",
    )

    assert [field for field, _ in list_errors(response)] == [
        "line 3, invoice_no",
        "line 4, amount",
        "line 4, paid_on",
        "line 5, amount",
        "line 5, again",
        "line 5, paid_on",
        "line 6, invoice_no",
        "line 6, paid_on",
    ]
    assert read_payments(month_end, group)["payments"] == []
    assert list_audit_rows(month_end.service, "record_payment") == []


def test_the_same_file_is_not_recorded_twice(month_end: MonthEnd, group: str) -> None:
    lines = [f"{INVOICE_NO},1000,2026-10-05,振込,", f"{INVOICE_NO},1000,2026-10-06,,"]
    assert import_file(month_end, *lines).status_code == 200

    response = import_file(month_end, *lines)

    assert list_errors(response, 409) == [("line 2, again", AGAIN), ("line 3, again", AGAIN)]
    assert read_problem(response, 409)["code"] == "payments_refused"
    assert read_amounts(month_end, group)[1] == 2000
    assert import_file(month_end, f"{lines[0]}Yes").status_code == 200
    assert read_amounts(month_end, group)[1] == 3000


def test_equal_lines_of_a_file_are_one_payment_unless_confirmed(
    month_end: MonthEnd, group: str
) -> None:
    line = f"{INVOICE_NO},1000,2026-10-05,,"

    assert list_errors(import_file(month_end, line, line), 409) == [("line 3, again", AGAIN)]
    assert import_file(month_end, line, f"{line}yes").status_code == 200
    assert read_amounts(month_end, group)[1] == 2000


def test_a_payment_by_hand_counts_and_a_reversed_one_does_not(
    month_end: MonthEnd, group: str
) -> None:
    payment = pay(month_end, group, 1000)
    line = f"{INVOICE_NO},1000,2026-10-05,,"

    assert list_errors(import_file(month_end, line), 409) == [("line 2, again", AGAIN)]
    reverse(month_end, group, payment)
    assert import_file(month_end, line).status_code == 200
    assert read_amounts(month_end, group)[1] == 1000


def test_lines_together_pay_at_most_the_open_balance(month_end: MonthEnd, group: str) -> None:
    response = import_file(
        month_end, f"{INVOICE_NO},190000,2026-10-05,,", f"{INVOICE_NO},473,2026-10-05,,"
    )

    ((field, rule),) = list_errors(response, 409)
    assert (field, "472 JPY" in rule) == ("line 3, amount", True)
    assert read_amounts(month_end, group)[1] == 0


def test_only_sent_invoices_that_are_not_cancelled_are_paid(month_end: MonthEnd) -> None:
    created, cancelled = (create_empty_invoice(month_end, name) for name in ("BG-2", "BG-3"))
    send_invoice(month_end, cancelled)
    path = f"/invoices/{MONTH}/{cancelled}/aws/cancelled"
    assert month_end.put(path, {"reason": "x"}).status_code == 200
    numbers = [read_payments(month_end, each)["invoice_no"] for each in (created, cancelled)]

    response = import_file(month_end, *(f"{number},1,2026-10-05,," for number in numbers))

    assert list_errors(response, 409) == [
        ("line 2, invoice_no", SENT),
        ("line 3, invoice_no", SENT),
    ]


def test_invoices_of_others_do_not_exist(month_end: MonthEnd, group: str) -> None:
    line = f"{INVOICE_NO},1,2026-10-05,,"
    other = month_end.create_group("BG-2", "000000000002")
    service = month_end.service
    restricted = service.caller(RoleAction.ModifyInvoice, billing_groups=[other])
    allowed = service.caller(RoleAction.ModifyInvoice, billing_groups=[group])
    foreign = service.root(service.new_organisation())

    for headers in (restricted, foreign):
        errors = list_errors(import_file(month_end, line, headers=headers))
        assert errors == [("line 2, invoice_no", "an existing invoice")]
    read_problem(import_file(month_end, line, headers=service.caller(RoleAction.ReadInvoice)), 403)
    assert read_amounts(month_end, group)[1] == 0
    assert import_file(month_end, line, headers=allowed).status_code == 200


def test_each_payment_has_an_audit_row(month_end: MonthEnd, group: str) -> None:
    response = import_file(
        month_end, f"{INVOICE_NO},1,2026-10-05,,", f"{INVOICE_NO},2,2026-10-05,cash,"
    )

    rows = list_audit_rows(month_end.service, "record_payment")
    created = response.json()["created"]
    assert [row["resource"] for row in rows] == [
        f"invoice/{MONTH}/{group}/aws/payments/{payment['payment_id']}" for payment in created
    ]
    assert [row["company_id"] for row in rows] == [group, group]
    assert rows[1]["sent"] == {
        "csv_line": 3,
        "invoice_no": INVOICE_NO,
        "amount": 2,
        "paid_on": "2026-10-05",
        "note": "cash",
    }


def test_a_repeated_file_with_its_key_gets_the_same_response(
    month_end: MonthEnd, group: str
) -> None:
    headers = month_end.service.root() | {"Idempotency-Key": "file-1"}

    first, second = (
        import_file(month_end, f"{INVOICE_NO},1,2026-10-05,,", headers=headers) for _ in range(2)
    )

    assert first.json() == second.json()
    assert read_amounts(month_end, group)[1] == 1


@pytest.mark.parametrize(
    ("content_type", "content", "status"),
    [
        ("application/json", b"{}", 415),
        ("text/csv", b"", 400),
        ("text/csv", HEADER.encode(), 400),
        ("text/csv", b"invoice_no,amount\n202609-0001,1\n", 400),
        ("text/csv", b"invoice_no,amount,paid_on,x\n202609-0001,1,2026-10-05,1\n", 400),
    ],
)
def test_other_files_are_refused(
    month_end: MonthEnd, content_type: str, content: bytes, status: int
) -> None:
    headers = month_end.service.root() | {"Content-Type": content_type}

    response = month_end.service.http.post(CSV_PATH, content=content, headers=headers)

    read_problem(response, status)
