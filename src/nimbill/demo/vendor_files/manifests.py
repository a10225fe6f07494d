"""The manifest that a vendor writes beside the parts of an export."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from nimbill.demo.vendor_files.charges import SyntheticMonth, derive_uuid
from nimbill.demo.vendor_files.dialects import Dialect


def write_manifest(
    month: SyntheticMonth,
    dialect: Dialect,
    parts: Sequence[Path],
    name: str,
    assembled_at: datetime,
) -> Path:
    """Write the manifest into the folder of the parts. It names them by their bucket paths."""
    folder = parts[0].parent
    if month.vendor == "azure":
        path = folder / "manifest.json"
        manifest = _azure_manifest(month, dialect, parts, name, assembled_at)
    else:
        path = folder / f"{name}-Manifest.json"
        legacy = dialect in (Dialect.aws_cur, Dialect.aws_cur_snake)
        build = _legacy_aws_manifest if legacy else _aws_export_manifest
        manifest = build(month, parts, name, assembled_at)
    path.write_text(json.dumps(manifest, indent=2))
    return path


def _legacy_aws_manifest(
    month: SyntheticMonth, parts: Sequence[Path], name: str, assembled_at: datetime
) -> dict[str, object]:
    assembly_id = assembled_at.strftime("%Y%m%dT%H%M%SZ")
    period = f"{month.start:%Y%m%d}-{month.end:%Y%m%d}"
    return {
        "assemblyId": assembly_id,
        "account": month.payer_id,
        "charset": "UTF-8",
        "reportName": name,
        "billingPeriod": {
            "start": f"{month.start:%Y%m%dT%H%M%S}.000Z",
            "end": f"{month.end:%Y%m%dT%H%M%S}.000Z",
        },
        "bucket": "bills",
        "reportKeys": [f"cur/{name}/{period}/{assembly_id}/{part.name}" for part in parts],
    }


def _aws_export_manifest(
    month: SyntheticMonth, parts: Sequence[Path], name: str, assembled_at: datetime
) -> dict[str, object]:
    run_id = f"{assembled_at:%Y-%m-%dT%H:%M:%S}.000Z-{derive_uuid(f'run {assembled_at}')}"
    folder = f"s3://bills/cur/{name}/data/BILLING_PERIOD={month.month}/{run_id}"
    return {
        "account": month.payer_id,
        "reportName": name,
        "executionId": run_id,
        "exportArn": f"arn:aws:bcm-data-exports:us-east-1:{month.payer_id}:export/{name}",
        "dataFiles": [f"{folder}/{part.name}" for part in parts],
    }


def _azure_manifest(
    month: SyntheticMonth,
    dialect: Dialect,
    parts: Sequence[Path],
    name: str,
    assembled_at: datetime,
) -> dict[str, object]:
    run_id = derive_uuid(f"run {assembled_at}")
    last_day = month.end - timedelta(days=1)
    folder = f"exports/{name}/{month.start:%Y%m%d}-{last_day:%Y%m%d}/{run_id}"
    export_type = "FocusCost" if dialect.value.startswith("focus") else "ActualCost"
    blobs = [
        {"blobName": f"{folder}/{part.name}", "byteCount": part.stat().st_size} for part in parts
    ]
    return {
        "manifestVersion": "2024-04-01",
        "blobCount": len(blobs),
        "exportConfig": {"exportName": name, "type": export_type},
        "deliveryConfig": {"dataOverwriteBehavior": "OverwritePreviousReport"},
        "runInfo": {
            "runId": run_id,
            "submittedTime": f"{assembled_at:%Y-%m-%dT%H:%M:%S}.0000000Z",
            "startDate": f"{month.start:%Y-%m-%dT%H:%M:%S}",
            "endDate": f"{last_day:%Y-%m-%dT%H:%M:%S}",
        },
        "blobs": blobs,
    }
