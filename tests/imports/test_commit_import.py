"""An import replaces a payer's month as a whole, once, or changes nothing."""

from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from nimbill.costs.ingestion import conversion
from nimbill.costs.ingestion.normalize import ImportWarnings, NormalizedBatch, normalize
from nimbill.imports.preparation import PreparedImport
from tests.imports.small_files import CUSTOMER, PAYER, cost, write
from tests.imports.taking import Taking, finished, totals

OTHER = "333333333333"


def test_a_month_comes_in_with_its_totals(taking: Taking, tmp_path: Path) -> None:
    file = write(
        tmp_path / "a.csv",
        [cost("1.0000000001"), cost("2"), cost("0.5", LineItemType="Tax"), cost("0", Team="x")],
    )

    record = taking(file)

    assert record["state"] == "done"
    assert record["month"] == "2026-09"
    assert record["lines"] == 4
    assert record["provisional"] is False
    assert [(t["line_type"], t["kind"], t["cost"], t["lines"]) for t in record["totals"]] == [
        ("Tax", "tax", 0.5, 1),
        ("Usage", "usage", 3.0000000001, 3),
    ]
    assert totals(taking) == {CUSTOMER: Decimal("3.5000000001")}


def test_the_same_delivery_again_changes_nothing(taking: Taking, tmp_path: Path) -> None:
    first = taking(write(tmp_path / "a.csv", [cost("1")]))
    again = taking(write(tmp_path / "other-name.csv", [cost("1")]))

    assert (first["state"], again["state"]) == ("done", "unchanged")
    assert again["month"] == "2026-09"
    assert taking.stored("SELECT import_id FROM cost_months")[0].import_id == first["import_id"]


def test_a_later_delivery_replaces_the_whole_month(taking: Taking, tmp_path: Path) -> None:
    taking(write(tmp_path / "a.csv", [cost("1"), cost("2", UsageAccountId=OTHER)]))

    taking(write(tmp_path / "b.csv", [cost("5")]))

    assert totals(taking) == {CUSTOMER: Decimal(5)}
    assert taking.stored("SELECT count(*) AS n FROM lake_files")[0].n == 1


def test_an_older_assembly_is_refused_once_a_newer_one_counts(
    taking: Taking, tmp_path: Path
) -> None:
    old, new = write(tmp_path / "a.csv", [cost("1")]), write(tmp_path / "b.csv", [cost("2")])
    taking(old)
    taking(new)

    refused = taking(old)

    assert refused["state"] == "refused"
    assert (refused["problem"]["status"], refused["problem"]["code"]) == (409, "older_assembly")
    assert totals(taking) == {CUSTOMER: Decimal(2)}


def test_another_payer_of_the_month_stays_as_it_is(taking: Taking, tmp_path: Path) -> None:
    elsewhere = cost("7", PayerAccountId="999999999999", UsageAccountId=OTHER)
    taking(write(tmp_path / "a.csv", [elsewhere]))
    taking(write(tmp_path / "b.csv", [cost("1")]))

    taking(write(tmp_path / "c.csv", [cost("2")]))

    assert totals(taking) == {OTHER: Decimal(7), CUSTOMER: Decimal(2)}


def test_a_broken_file_is_refused_with_its_place_and_changes_nothing(
    taking: Taking, tmp_path: Path
) -> None:
    taking(write(tmp_path / "a.csv", [cost("1")]))

    refused = taking(write(tmp_path / "b.csv", [cost("2"), cost("1_000")]))

    assert refused["state"] == "refused"
    problem = refused["problem"]
    assert (problem["status"], problem["code"]) == (400, "number")
    assert (problem["file"], problem["line"]) == ("b.csv", 3)
    assert problem["column"] == "lineItem/UnblendedCost"
    assert totals(taking) == {CUSTOMER: Decimal(1)}


def test_lines_without_the_vendors_invoice_id_are_provisional(
    taking: Taking, tmp_path: Path
) -> None:
    assert taking(write(tmp_path / "a.csv", [cost("1", InvoiceId="")]))["provisional"] is True
    assert taking.stored("SELECT provisional FROM cost_months")[0].provisional is True

    assert taking(write(tmp_path / "b.csv", [cost("1")]))["provisional"] is False
    assert taking.stored("SELECT provisional FROM cost_months")[0].provisional is False


def test_what_is_odd_is_counted_and_shown(taking: Taking, tmp_path: Path) -> None:
    file = write(
        tmp_path / "a.csv",
        [
            cost("1", LineItemType="FlatRateSubscription"),
            cost("2", CurrencyCode="nok"),
            cost("0.12345678901234567890125"),
            cost("1", UsageStartDate="2026-08-31T23:00:00Z"),
        ],
    )

    record = taking(file)

    assert record["unknown_types"] == {"FlatRateSubscription": 1}
    assert record["currencies"] == {"NOK": 1, "USD": 3}
    assert record["accounts_in_no_group"] == [CUSTOMER]
    assert record["noticed"]["rounded_lines"] == 1
    assert record["noticed"]["usage_outside_month"] == 1
    stored = taking.stored("SELECT sum(cost) AS cost FROM cost_sums WHERE kind = 'unknown'")
    assert stored[0].cost == 1


def test_one_off_lines_become_entries_that_nobody_is_billed_yet(
    taking: Taking, tmp_path: Path
) -> None:
    taking(
        write(
            tmp_path / "a.csv",
            [
                cost("100.50", LineItemType="Fee", LineItemDescription="support"),
                cost("-3", LineItemType="Credit"),
                cost("-4", LineItemType="Refund"),
                cost("5", LineItemType="SavingsPlanUpfrontFee"),
                cost("-3", LineItemType="Credit"),  # the same again is another one
            ],
        )
    )

    answer = taking.service.http.get(
        "/m/core/billinggroup/recalculation/2026-09",
        params={"vendor": "aws"},
        headers=taking.headers,
    )

    entries = answer.json()
    assert sorted((entry["calc_type"], entry["unblended_cost"]) for entry in entries) == [
        ("Credit", "-3"),
        ("Credit", "-3"),
        ("Fee", "100.5"),
        ("Refund", "-4"),
        ("Upfront", "5"),
    ]
    fee = next(entry for entry in entries if entry["calc_type"] == "Fee")
    assert fee["description"] == "support"
    assert (fee["platform_type"], fee["product_code"]) == ("AWS", "AmazonEC2")
    assert fee["product_name"] == "Amazon Elastic Compute Cloud"
    assert fee["account_id"] == PAYER
    assert fee["time_interval"] == "2026-09-05T10:00:00Z/2026-09-05T11:00:00Z"
    assert all(entry["apply"] is False for entry in entries)


def test_reservation_lines_become_ri_records_of_their_owner(taking: Taking, tmp_path: Path) -> None:
    arn = "arn:aws:ec2:ap-northeast-1:222222222222:reserved-instances/1"
    fee = cost(
        "72",
        LineItemType="RIFee",
        ReservationARN=arn,
        NumberOfReservations="3",
        StartTime="2026-01-01T00:00:00.000Z",
        EndTime="2027-01-01T00:00:00.000Z",
    )
    used = cost("0", LineItemType="DiscountedUsage", ReservationARN=arn, UsageAccountId=OTHER)
    taking(write(tmp_path / "a.csv", [fee, used]))

    answer = taking.service.http.get(
        "/m/core/ri/purchased", params={"vendor": "aws"}, headers=taking.headers
    )

    (record,) = answer.json()
    assert (record["arn"], record["customer_id"], record["number"]) == (arn, CUSTOMER, 3)
    assert record["start"] == "2026-01-01T00:00:00Z"


def test_a_check_that_does_not_agree_parks_the_month_until_it_is_released(
    taking: Taking, tmp_path: Path
) -> None:
    taking(write(tmp_path / "a.csv", [cost("1")]))
    parked = _parked(taking, write(tmp_path / "b.csv", [cost("2")]))

    assert parked["state"] == "parked"
    assert parked["differences"][0]["delivered"] == 3
    assert parked["differences"][0]["stored"] == 2
    assert totals(taking) == {CUSTOMER: Decimal(1)}  # what counted before still counts

    refused = _release(taking, parked["import_id"], reason="")
    assert refused.status_code == 400
    assert _release(taking, parked["import_id"]).status_code == 202
    assert _released(taking, parked["import_id"])["state"] == "done"
    assert totals(taking) == {CUSTOMER: Decimal(2)}
    assert _release(taking, parked["import_id"]).status_code == 409


def test_what_the_second_reading_cannot_read_parks_the_month_with_the_reason(
    taking: Taking, tmp_path: Path
) -> None:
    with patch(
        "nimbill.costs.ingestion.second_reading._cost",
        return_value="CAST('no cost' AS DECIMAL(38, 22))",
    ):
        record = taking(write(tmp_path / "a.csv", [cost("1")]))

    assert record["state"] == "parked"
    assert record["parked_reason"] == "the second reading could not read a.csv"
    assert totals(taking) == {}


def test_sums_that_outgrow_a_decimal_are_checked_and_kept_to_the_last_digit(
    taking: Taking, tmp_path: Path
) -> None:
    most, least = "9999999999999999.5", "0.0000000000000000000001"

    record = taking(write(tmp_path / "a.csv", [cost(most), cost(most), cost(least)]))

    assert (record["state"], record["differences"]) == ("done", [])
    assert totals(taking) == {CUSTOMER: Decimal("19999999999999999.0000000000000000000001")}


def test_a_good_import_settles_what_was_parked(taking: Taking, tmp_path: Path) -> None:
    parked = _parked(taking, write(tmp_path / "b.csv", [cost("2")]))

    assert taking(write(tmp_path / "c.csv", [cost("3")]))["state"] == "done"

    after = taking.record(parked["import_id"])
    assert (after["state"], after["problem"]["code"]) == ("refused", "superseded")
    assert taking.stored("SELECT count(*) AS n FROM parked_months")[0].n == 0


def test_an_import_of_another_payer_leaves_it_parked(taking: Taking, tmp_path: Path) -> None:
    parked = _parked(taking, write(tmp_path / "b.csv", [cost("2")]))

    taking(write(tmp_path / "c.csv", [cost("3", PayerAccountId="999999999999")]))

    assert taking.record(parked["import_id"])["state"] == "parked"
    assert taking.stored("SELECT count(*) AS n FROM parked_months")[0].n == 1


def _parked(taking: Taking, file: Path) -> dict[str, Any]:
    """As if the second reading had found a line more."""
    import_id = taking.start(file)
    prepared = taking.prepare(import_id)
    whose = {"payer_id": PAYER, "customer_id": CUSTOMER, "currency": "USD"}
    sums = {"delivered": "3", "stored": "2", "delivered_lines": 2, "stored_lines": 1}
    prepared.differences = [whose | sums]
    taking.settle(import_id, prepared)
    return taking.record(import_id)


def _release(taking: Taking, import_id: str, reason: str = "looked at it") -> Any:
    return taking.service.http.post(
        f"/m/core/costs/imports/{import_id}/release",
        json={"reason": reason},
        headers=taking.headers,
    )


def _released(taking: Taking, import_id: str) -> dict[str, Any]:
    return finished(taking.service, import_id, taking.headers)


def test_a_closed_month_is_not_altered_and_the_drift_is_told(
    taking: Taking, tmp_path: Path
) -> None:
    taking(write(tmp_path / "a.csv", [cost("1")]))
    closing = taking.service.http.post(
        "/m/core/invoices/close/2026-09", json={"vendor": "aws"}, headers=taking.headers
    )
    assert closing.status_code == 200, closing.text

    late = taking(write(tmp_path / "b.csv", [cost("1"), cost("-0.25", LineItemType="Refund")]))

    assert late["state"] == "drift"
    assert late["drift"] == [
        {
            "customer_id": CUSTOMER,
            "line_type": "Refund",
            "currency": "USD",
            "counts": 0,
            "delivered": -0.25,
        }
    ]
    assert totals(taking) == {CUSTOMER: Decimal(1)}


@pytest.mark.parametrize("given", [None, "2026-09"])
def test_a_header_alone_is_a_valid_nothing(
    taking: Taking, tmp_path: Path, given: str | None
) -> None:
    record = taking(write(tmp_path / "a.csv", []), month=given)

    assert (record["state"], record["lines"]) == ("done", 0)
    assert totals(taking) == {}


@pytest.mark.parametrize("given", [None, "2026-09"])
def test_a_header_alone_is_refused_where_it_might_be_to_replace_what_counts(
    taking: Taking, tmp_path: Path, given: str | None
) -> None:
    taking(write(tmp_path / "a.csv", [cost("1")]))

    record = taking(write(tmp_path / "b.csv", []), month=given)

    problem = record["problem"]
    assert (record["state"], problem["status"], problem["code"]) == (
        "refused",
        409,
        "empty_delivery",
    )
    assert totals(taking) == {CUSTOMER: Decimal(1)}
    assert taking(tmp_path / "b.csv", month="2026-08")["state"] == "done"


@pytest.mark.parametrize(("given", "state"), [("2026-09", "parked"), (None, "refused")])
def test_nothing_is_no_valid_nothing_where_the_second_reading_finds_lines(
    taking: Taking, tmp_path: Path, given: str | None, state: str
) -> None:
    def lost(*args: Any, **named: Any) -> NormalizedBatch:
        return NormalizedBatch(normalize(*args, **named).lines.slice(0, 0), ImportWarnings())

    source = write(tmp_path / "a.csv", [cost("1")])
    with patch.object(conversion, "bring", lost):
        record = taking(source, month=given)

    assert record["state"] == state
    if state == "refused":
        assert record["problem"]["code"] == "nothing_read"
    assert totals(taking) == {}
    assert taking(source)["state"] == "done", "once it is read as it should be"
    assert totals(taking) == {CUSTOMER: Decimal(1)}


def test_what_a_process_answers_can_be_told_twice(taking: Taking, tmp_path: Path) -> None:
    """A process that died after the commit and before its row was marked does it once more."""
    import_id = taking.start(write(tmp_path / "a.csv", [cost("1")]))
    prepared: PreparedImport = taking.prepare(import_id)
    taking.settle(import_id, prepared)

    again = taking.start(tmp_path / "a.csv")
    taking.settle(again, taking.prepare(again))

    assert taking.record(again)["state"] == "unchanged"
    assert totals(taking) == {CUSTOMER: Decimal(1)}
