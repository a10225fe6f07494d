"""Issuing credit notes for sent invoices, and what is refused."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.database.embedded_postgres import Address
from nimbill.foundation import exact_json
from tests.invoicing.invoice_runs import prepare_example_a
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.invoicing.pdf.pdf_text import extract_text, remove_whitespace
from tests.problem_responses import read_problem, read_violations
from tests.temporary_database import execute_sql

REASON = "The discount was missing."


@pytest.fixture
def group(month_end: MonthEnd) -> str:
    """Example A, sent: 173156 before tax, 17316 tax, 190472 in total."""
    company_id = prepare_example_a(month_end)
    month_end.create_invoices(company_id)
    assert month_end.put(path_of(company_id, "/sent"), {"revision": 1}).status_code == 200
    return company_id


def path_of(group: str, rest: str = "/credit-notes") -> str:
    return f"/invoices/{MONTH}/{group}/aws{rest}"


def request(month_end: MonthEnd, group: str, kind: str, headers: Any = None, **more: Any) -> Any:
    return month_end.post(path_of(group), {"kind": kind, "reason": REASON, **more}, headers)


def issue(month_end: MonthEnd, group: str, kind: str, **more: Any) -> Any:
    response = request(month_end, group, kind, **more)
    assert response.status_code == 201, response.text
    return exact_json.decode_stored(response.text)


def by_hand(amount: object, *, tax_free: bool = False) -> dict[str, Any]:
    return {"amounts": [{"description": "Discount", "amount": amount, "tax_free": tax_free}]}


def figures(note: Any) -> tuple[Any, ...]:
    return note["pre_tax"], note["tax"], note["total"]


def test_a_full_note_returns_the_invoice(month_end: MonthEnd, group: str) -> None:
    note = issue(month_end, group, "full")

    assert figures(note) == (173156, 17316, 190472)
    assert (note["invoice_no"], note["revision"], note["month"]) == ("202609-0001", 1, MONTH)
    (tax,) = note["taxes"]
    assert (tax["tax_rate"], tax["pre_tax"], tax["tax"]) == (Decimal("0.10"), 173156, 17316)
    again = request(month_end, group, "full")
    assert read_problem(again, 409)["code"] == "nothing_to_credit"


def test_a_note_by_line_corrects_the_tax_of_the_invoice(month_end: MonthEnd, group: str) -> None:
    note = issue(month_end, group, "lines", lines=["usage-2"])

    # 17316 - round(165983 × 0.10); 7173 × 0.10 would be 717
    assert figures(note) == (7173, 718, 7891)
    (amount,) = note["amounts"]
    assert (amount["line"], amount["description"]) == ("usage-2", "111111111111 AmazonS3")
    repeated = request(month_end, group, "lines", lines=["usage-1", "usage-2"])
    assert read_problem(repeated, 409)["code"] == "line_already_credited"


def test_a_note_by_hand_is_taxed_at_the_rate_of_the_invoice(
    month_end: MonthEnd, group: str
) -> None:
    note = issue(month_end, group, "manual", **by_hand(7173))

    assert figures(note) == (7173, 717, 7890)


def test_notes_and_invoice_add_up_to_nothing(month_end: MonthEnd, group: str) -> None:
    notes = [
        issue(month_end, group, "lines", lines=["support", "agency"]),
        issue(month_end, group, "manual", **by_hand(1005)),
        issue(month_end, group, "full"),
    ]

    assert [sum(column) for column in zip(*map(figures, notes), strict=True)] == [
        173156,
        17316,
        190472,
    ]
    state = exact_json.decode_stored(month_end.get(path_of(group, "/state")).text)
    assert state["credited"] == 190472
    assert state["credit_notes"] == [note["credit_note_no"] for note in notes]


def test_a_note_is_never_more_than_what_is_left(month_end: MonthEnd, group: str) -> None:
    issue(month_end, group, "manual", **by_hand(173000))

    for kind, more in (
        ("manual", by_hand(157)),
        ("lines", {"lines": ["usage-1"]}),
        ("manual", by_hand(1, tax_free=True)),  # nothing of the invoice is free of tax
    ):
        assert read_problem(request(month_end, group, kind, **more), 409)["code"] == (
            "exceeds_invoice"
        )
    assert len(month_end.get(path_of(group)).json()) == 1


def test_numbers_are_a_series_without_gaps(month_end: MonthEnd, group: str) -> None:
    first = issue(month_end, group, "manual", **by_hand(1000))
    request(month_end, group, "manual", **by_hand(10**9))  # refused, and uses no number
    second = issue(month_end, group, "manual", **by_hand(1000))

    series = f"CN{first['issue_date'][:7].replace('-', '')}"
    assert [first["credit_note_no"], second["credit_note_no"]] == [
        f"{series}-0001",
        f"{series}-0002",
    ]


def test_notes_are_found_from_the_invoice_and_by_month(month_end: MonthEnd, group: str) -> None:
    note = issue(month_end, group, "manual", **by_hand(1000))

    (listed,) = exact_json.decode_stored(month_end.get(path_of(group)).text)
    month = note["issue_date"][:7]
    (of_month,) = exact_json.decode_stored(month_end.get(f"/credit-notes/issued/{month}").text)
    read = exact_json.decode_stored(month_end.get(f"/credit-notes/{note['credit_note_id']}").text)

    assert listed == of_month
    assert (listed["credit_note_id"], listed["total"]) == (note["credit_note_id"], 1100)
    assert (listed["created_by"], listed["invoice_no"]) == ("root", "202609-0001")
    assert read == note
    assert month_end.get("/credit-notes/issued/2020-01").json() == []


def test_the_csv_has_a_row_for_each_tax_rate(month_end: MonthEnd, group: str) -> None:
    note = issue(month_end, group, "manual", **by_hand(1000))
    month = note["issue_date"][:7]

    response = month_end.get(f"/credit-notes/issued/{month}/csv")

    (row,) = csv.DictReader(io.StringIO(response.content.decode("utf-8-sig")))
    assert row["返還請求書番号"] == note["credit_note_no"]
    assert (row["請求書番号"], row["税率"]) == ("202609-0001", "0.10")
    assert [row[f"返還金額（{kind}）"] for kind in ("税抜", "税込")] == ["1000", "1100"]
    assert (row["消費税"], row["理由"]) == ("100", REASON)


def test_only_a_sent_invoice_is_credited(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)
    read_problem(request(month_end, group, "full"), 404)
    month_end.create_invoices(group)

    assert read_problem(request(month_end, group, "full"), 409)["code"] == "not_sent"
    assert month_end.get(path_of(group)).json() == []


def test_a_cancelled_invoice_is_not_credited_and_a_credited_one_not_cancelled(
    month_end: MonthEnd, group: str
) -> None:
    other = month_end.create_group("BG-2", "000000000002")
    month_end.prepare_groups(other)
    month_end.create_invoices(other)
    month_end.put(path_of(other, "/sent"), {"revision": 1})
    assert month_end.put(path_of(other, "/cancelled"), {"reason": "x"}).status_code == 200
    issue(month_end, group, "manual", **by_hand(1))

    credited = request(month_end, other, "full")
    cancelled = month_end.put(path_of(group, "/cancelled"), {"reason": "x"})

    assert read_problem(credited, 409)["code"] == "invoice_cancelled"
    assert read_problem(cancelled, 409)["code"] == "has_credit_notes"


# bodies, and the field that each violates
BAD_REQUESTS: list[tuple[dict[str, Any], str]] = [
    ({"kind": "half"}, "kind"),
    ({"kind": "full", "reason": ""}, "reason"),
    ({"kind": "full", "lines": ["usage-1"]}, "lines"),
    ({"kind": "full", **by_hand(1)}, "amounts"),
    ({"kind": "lines"}, "lines"),
    ({"kind": "lines", "lines": []}, "lines"),
    ({"kind": "lines", "lines": ["usage-9"]}, "lines[0]"),
    ({"kind": "lines", "lines": ["usage-1", "usage-1"]}, "lines[1]"),
    ({"kind": "manual"}, "amounts"),
    ({"kind": "manual", **by_hand(0)}, "amounts[0].amount"),
    ({"kind": "manual", **by_hand(-1)}, "amounts[0].amount"),
    ({"kind": "manual", **by_hand(1.5)}, "amounts[0].amount"),
]


def test_bad_requests_are_refused(month_end: MonthEnd, group: str) -> None:
    for body, field in BAD_REQUESTS:
        response = month_end.post(path_of(group), {"reason": REASON, **body})

        ((named, _),) = read_violations(response)
        assert named == field, body
        assert month_end.get(path_of(group)).json() == []


def test_others_see_and_issue_nothing(month_end: MonthEnd, group: str) -> None:
    note = issue(month_end, group, "manual", **by_hand(1000))
    other = month_end.create_group("BG-2", "000000000002")
    restricted = month_end.service.caller(RoleAction.ModifyInvoice, billing_groups=[other])
    reader = month_end.service.caller(RoleAction.ReadInvoice)
    note_path = f"/credit-notes/{note['credit_note_id']}"

    for path in (path_of(group), note_path, f"{note_path}/pdf"):
        read_problem(month_end.get(path, restricted), 404)
        assert month_end.get(path, reader).status_code == 200
    month = note["issue_date"][:7]
    assert month_end.get(f"/credit-notes/issued/{month}", restricted).json() == []
    read_problem(request(month_end, group, "full", restricted), 404)
    read_problem(request(month_end, group, "full", reader), 403)


@pytest.mark.parametrize(
    "change",
    ["UPDATE credit_notes SET number = 7", "DELETE FROM credit_notes", "TRUNCATE credit_notes"],
)
def test_not_even_the_owner_changes_a_note(superuser: Address, change: str) -> None:
    with pytest.raises(Exception, match="cannot be changed"):
        execute_sql(superuser, change)


def test_issuing_is_audited_with_the_request(month_end: MonthEnd, group: str) -> None:
    issue(month_end, group, "lines", lines=["usage-1"])

    (entry,) = month_end.get("/audit?action=issue_credit_note").json()

    assert entry["resource"] == f"invoice/{MONTH}/{group}/aws"
    assert entry["sent"] == {"kind": "lines", "reason": REASON, "lines": ["usage-1"]}


def test_the_pdf_is_stored_and_stays_the_same(month_end: MonthEnd, group: str) -> None:
    note = issue(month_end, group, "lines", lines=["usage-2", "support"])
    path = f"/credit-notes/{note['credit_note_id']}/pdf"

    first, second = month_end.get(path), month_end.get(path)

    assert first.content == second.content
    assert first.headers["content-disposition"] == (
        f'inline; filename="{note["credit_note_no"]}.pdf"'
    )
    text = remove_whitespace(extract_text(first.content))
    for part in (note["credit_note_no"], "202609-0001", "返還請求書", "2026年9月", "AmazonS3"):
        assert part in text
    assert "サポート料金" in text
    assert remove_whitespace(REASON) in text
