"""An import replaces the complete month of a payer, or changes nothing."""

from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from nimbill.costs.ingestion import conversion
from nimbill.costs.ingestion.import_warnings import ImportWarnings
from nimbill.costs.ingestion.normalize import NormalizedBatch, normalize
from nimbill.imports.preparation import PreparedImport
from tests.costs.months.month_requests import close_month
from tests.imports.aws_reports import CUSTOMER, PAYER, report_line, write_report
from tests.imports.in_process_importer import InProcessImporter, load_totals, wait_for_import

OTHER_CUSTOMER = "333333333333"


def test_a_month_is_imported_with_its_totals(importer: InProcessImporter, tmp_path: Path) -> None:
    file = write_report(
        tmp_path / "a.csv",
        [
            report_line("1.0000000001"),
            report_line("2"),
            report_line("0.5", LineItemType="Tax"),
            report_line("0", Team="x"),
        ],
    )

    record = importer(file)

    assert record["state"] == "done"
    assert record["month"] == "2026-09"
    assert record["lines"] == 4
    assert record["provisional"] is False
    assert [(t["line_type"], t["kind"], t["cost"], t["lines"]) for t in record["totals"]] == [
        ("Tax", "tax", 0.5, 1),
        ("Usage", "usage", 3.0000000001, 3),
    ]
    assert load_totals(importer) == {CUSTOMER: Decimal("3.5000000001")}


def test_importing_the_same_delivery_again_changes_nothing(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    first = importer(write_report(tmp_path / "a.csv", [report_line("1")]))
    second = importer(write_report(tmp_path / "other-name.csv", [report_line("1")]))

    assert (first["state"], second["state"]) == ("done", "unchanged")
    assert second["month"] == "2026-09"
    assert importer.query("SELECT import_id FROM cost_months")[0].import_id == first["import_id"]


def test_a_later_delivery_replaces_the_whole_month(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    importer(
        write_report(
            tmp_path / "a.csv", [report_line("1"), report_line("2", UsageAccountId=OTHER_CUSTOMER)]
        )
    )

    importer(write_report(tmp_path / "b.csv", [report_line("5")]))

    assert load_totals(importer) == {CUSTOMER: Decimal(5)}
    assert importer.query("SELECT count(*) AS n FROM lake_files")[0].n == 1


def test_an_older_delivery_is_refused_after_a_newer_one(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    old, new = (
        write_report(tmp_path / "a.csv", [report_line("1")]),
        write_report(tmp_path / "b.csv", [report_line("2")]),
    )
    importer(old)
    importer(new)

    refused = importer(old)

    assert refused["state"] == "refused"
    assert (refused["problem"]["status"], refused["problem"]["code"]) == (409, "older_assembly")
    assert load_totals(importer) == {CUSTOMER: Decimal(2)}


def test_other_payers_of_the_month_are_not_changed(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    other_payer = report_line("7", PayerAccountId="999999999999", UsageAccountId=OTHER_CUSTOMER)
    importer(write_report(tmp_path / "a.csv", [other_payer]))
    importer(write_report(tmp_path / "b.csv", [report_line("1")]))

    importer(write_report(tmp_path / "c.csv", [report_line("2")]))

    assert load_totals(importer) == {OTHER_CUSTOMER: Decimal(7), CUSTOMER: Decimal(2)}


def test_an_invalid_file_is_refused_with_the_location_of_the_error(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    importer(write_report(tmp_path / "a.csv", [report_line("1")]))

    refused = importer(write_report(tmp_path / "b.csv", [report_line("2"), report_line("1_000")]))

    assert refused["state"] == "refused"
    problem = refused["problem"]
    assert (problem["status"], problem["code"]) == (400, "number")
    assert (problem["file"], problem["line"]) == ("b.csv", 3)
    assert problem["column"] == "lineItem/UnblendedCost"
    assert load_totals(importer) == {CUSTOMER: Decimal(1)}


def test_lines_without_the_vendors_invoice_id_are_provisional(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    assert (
        importer(write_report(tmp_path / "a.csv", [report_line("1", InvoiceId="")]))["provisional"]
        is True
    )
    assert importer.query("SELECT provisional FROM cost_months")[0].provisional is True

    assert importer(write_report(tmp_path / "b.csv", [report_line("1")]))["provisional"] is False
    assert importer.query("SELECT provisional FROM cost_months")[0].provisional is False


def test_unusual_lines_are_counted_in_the_report(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    file = write_report(
        tmp_path / "a.csv",
        [
            report_line("1", LineItemType="FlatRateSubscription"),
            report_line("2", CurrencyCode="nok"),
            report_line("0.12345678901234567890125"),
            report_line("1", UsageStartDate="2026-08-31T23:00:00Z"),
        ],
    )

    record = importer(file)

    assert record["unknown_types"] == {"FlatRateSubscription": 1}
    assert record["currencies"] == {"NOK": 1, "USD": 3}
    assert record["accounts_in_no_group"] == [CUSTOMER]
    assert record["noticed"]["rounded_lines"] == 1
    assert record["noticed"]["usage_outside_month"] == 1
    stored = importer.query("SELECT sum(cost) AS cost FROM cost_sums WHERE kind = 'unknown'")
    assert stored[0].cost == 1


def test_one_off_lines_become_entries_that_are_not_applied(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    importer(
        write_report(
            tmp_path / "a.csv",
            [
                report_line("100.50", LineItemType="Fee", LineItemDescription="support"),
                report_line("-3", LineItemType="Credit"),
                report_line("-4", LineItemType="Refund"),
                report_line("5", LineItemType="SavingsPlanUpfrontFee"),
                report_line("-3", LineItemType="Credit"),  # an identical line is another entry
            ],
        )
    )

    answer = importer.service.http.get(
        "/m/core/billinggroup/recalculation/2026-09",
        params={"vendor": "aws"},
        headers=importer.headers,
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


def test_reservation_lines_become_reservations_of_their_owner(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    arn = "arn:aws:ec2:ap-northeast-1:222222222222:reserved-instances/1"
    fee = report_line(
        "72",
        LineItemType="RIFee",
        ReservationARN=arn,
        NumberOfReservations="3",
        StartTime="2026-01-01T00:00:00.000Z",
        EndTime="2027-01-01T00:00:00.000Z",
    )
    used = report_line(
        "0", LineItemType="DiscountedUsage", ReservationARN=arn, UsageAccountId=OTHER_CUSTOMER
    )
    importer(write_report(tmp_path / "a.csv", [fee, used]))

    answer = importer.service.http.get(
        "/m/core/ri/purchased", params={"vendor": "aws"}, headers=importer.headers
    )

    (record,) = answer.json()
    assert (record["arn"], record["customer_id"], record["number"]) == (arn, CUSTOMER, 3)
    assert record["start"] == "2026-01-01T00:00:00Z"


@pytest.mark.usefixtures("preparation_in_thread")
def test_different_sums_park_the_month_until_it_is_released(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    importer(write_report(tmp_path / "a.csv", [report_line("1")]))
    parked = _import_parked(importer, write_report(tmp_path / "b.csv", [report_line("2")]))

    assert parked["state"] == "parked"
    assert parked["differences"][0]["delivered"] == 3
    assert parked["differences"][0]["stored"] == 2
    assert load_totals(importer) == {CUSTOMER: Decimal(1)}  # the existing costs are kept

    refused = _release(importer, parked["import_id"], reason="")
    assert refused.status_code == 400
    assert _release(importer, parked["import_id"]).status_code == 202
    assert (
        wait_for_import(importer.service, parked["import_id"], importer.headers)["state"] == "done"
    )
    assert load_totals(importer) == {CUSTOMER: Decimal(2)}
    assert _release(importer, parked["import_id"]).status_code == 409


def test_a_file_that_the_second_reading_cannot_read_parks_the_month(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    with patch(
        "nimbill.costs.ingestion.second_reading.cost_expression",
        return_value="CAST('no cost' AS DECIMAL(38, 22))",
    ):
        record = importer(write_report(tmp_path / "a.csv", [report_line("1")]))

    assert record["state"] == "parked"
    assert record["parked_reason"] == "the second reading could not read a.csv"
    assert load_totals(importer) == {}


def test_sums_that_overflow_a_decimal_are_verified_and_stored_exactly(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    largest, smallest = "9999999999999999.5", "0.0000000000000000000001"

    record = importer(
        write_report(
            tmp_path / "a.csv", [report_line(largest), report_line(largest), report_line(smallest)]
        )
    )

    assert (record["state"], record["differences"]) == ("done", [])
    assert load_totals(importer) == {CUSTOMER: Decimal("19999999999999999.0000000000000000000001")}


def test_a_later_import_replaces_a_parked_one(importer: InProcessImporter, tmp_path: Path) -> None:
    parked = _import_parked(importer, write_report(tmp_path / "b.csv", [report_line("2")]))

    assert importer(write_report(tmp_path / "c.csv", [report_line("3")]))["state"] == "done"

    after = importer.get_record(parked["import_id"])
    assert (after["state"], after["problem"]["code"]) == ("refused", "superseded")
    assert importer.query("SELECT count(*) AS n FROM parked_months")[0].n == 0


def test_an_import_of_another_payer_does_not_unpark_the_month(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    parked = _import_parked(importer, write_report(tmp_path / "b.csv", [report_line("2")]))

    importer(write_report(tmp_path / "c.csv", [report_line("3", PayerAccountId="999999999999")]))

    assert importer.get_record(parked["import_id"])["state"] == "parked"
    assert importer.query("SELECT count(*) AS n FROM parked_months")[0].n == 1


def _import_parked(importer: InProcessImporter, file: Path) -> dict[str, Any]:
    """Pretend that the second reading found one line more."""
    import_id = importer.start(file)
    prepared = importer.prepare(import_id)
    key = {"payer_id": PAYER, "customer_id": CUSTOMER, "currency": "USD"}
    sums = {"delivered": "3", "stored": "2", "delivered_lines": 2, "stored_lines": 1}
    prepared.differences = [key | sums]
    importer.commit(import_id, prepared)
    return importer.get_record(import_id)


def _release(importer: InProcessImporter, import_id: str, reason: str = "reviewed") -> Any:
    return importer.service.http.post(
        f"/m/core/costs/imports/{import_id}/release",
        json={"reason": reason},
        headers=importer.headers,
    )


def test_a_closed_month_is_not_changed_and_drift_is_reported(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    importer(write_report(tmp_path / "a.csv", [report_line("1")]))
    closing = close_month(importer.service, "2026-09", headers=importer.headers)
    assert closing.status_code == 200, closing.text

    late = importer(
        write_report(
            tmp_path / "b.csv", [report_line("1"), report_line("-0.25", LineItemType="Refund")]
        )
    )

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
    assert load_totals(importer) == {CUSTOMER: Decimal(1)}


@pytest.mark.parametrize("month", [None, "2026-09"])
def test_an_empty_delivery_is_accepted_if_there_are_no_costs(
    importer: InProcessImporter, tmp_path: Path, month: str | None
) -> None:
    record = importer(write_report(tmp_path / "a.csv", []), month=month)

    assert (record["state"], record["lines"]) == ("done", 0)
    assert load_totals(importer) == {}


@pytest.mark.parametrize("month", [None, "2026-09"])
def test_an_empty_delivery_is_refused_if_there_are_costs(
    importer: InProcessImporter, tmp_path: Path, month: str | None
) -> None:
    importer(write_report(tmp_path / "a.csv", [report_line("1")]))

    record = importer(write_report(tmp_path / "b.csv", []), month=month)

    problem = record["problem"]
    assert (record["state"], problem["status"], problem["code"]) == (
        "refused",
        409,
        "empty_delivery",
    )
    assert load_totals(importer) == {CUSTOMER: Decimal(1)}
    assert importer(tmp_path / "b.csv", month="2026-08")["state"] == "done"


@pytest.mark.parametrize(("month", "state"), [("2026-09", "parked"), (None, "refused")])
def test_an_empty_result_is_not_accepted_if_the_second_reading_finds_lines(
    importer: InProcessImporter, tmp_path: Path, month: str | None, state: str
) -> None:
    def lose_lines(*args: Any, **options: Any) -> NormalizedBatch:
        return NormalizedBatch(normalize(*args, **options).lines.slice(0, 0), ImportWarnings())

    source = write_report(tmp_path / "a.csv", [report_line("1")])
    with patch.object(conversion, "normalize", lose_lines):
        record = importer(source, month=month)

    assert record["state"] == state
    if state == "refused":
        assert record["problem"]["code"] == "nothing_read"
    assert load_totals(importer) == {}
    assert importer(source)["state"] == "done", "a correct reading is accepted"
    assert load_totals(importer) == {CUSTOMER: Decimal(1)}


def test_an_import_can_be_repeated_after_a_crash(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    """A job that crashed after the commit is run again."""
    import_id = importer.start(write_report(tmp_path / "a.csv", [report_line("1")]))
    prepared: PreparedImport = importer.prepare(import_id)
    importer.commit(import_id, prepared)

    repeated = importer.start(tmp_path / "a.csv")
    importer.commit(repeated, importer.prepare(repeated))

    assert importer.get_record(repeated)["state"] == "unchanged"
    assert load_totals(importer) == {CUSTOMER: Decimal(1)}
