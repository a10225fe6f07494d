"""The terms of a reservation are read from the columns of an AWS report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.imports.aws_reports import COLUMNS, build_report
from tests.imports.in_process_importer import InProcessImporter

ARN = "arn:aws:ec2:ap-northeast-1:222222222222:reserved-instances/1"

# column of the report: its value on the line of the fee
FEE_LINE = {
    "lineItem/LineItemType": "RIFee",
    "lineItem/UsageType": "APN1-HeavyUsage:m5.large",
    "lineItem/UnblendedRate": "0.0786",
    "lineItem/NormalizationFactor": "4.0",
    "reservation/ReservationARN": ARN,
    "reservation/NumberOfReservations": "3",
    "reservation/StartTime": "2026-01-01T00:00:00.000Z",
    "reservation/EndTime": "2999-01-01T00:00:00.000Z",
    "reservation/ModificationStatus": "Original",
    "reservation/AvailabilityZone": "ap-northeast-1a",
    "reservation/UpfrontValue": "1234.5600000000",
    "pricing/OfferingClass": "convertible",
    "pricing/PurchaseOption": "Partial Upfront",
    "pricing/LeaseContractLength": "3yr",
    "product/instanceType": "m5.large",
    "product/operatingSystem": "Linux",
    "product/regionCode": "ap-northeast-1",
    "product/tenancy": "Dedicated",
}
EXPECTED: dict[str, Any] = {
    "arn": ARN,
    "start": "2026-01-01T00:00:00Z",
    "end": "2999-01-01T00:00:00Z",
    "instance_type": "m5.large",
    "modification_status": "Original",
    "offer_class": "convertible",
    "payment_option": "Partial Upfront",
    "platform": "Linux",
    "region": "ap-northeast-1",
    "service": "AmazonEC2",
    "tenancy": "Dedicated",
    "term_length": "3yr",
    "usage_type": "APN1-HeavyUsage:m5.large",
    "zone": "ap-northeast-1a",
    "normalization_factor": 4,
    "number": 3,
    "unblended_rate": 0.0786,
    "upfront_value": 1234.56,
}


def to_snake_case(column: str) -> str:
    """The name of the same column in CUR 2.0; its tags are in one column."""
    if column.startswith("resourceTags/"):
        return "resource_tags"
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column.replace("/", "_")).lower()


@pytest.mark.parametrize("rename", [str, to_snake_case], ids=["legacy", "CUR 2.0"])
def test_every_term_of_a_reservation_is_read_from_its_fee(
    importer: InProcessImporter, tmp_path: Path, rename: Any
) -> None:
    line = {rename(name): value for name, value in {**COLUMNS, **FEE_LINE}.items()}
    file = tmp_path / "report.csv"
    file.write_bytes(build_report([line], line))

    importer(file)

    (record,) = importer.service.http.get(
        "/m/core/ri/purchased?vendor=aws", headers=importer.headers
    ).json()
    assert {name: record[name] for name in EXPECTED} == EXPECTED
