"""Lines without a billing period: manifest, date, or the month of the import."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from nimbill.costs.cost_file_error import CostFileError
from tests.costs.cost_columns import AZURE_MCA, PARTNER_CENTER
from tests.costs.delivery_reader import read_delivery
from tests.costs.file_containers import write_lines

NO_PERIOD = {"billingPeriodStartDate": "", "billingPeriodEndDate": ""}
NO_DATE = {**NO_PERIOD, "date": ""}
OCTOBER = {**NO_PERIOD, "date": "10/01/2026"}


def write_azure(folder: Path, *lines: Mapping[str, str]) -> Path:
    return write_lines(folder, lines, columns=AZURE_MCA)


def write_run(folder: Path, *lines: Mapping[str, str]) -> Path:
    """A run of September with its manifest."""
    file = write_azure(folder / "20260901-20260930" / "run", *lines)
    manifest = {
        "blobs": [{"blobName": f"exports/20260901-20260930/run/{file.name}"}],
        "runInfo": {"startDate": "2026-09-01T00:00:00", "endDate": "2026-09-30T00:00:00"},
    }
    (file.parent / "manifest.json").write_text(json.dumps(manifest))
    return folder


def test_the_date_replaces_an_empty_period(tmp_path: Path) -> None:
    file = write_azure(tmp_path, NO_PERIOD, {}, NO_PERIOD)

    for month in (None, "2026-09"):
        result = read_delivery([file], tmp_path, vendor="azure", month=month)

        assert result.conversion.month == "2026-09"
        assert result.conversion.warnings.months == {"2026-09": 3}
        assert result.differences == []


@pytest.mark.parametrize("month", ["2026-09", None])
def test_a_date_of_another_month_is_refused(tmp_path: Path, month: str | None) -> None:
    file = write_azure(tmp_path, {}, OCTOBER)

    with pytest.raises(CostFileError) as caught:
        read_delivery([file], tmp_path, vendor="azure", month=month)

    assert caught.value.rule == ("month" if month else "several_months")
    assert "2026-10" in caught.value.detail
    assert "2026-09" in caught.value.detail


def test_a_manifest_takes_precedence_over_the_date(tmp_path: Path) -> None:
    source = write_run(tmp_path / "exports", NO_PERIOD, OCTOBER)

    result = read_delivery([source], tmp_path, vendor="azure")

    assert result.conversion.month == "2026-09"
    assert result.conversion.lines == 2
    assert result.conversion.warnings.outside_month == 1


def test_the_month_of_the_import_replaces_an_empty_date(tmp_path: Path) -> None:
    file = write_azure(tmp_path, {}, NO_DATE)

    result = read_delivery([file], tmp_path, vendor="azure", month="2026-09")

    assert [row["usage_start"].isoformat() for row in result.rows] == [
        "2026-09-05T00:00:00+00:00",
        "2026-09-01T00:00:00+00:00",
    ]


def test_without_any_month_an_empty_date_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CostFileError) as caught:
        read_delivery([write_azure(tmp_path, {}, NO_DATE)], tmp_path, vendor="azure")

    assert (caught.value.rule, caught.value.line, caught.value.column) == ("empty", 3, "date")


def test_late_usage_is_billed_in_the_specified_month_of_partner_center(tmp_path: Path) -> None:
    late = {"ChargeStartDate": "8/1/2026 12:00:00 AM", "UsageDate": "8/30/2026"}
    file = write_lines(tmp_path, [{}, late], columns=PARTNER_CENTER)

    with pytest.raises(CostFileError) as caught:
        read_delivery([file], tmp_path, vendor="azure")
    result = read_delivery([file], tmp_path, vendor="azure", month="2026-09")

    assert caught.value.rule == "several_months"
    assert "name the month of the invoice" in caught.value.detail
    assert result.conversion.month == "2026-09"
    assert (result.conversion.lines, result.conversion.warnings.outside_month) == (2, 1)


def test_later_usage_of_partner_center_is_refused(tmp_path: Path) -> None:
    file = write_lines(tmp_path, [{}], columns=PARTNER_CENTER)

    with pytest.raises(CostFileError) as caught:
        read_delivery([file], tmp_path, vendor="azure", month="2026-08")

    assert (caught.value.rule, caught.value.line) == ("month", 2)
