"""A folder of small deliveries, laid out like those of the vendors, with their manifests."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.ingestion.decompression import open_csv
from nimbill.costs.ingestion.delivery import fetch_delivery
from nimbill.costs.ingestion.parts import Delivery, Limits, Part

CSV_TEXT = b"a,b\n1,2\n"
OTHER_CSV_TEXT = b"a,b\n3,4\n"

OLD, NEW = "1b4e28ba-2fa1-41d2-883f-0016d3cca427", "6fa459ea-ee8a-4ca4-894e-db77e160355e"
PERIOD = "20260901-20261001"


class Inbox:
    """A folder to put files into and to fetch deliveries from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "inbox"
        self.spool = folder / "spool"
        self.folder.mkdir()
        self.spool.mkdir()
        self.notices: list[str] = []

    def put(self, name: str, content: bytes = CSV_TEXT) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def put_json(self, name: str, document: object) -> Path:
        content = json.dumps(document).encode()
        return self.put(name, gzip.compress(content) if name.endswith(".gz") else content)

    def fetch(
        self,
        *names: str,
        month: str | None = None,
        roots: Sequence[str] | None = None,
        limits: Limits | None = None,
    ) -> Delivery:
        sources = [str(self.folder / name) for name in names] or [str(self.folder)]
        return fetch_delivery(
            sources,
            spool=self.spool,
            month=month,
            limits=limits or Limits(),
            notify=self.notices.append,
            roots=roots,
        )

    def fetch_error(self, *names: str, **options: Any) -> CostFileError:
        with pytest.raises(CostFileError) as caught:
            self.fetch(*names, **options)
        return caught.value


def read_text(part: Part, limits: Limits | None = None) -> bytes:
    with open_csv(part, limits or Limits()) as text:
        return text.read()


def part_names(delivery: Delivery) -> list[str]:
    return [part.name for part in delivery.parts]


def legacy_manifest(
    assembly: str, *files: str, month: str = "202609", **fields: object
) -> dict[str, Any]:
    """A manifest of a legacy AWS report; keys refer to its bucket."""
    next_month = f"{int(month) + 1}"
    period = f"{month}01-{next_month}01"
    return {
        "assemblyId": assembly,
        "reportName": "cur",
        "billingPeriod": {"start": f"{month}01T000000.000Z", "end": f"{next_month}01T000000.000Z"},
        "bucket": "bills",
        "reportKeys": [f"reports/cur/{period}/{assembly}/{file}" for file in files],
        **fields,
    }


def cur2_manifest(*files: str, month: str = "2026-09", run: str = "") -> dict[str, Any]:
    folder = f"s3://bills/reports/cur/data/BILLING_PERIOD={month}"
    return {
        "reportName": "cur",
        "executionId": run or "exec-1",
        "dataFiles": [f"{folder}/{run + '/' if run else ''}{file}" for file in files],
    }


def azure_manifest(
    run: str,
    *blobs: tuple[str, int],
    submitted: str = "2026-10-03T04:05:06.1234567Z",
    **fields: Any,
) -> dict[str, Any]:
    blob_entries = [
        {"blobName": f"exports/actual/20260901-20260930/{run}/{name}", "byteCount": size}
        for name, size in blobs
    ]
    return {
        "manifestVersion": "2024-04-01",
        "blobCount": len(blob_entries),
        "exportConfig": {"exportName": "actual", "type": "ActualCost"},
        "runInfo": {
            "runId": run,
            "submittedTime": submitted,
            "startDate": "2026-09-01T00:00:00",
            "endDate": "2026-09-30T00:00:00",
        },
        "blobs": blob_entries,
        **fields,
    }
