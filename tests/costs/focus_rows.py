"""Converts cost lines to rows of a FOCUS file, for tests of single columns, and writes files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from nimbill.costs.cost_line import SCHEMA
from nimbill.costs.focus_columns import FocusVersion
from nimbill.costs.focus_export import FocusWriter, write_cost_and_usage
from nimbill.costs.focus_lines import convert_to_focus
from nimbill.costs.lake.parquet_files import Lake
from nimbill.costs.lake.records import CurrentLakeFile
from nimbill.foundation.vendor_names import NO_NAMES, ProviderNames
from tests.costs.generated_months import Line, build_line


def convert_line(vendor: str = "aws", version: str = "1.2", **fields: Any) -> dict[str, Any]:
    """The row of a line of usage whose default values `fields` replace."""
    (row,) = convert_lines([build_line(**fields)], vendor, version)
    return row


def convert_lines(lines: list[Line], vendor: str, version: str) -> list[dict[str, Any]]:
    table = pa.Table.from_pylist(lines, schema=SCHEMA)
    rows: list[dict[str, Any]] = convert_to_focus(
        table, vendor, "2026-09", FocusVersion(version)
    ).to_pylist()
    return rows


def write_focus_file(
    lake: Lake,
    files: Sequence[CurrentLakeFile],
    month: str,
    output: Path,
    provider_names: ProviderNames = NO_NAMES,
) -> int:
    """Write version 1.2; return the number of lines."""
    with FocusWriter() as writer:
        return write_cost_and_usage(
            writer, lake, files, month, output, provider_names=provider_names
        )
