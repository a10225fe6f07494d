"""POST /m/core/costs/imports/{import_id}/drift/{company_id}: entry, credit note, dismissed."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from nimbill.database.embedded_postgres import Address
from tests.costs.months.month_requests import close_month, reopen_month
from tests.credit_notes.corrected_invoices.late_deliveries import (
    REASON,
    figures,
    import_late,
    late_lines,
    path_of,
    prepare_sent_invoice,
    preview,
    read,
)
from tests.invoicing.month_end import MONTH, PAYER, SETTING, MonthEnd
from tests.problem_responses import read_problem, read_violations
from tests.temporary_database import execute_sql

LOWER, HIGHER = "900.1234567890", "1100.1234567890"
NEXT_MONTH = "2026-10"
MOVED = {"vendor": "aws", "account_id": PAYER, "name": "moved account"}


@pytest.fixture
def group(month_end: MonthEnd) -> str:
    return prepare_sent_invoice(month_end)


def send(month_end: MonthEnd, import_id: str, group: str, decision: str, **more: Any) -> Any:
    body = {"decision": decision, "reason": REASON, **more}
    return month_end.post(f"/costs/imports/{import_id}/drift/{group}", body)


def decide(month_end: MonthEnd, import_id: str, group: str, decision: str, **more: Any) -> Any:
    return read(send(month_end, import_id, group, decision, **more), 201)


def list_drift(month_end: MonthEnd, import_id: str) -> Any:
    return read(month_end.get(f"/costs/imports/{import_id}/drift"))


def create_next_invoice(month_end: MonthEnd, group: str) -> Any:
    next_month = MonthEnd(month_end.service, month_end.folder, month=NEXT_MONTH)
    next_month.prepare_groups(group)
    assert next_month.create_invoices(group).status_code == 200
    return next_month.get_invoice(group)


def test_customers_with_late_costs_are_listed(month_end: MonthEnd, group: str) -> None:
    other = month_end.create_group("BG-0", "333333333333")
    import_id = import_late(
        month_end,
        *late_lines(LOWER),
        late_lines("7")[0] | {"lineItem/UsageAccountId": "333333333333"},
    )

    first, second = list_drift(month_end, import_id)

    assert (first["company_id"], first["invoice_no"]) == (other, None)
    assert (second["company_id"], second["invoice_no"]) == (group, "202609-0001")
    (cost,) = second["late_costs"]
    assert (cost["currency"], cost["usage"], cost["one_off_lines"]) == ("USD", -100, 0)
    assert second["decision"] is None


def test_a_credit_note_returns_what_the_customer_paid_too_much(
    month_end: MonthEnd, group: str
) -> None:
    import_id = import_late(month_end, *late_lines(LOWER))

    decision = decide(month_end, import_id, group, "credit_note")

    note = read(month_end.get(f"/credit-notes/{decision['credit_note_id']}"))
    assert figures(note) == (15741, 1574, 17315)
    assert (note["kind"], note["correction"]["import_id"]) == ("correction", import_id)
    assert (decision["pre_tax"], decision["invoice_no"]) == (-15741, "202609-0001")
    assert (decision["decided_by"], decision["reason"]) == ("root", REASON)
    (listed,) = list_drift(month_end, import_id)
    assert listed["decision"] == decision


def test_an_entry_charges_the_difference_once_and_without_fees(
    month_end: MonthEnd, group: str
) -> None:
    import_id = import_late(month_end, *late_lines(HIGHER))

    decision = decide(month_end, import_id, group, "entry", entry_month=NEXT_MONTH)

    assert (decision["pre_tax"], decision["currency"]) == (189328 - 173156, "jpy")
    sheet = create_next_invoice(month_end, group)["sheet"]
    (entry,) = sheet["entries"]
    assert (entry["amount"], entry["calc_type"]) == (16172, "Correction")
    assert entry["description"] == "2026-09分請求書（202609-0001）の訂正"
    # neither discount nor fee is calculated on it, and the tax once
    assert (sheet["pre_tax"], sheet["tax"]) == (16172, 1617)


def test_an_entry_is_taken_back_only_by_another_correction(month_end: MonthEnd, group: str) -> None:
    import_id = import_late(month_end, *late_lines(HIGHER))
    decision = decide(month_end, import_id, group, "entry", entry_month=NEXT_MONTH)

    response = month_end.post(
        "/billinggroup/recalculation",
        {
            "month": NEXT_MONTH,
            "vendor": "aws",
            "apply": False,
            "exchange_rate": 0,
            "tax_free": False,
            "data": [decision["entry_id"]],
        },
    )

    assert read_problem(response, 409)["code"] == "entry_of_correction"
    again = import_late(month_end, *late_lines("1000.5"))
    counter = decide(month_end, again, group, "entry", entry_month=NEXT_MONTH)
    assert counter["pre_tax"] == preview_of(month_end, group, again) - 173156 - 16172


def preview_of(month_end: MonthEnd, group: str, import_id: str) -> Any:
    return preview(month_end, group, import_id=import_id)["rates"][0]["corrected"]


def test_both_months_tie_out_after_an_entry(month_end: MonthEnd, group: str) -> None:
    import_id = import_late(month_end, *late_lines(HIGHER))
    decide(month_end, import_id, group, "entry", entry_month=NEXT_MONTH)
    before = read(month_end.get(f"/invoices/tie-out/{NEXT_MONTH}?vendor=aws"))
    create_next_invoice(month_end, group)

    after = read(month_end.get(f"/invoices/tie-out/{NEXT_MONTH}?vendor=aws"))
    corrected = read(month_end.get(f"/invoices/tie-out/{MONTH}?vendor=aws"))

    assert [each["reason"] for each in before["entry_differences"]] == ["invoice_missing"]
    assert (after["state"], corrected["state"]) == ("ties", "ties")
    (late,) = corrected["late_costs"]
    assert (late["import_id"], late["company_id"]) == (import_id, group)
    assert (late["currency"], late["amount"], late["decision"]) == ("USD", 100, "entry")


def test_a_month_is_corrected_when_all_late_costs_are_decided(
    month_end: MonthEnd, group: str
) -> None:
    first = import_late(month_end, *late_lines(LOWER))
    second = import_late(month_end, *late_lines("950"))

    def read_step() -> Any:
        month = read(month_end.get(f"/months/{MONTH}?vendor=aws"))
        (step,) = [step for step in month["steps"] if step["step"] == "corrected"]
        return step["state"]

    assert read_step() == "ready"
    decide(month_end, first, group, "dismissed")
    assert read_step() == "ready"
    decide(month_end, second, group, "dismissed")
    assert read_step() == "done"


def test_a_decision_about_a_later_delivery_covers_the_earlier_one(
    month_end: MonthEnd, group: str
) -> None:
    import_late(month_end, *late_lines(LOWER))
    second = import_late(month_end, *late_lines("950"))
    decide(month_end, second, group, "credit_note")

    month = read(month_end.get(f"/months/{MONTH}?vendor=aws"))

    assert {step["step"]: step["state"] for step in month["steps"]}["corrected"] == "done"


def test_a_dismissal_has_a_reason_and_no_document(month_end: MonthEnd, group: str) -> None:
    import_id = import_late(month_end, *late_lines(LOWER))

    decision = decide(month_end, import_id, group, "dismissed")

    assert (decision["decision"], decision["reason"]) == ("dismissed", REASON)
    assert [decision[name] for name in ("pre_tax", "entry_id", "credit_note_id")] == [None] * 3
    assert month_end.get(path_of(group, "/credit-notes")).json() == []


def test_late_costs_are_decided_once(month_end: MonthEnd, group: str) -> None:
    import_id = import_late(month_end, *late_lines(LOWER))
    decide(month_end, import_id, group, "credit_note")

    for decision in ("credit_note", "dismissed", "replacement"):
        again = send(month_end, import_id, group, decision)
        assert read_problem(again, 409)["code"] == "already_decided"
    assert len(month_end.get(path_of(group, "/credit-notes")).json()) == 1


def test_a_later_delivery_is_compared_with_what_was_settled(
    month_end: MonthEnd, group: str
) -> None:
    first = import_late(month_end, *late_lines("950.1234567890"))
    decide(month_end, first, group, "credit_note")
    second = import_late(month_end, *late_lines(LOWER))

    decision = decide(month_end, second, group, "credit_note")

    # 173156 - 165070 = 8086 was returned before
    assert decision["pre_tax"] == -(15741 - 8086)
    third = import_late(month_end, *late_lines("950.1234567890"))
    higher = send(month_end, third, group, "credit_note")
    assert read_problem(higher, 409)["code"] == "corrected_is_higher"


def test_an_entry_and_a_note_do_not_mix(month_end: MonthEnd, group: str) -> None:
    first = import_late(month_end, *late_lines(HIGHER))
    decide(month_end, first, group, "entry", entry_month=NEXT_MONTH)
    second = import_late(month_end, *late_lines(LOWER))

    for decision in ("credit_note", "replacement"):
        refused = send(month_end, second, group, decision)
        assert read_problem(refused, 409)["code"] == "corrected_by_entry"
    entry = decide(month_end, second, group, "entry", entry_month=NEXT_MONTH)
    assert entry["pre_tax"] == 157415 - 189328


@pytest.mark.parametrize(
    ("ec2", "decision", "more", "code"),
    [
        (HIGHER, "credit_note", {}, "corrected_is_higher"),
        (LOWER, "entry", {"entry_month": MONTH}, "month_before_entry"),
        (LOWER, "entry", {"entry_month": "2026-08"}, "month_before_entry"),
    ],
)
def test_what_cannot_be_decided(
    month_end: MonthEnd, group: str, ec2: str, decision: str, more: dict[str, Any], code: str
) -> None:
    import_id = import_late(month_end, *late_lines(ec2))

    response = send(month_end, import_id, group, decision, **more)

    assert read_problem(response, 409)["code"] == code
    (listed,) = list_drift(month_end, import_id)
    assert listed["decision"] is None


def test_another_tax_rate_cannot_be_netted(month_end: MonthEnd, group: str) -> None:
    import_id = import_late(month_end, *late_lines(HIGHER))
    next_month = MonthEnd(month_end.service, month_end.folder, month=NEXT_MONTH)
    assert next_month.save_settings(group, tax_rate=Decimal("0.08")).status_code == 200

    response = send(month_end, import_id, group, "entry", entry_month=NEXT_MONTH)

    assert SETTING["tax_rate"] == Decimal("0.10")
    assert read_problem(response, 409)["code"] == "other_tax_rate"


def test_a_reopened_month_is_imported_instead(month_end: MonthEnd, group: str) -> None:
    import_id = import_late(month_end, *late_lines(LOWER))
    assert reopen_month(month_end.service, MONTH).status_code == 200

    response = send(month_end, import_id, group, "credit_note")

    assert read_problem(response, 409)["code"] == "month_open"


def test_late_costs_differ_from_those_of_the_invoice(month_end: MonthEnd, group: str) -> None:
    assert reopen_month(month_end.service, MONTH).status_code == 200
    assert month_end.import_costs(*late_lines(LOWER))["state"] == "done"
    assert close_month(month_end.service, MONTH).status_code == 200
    import_id = import_late(month_end, *late_lines(HIGHER))

    response = send(month_end, import_id, group, "credit_note")

    assert read_problem(response, 409)["code"] == "costs_replaced"


def test_late_costs_in_another_currency_are_refused(month_end: MonthEnd, group: str) -> None:
    yen = late_lines("1000.1234567890")[0] | {"lineItem/CurrencyCode": "JPY"}
    import_id = import_late(month_end, *late_lines("1000.1234567890"), yen)

    response = send(month_end, import_id, group, "credit_note")

    assert read_problem(response, 409)["code"] == "other_currency"


def test_a_customer_without_an_invoice_is_only_dismissed(month_end: MonthEnd, group: str) -> None:
    other = month_end.create_group("BG-0", "333333333333")
    assert group != other
    import_id = import_late(
        month_end,
        *late_lines("1000.1234567890"),
        late_lines("7")[0] | {"lineItem/UsageAccountId": "333333333333"},
    )

    refused = send(month_end, import_id, other, "entry", entry_month=NEXT_MONTH)

    assert read_problem(refused, 409)["code"] == "invoice_missing"
    assert decide(month_end, import_id, other, "dismissed")["invoice_no"] is None
    read_problem(send(month_end, import_id, group, "dismissed"), 404)


def test_an_account_belongs_to_the_group_that_was_invoiced(month_end: MonthEnd, group: str) -> None:
    other = month_end.create_group("BG-0", "333333333333")
    moved = month_end.put("/accts/111111111111/edit", MOVED | {"company_id": other})
    assert moved.status_code == 200, moved.text
    import_id = import_late(month_end, *late_lines(LOWER))

    (listed,) = list_drift(month_end, import_id)

    assert listed["company_id"] == group


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"decision": "later"}, "decision"),
        ({"reason": ""}, "reason"),
        ({"decision": "entry"}, "entry_month"),
        ({"decision": "dismissed", "entry_month": NEXT_MONTH}, "entry_month"),
        ({"decision": "entry", "entry_month": "2026-13"}, "entry_month"),
    ],
)
def test_bad_requests_are_refused(month_end: MonthEnd, body: dict[str, Any], field: str) -> None:
    sent = {"decision": "dismissed", "reason": REASON} | body

    response = month_end.post("/costs/imports/imp/drift/cmp", sent)

    assert field in dict(read_violations(response))


@pytest.mark.parametrize(
    "change", ["UPDATE drift_decisions SET reason = ''", "DELETE FROM drift_decisions"]
)
def test_not_even_the_owner_changes_a_decision(superuser: Address, change: str) -> None:
    with pytest.raises(Exception, match="cannot be changed"):
        execute_sql(superuser, change)
