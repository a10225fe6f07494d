"""Complete imports of Partner Center files and pro forma reports, and of an amortised export."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from tests.costs.cost_columns import (
    AZURE_MCA,
    OTHER_SUBSCRIPTION,
    PARTNER,
    PARTNER_CENTER,
    SUBSCRIPTION,
)
from tests.costs.file_containers import write_lines
from tests.imports.aws_reports import CUSTOMER, PAYER, report_line, write_report
from tests.imports.in_process_importer import InProcessImporter, load_totals

PRIMARY = "300000000010"


def test_billed_and_unbilled_files_of_partner_center_replace_each_other(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    """An amortised export afterwards changes nothing."""
    unbilled = write_lines(
        tmp_path / "unbilled",
        [{"BillingPreTaxTotal": "1.25", "InvoiceNumber": ""}],
        columns=PARTNER_CENTER,
        container="csv.gz",
    )
    billed = write_lines(
        tmp_path / "billed",
        [
            {"BillingPreTaxTotal": "2.5"},
            {"BillingPreTaxTotal": "4", "EntitlementId": OTHER_SUBSCRIPTION},
        ],
        columns=PARTNER_CENTER,
    )
    amortised = write_lines(
        tmp_path / "amortised", [{}, {"pricingModel": "Reservation"}], columns=AZURE_MCA
    )

    first = importer(unbilled, vendor="azure")

    assert (first["state"], first["month"], first["provisional"]) == ("done", "2026-09", True)
    assert load_totals(importer) == {SUBSCRIPTION: Decimal("1.25")}

    second = importer(billed, vendor="azure")

    assert (second["state"], second["provisional"]) == ("done", False)
    assert {total["payer_id"] for total in second["totals"]} == {PARTNER}
    assert second["noticed"]["formats"] == ["azure_partner_center"]
    expected = {SUBSCRIPTION: Decimal("2.5"), OTHER_SUBSCRIPTION: Decimal(4)}
    assert load_totals(importer) == expected

    third = importer(amortised, vendor="azure")

    problem = third["problem"]
    assert (third["state"], problem["code"], problem["line"]) == ("refused", "amortised", 3)
    assert load_totals(importer) == expected

    fourth = importer(unbilled, vendor="azure")

    assert (fourth["state"], fourth["problem"]["code"]) == ("refused", "older_assembly")


def test_a_pro_forma_report_beside_the_ordinary_one_is_noticed(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    importer(write_report(tmp_path / "ordinary.csv", [report_line("1")]))
    lines = [
        report_line("1.5", PayerAccountId=PRIMARY, InvoiceId=""),
        report_line("2", PayerAccountId=PRIMARY, UsageAccountId=PRIMARY, InvoiceId=""),
        report_line("0", PayerAccountId=PRIMARY, UsageAccountId="333333333333", InvoiceId=""),
    ]

    record = importer(write_report(tmp_path / "pro forma.csv", lines))

    assert (record["state"], record["provisional"]) == ("done", True)
    assert record["noticed"]["also_paid_by"] == {CUSTOMER: [PAYER]}
    assert load_totals(importer)[PRIMARY] == Decimal(2)
