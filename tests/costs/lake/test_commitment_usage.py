"""What is stored about reservations, savings plans and instances on demand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from nimbill.costs.lake import sums
from nimbill.costs.lake.engine_selection import open_engine
from nimbill.costs.lake.engines.engine import Engine
from nimbill.costs.lake.file_selection import select_files_with_commitments
from nimbill.costs.lake.parquet_files import Lake, import_folder
from nimbill.foundation.ids import new_id
from nimbill.foundation.settings import read_settings
from tests.costs.generated_months import MIDNIGHT, Line, build_line, write_month

HOURLY = {"pricing_unit": "Hrs", "usage_type": "BoxUsage:m5.large"}


class UsageBench:
    def __init__(self, engine: Engine, lake: Lake, folder: Path) -> None:
        self.engine, self.lake, self.folder = engine, lake, folder

    def store(self, *lines: Line) -> list[str]:
        folder = import_folder("org", vendor="aws", month="2026-09", import_id=new_id("imp"))
        files = write_month(lines, self.folder / new_id("spool"), files=1)
        return self.lake.put(files, folder=folder)

    def sum_commitments(self, *lines: Line) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.engine.run(
            sums.commitment_usage, self.store(*lines)
        ).to_pylist()
        return rows

    def sum_on_demand(self, *lines: Line) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.engine.run(
            sums.on_demand_usage, self.store(*lines)
        ).to_pylist()
        return rows


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UsageBench]:
    folder = tmp_path_factory.mktemp("usage")
    settings = read_settings({"NIMBILL_DATA": str(folder)})
    lake = Lake(settings.lake_url)
    with open_engine(settings, lake) as engine:
        yield UsageBench(engine, lake, folder)


def covered_line(quantity: str | None, **fields: Any) -> Line:
    defaults = {"reservation_id": "arn:ri/1", "line_type": "DiscountedUsage"}
    return build_line(**HOURLY | defaults | {"pricing_quantity": quantity} | fields)


def test_hours_and_normalised_hours_of_a_reservation_are_summed(bench: UsageBench) -> None:
    (row,) = bench.sum_commitments(
        covered_line("10.5", normalization_factor="4"),
        covered_line("2.0000000001", normalization_factor="0.25"),
    )

    assert (row["hours"], row["hour_lines"]) == (Decimal("12.5000000001"), 2)
    assert row["normalized_hours"] == Decimal("42.500000000025")
    assert (row["factor_lines"], row["lines"], row["used"]) == (2, 2, True)


@pytest.mark.parametrize("quantity", [None, "", "many", "NaN", "1e10", "9" * 500, "١"])
def test_a_quantity_that_is_no_number_of_hours_is_counted_as_missing(
    bench: UsageBench, quantity: str | None
) -> None:
    (row,) = bench.sum_commitments(covered_line("7"), covered_line(quantity))

    assert (row["hours"], row["hour_lines"], row["lines"]) == (7, 1, 2)


@pytest.mark.parametrize(
    ("unit", "stated"),
    [("Hrs", 1), ("hours", 1), ("1 Hour", 1), ("10 Hours", 0), ("GB-Mo", 0), (None, 0)],
)
def test_only_quantities_in_hours_are_hours(
    bench: UsageBench, unit: str | None, stated: int
) -> None:
    (row,) = bench.sum_commitments(covered_line("7", pricing_unit=unit))

    assert (row["hours"], row["hour_lines"]) == (7 * stated, stated)


def test_fees_and_unused_parts_are_no_use(bench: UsageBench) -> None:
    plan = {"savings_plan_id": "arn:sp/1", "reservation_id": None}
    rows = bench.sum_commitments(
        covered_line("1", line_type="RIFee"),
        covered_line("1", line_type="Fee", kind="entry"),
        covered_line("1", line_type="Usage", commitment_status="Unused"),
        covered_line("1", line_type="Usage", commitment_status="Used", customer_id="1"),
        covered_line("1", **plan, line_type="SavingsPlanRecurringFee"),
        covered_line("1", **plan, line_type="SavingsPlanNegation"),
        covered_line("1", **plan, line_type="SavingsPlanCoveredUsage"),
    )

    assert {(row["line_type"], row["customer_id"]) for row in rows if row["used"]} == {
        ("Usage", "1"),
        ("SavingsPlanCoveredUsage", "011254002932"),
    }
    assert len(rows) == 7


def test_sums_of_the_largest_numbers_do_not_overflow(bench: UsageBench) -> None:
    largest = covered_line(
        "9999999999.9999999999",
        normalization_factor="9999.9999",
        effective_cost=Decimal("9999999999999999.9999999999999999999999"),
    )

    (row,) = bench.sum_commitments(*[largest] * 1000)

    assert row["hours"] == Decimal("9999999999999.9999999")
    assert row["factor_lines"] == 1000
    assert (row["effective_cost"], row["effective_lines"]) == (0, 0)


def test_instances_on_demand_are_summed_with_their_days(bench: UsageBench) -> None:
    hours = [
        build_line(**HOURLY, pricing_quantity="1", usage_start=MIDNIGHT + timedelta(hours=hour))
        for hour in (0, 23, 24, 100)
    ]

    (row,) = bench.sum_on_demand(*hours)

    assert (row["hours"], row["days"], row["lines"], row["cost"]) == (4, 3, 4, 6)


@pytest.mark.parametrize(
    "fields",
    [
        {"usage_type": "SpotUsage:m5.large"},
        {"usage_type": "EBSOptimized:m5.large"},
        {"usage_type": "APN1-HostBoxUsage:m5"},
        {"usage_type": "DataTransfer-Out-Bytes"},
        {"usage_type": None},
        {"service": "AmazonSageMaker"},
        {"marketplace": True},
        {"reservation_id": "arn:ri/1"},
        {"savings_plan_id": "arn:sp/1"},
        {"line_type": "DiscountedUsage"},
        {"kind": "tax"},
        {"service": "Virtual Machines", "pricing_category": "Spot", "usage_type": "D2s v3"},
    ],
)
def test_other_lines_are_no_instances_on_demand(bench: UsageBench, fields: dict[str, Any]) -> None:
    assert bench.sum_on_demand(build_line(**HOURLY | fields)) == []


@pytest.mark.parametrize(
    ("service", "usage_type"),
    [
        ("AmazonEC2", "BoxUsage"),
        ("AmazonEC2", "APN1-DedicatedUsage:m5.large"),
        ("AmazonRDS", "APN1-Multi-AZUsage:db.r5.large"),
        ("AmazonRDS", "InstanceUsage:db.r5.large"),
        ("AmazonElastiCache", "EUC1-NodeUsage:cache.r6g.large"),
        ("AmazonRedshift", "Node:ra3.xlplus"),
        ("AmazonES", "APN1-ESInstance:r5.large"),
        ("Virtual Machines", "D2s v3"),
    ],
)
def test_instances_of_services_with_reservations_are_found(
    bench: UsageBench, service: str, usage_type: str
) -> None:
    line = build_line(service=service, usage_type=usage_type, pricing_category="OnDemand")

    (row,) = bench.sum_on_demand(line)

    assert (row["service"], row["usage_type"]) == (service, usage_type)


def test_files_without_values_in_the_columns_are_not_read(bench: UsageBench) -> None:
    (plain,) = bench.store(build_line(), build_line())
    (reserved,) = bench.store(build_line(), build_line(reservation_id="arn:ri/1"))
    (planned,) = bench.store(build_line(savings_plan_id="arn:sp/1"))

    selected = select_files_with_commitments(bench.lake, [plain, reserved, planned])

    assert selected == [reserved, planned]
