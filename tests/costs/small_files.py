"""Small deliveries for tests: folders as vendors lay them out, and how they are asked for."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nimbill.costs.ingestion.delivery import (
    CostFileError,
    Delivery,
    Limits,
    Part,
    deliver,
    open_csv,
)

TEXT = b"a,b\n1,2\n"
OTHER = b"a,b\n3,4\n"

OLD, NEW = "1b4e28ba-2fa1-41d2-883f-0016d3cca427", "6fa459ea-ee8a-4ca4-894e-db77e160355e"
PERIOD = "20260901-20261001"


class Inbox:
    """A folder to put files in and to take deliveries from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "inbox"
        self.spool = folder / "spool"
        self.folder.mkdir()
        self.spool.mkdir()
        self.told: list[str] = []

    def put(self, name: str, content: bytes = TEXT) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def put_json(self, name: str, said: object) -> Path:
        content = json.dumps(said).encode()
        return self.put(name, gzip.compress(content) if name.endswith(".gz") else content)

    def take(
        self,
        *names: str,
        month: str | None = None,
        roots: Sequence[str] | None = None,
        limits: Limits | None = None,
    ) -> Delivery:
        sources = [str(self.folder / name) for name in names] or [str(self.folder)]
        return deliver(
            sources,
            spool=self.spool,
            month=month,
            limits=limits or Limits(),
            tell=self.told.append,
            roots=roots,
        )

    def refusal(self, *names: str, **how: Any) -> CostFileError:
        with pytest.raises(CostFileError) as refused:
            self.take(*names, **how)
        return refused.value


def text_of(part: Part, limits: Limits | None = None) -> bytes:
    with open_csv(part, limits or Limits()) as text:
        return text.read()


def names(delivery: Delivery) -> list[str]:
    return [part.name for part in delivery.parts]


def legacy(assembly: str, *files: str, month: str = "202609", **more: object) -> dict[str, Any]:
    """A manifest of AWS; keys are those of its bucket."""
    following = f"{int(month) + 1}"
    period = f"{month}01-{following}01"
    return {
        "assemblyId": assembly,
        "reportName": "cur",
        "billingPeriod": {"start": f"{month}01T000000.000Z", "end": f"{following}01T000000.000Z"},
        "bucket": "bills",
        "reportKeys": [f"reports/cur/{period}/{assembly}/{file}" for file in files],
        **more,
    }


def cur2(*files: str, month: str = "2026-09", run: str = "") -> dict[str, Any]:
    folder = f"s3://bills/reports/cur/data/BILLING_PERIOD={month}"
    return {
        "reportName": "cur",
        "executionId": run or "exec-1",
        "dataFiles": [f"{folder}/{run + '/' if run else ''}{file}" for file in files],
    }


def azure(
    run: str, *blobs: tuple[str, int], submitted: str = "2026-10-03T04:05:06.1234567Z", **more: Any
) -> dict[str, Any]:
    listed = [
        {"blobName": f"exports/actual/20260901-20260930/{run}/{name}", "byteCount": size}
        for name, size in blobs
    ]
    return {
        "manifestVersion": "2024-04-01",
        "blobCount": len(listed),
        "exportConfig": {"exportName": "actual", "type": "ActualCost"},
        "runInfo": {
            "runId": run,
            "submittedTime": submitted,
            "startDate": "2026-09-01T00:00:00",
            "endDate": "2026-09-30T00:00:00",
        },
        "blobs": listed,
        **more,
    }
