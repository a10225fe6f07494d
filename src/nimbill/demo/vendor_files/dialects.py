"""The dialects of vendor files, their columns and their words for line types."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import pyarrow as pa

from nimbill.demo.vendor_files import aws, azure, focus
from nimbill.demo.vendor_files.charges import MONEY, ChargeKind, SyntheticMonth
from nimbill.demo.vendor_files.columns import FileColumn

CostType = Literal["decimal", "double"]


class Dialect(StrEnum):
    aws_cur = "aws_cur"  # legacy report, column names with slashes
    aws_cur_snake = "aws_cur_snake"  # legacy report, column names in snake_case
    aws_cur2 = "aws_cur2"
    azure_ea = "azure_ea"
    azure_mca = "azure_mca"
    focus_1_0 = "focus_1_0"
    focus_1_1 = "focus_1_1"
    focus_1_2 = "focus_1_2"

    @property
    def vendors(self) -> tuple[str, ...]:
        vendor = self.value.partition("_")[0]
        return ("aws", "azure") if vendor == "focus" else (vendor,)

    @property
    def line_types(self) -> dict[ChargeKind, str]:
        if self.vendors == ("aws",):
            return aws.LINE_TYPES
        return azure.CHARGE_TYPES if self.vendors == ("azure",) else focus.CHARGE_CATEGORIES


def build_columns(
    month: SyntheticMonth, dialect: Dialect, cost_type: CostType, *, typed: bool
) -> list[FileColumn]:
    """`typed` columns have Parquet types; otherwise all columns but costs hold text."""
    money = MONEY if cost_type == "decimal" else pa.float64()
    match dialect:
        case Dialect.aws_cur:
            return aws.legacy_columns(month)
        case Dialect.aws_cur_snake:
            if typed:
                return aws.snake_columns(month, money)
            columns = aws.legacy_columns(month)
            return [column.renamed_to(aws.to_snake_case(column.name)) for column in columns]
        case Dialect.aws_cur2:
            return aws.cur2_columns(month, money, maps=typed)
        case Dialect.azure_ea:
            return azure.ea_columns(month, money)
        case Dialect.azure_mca:
            return azure.mca_columns(month, money)
    return focus.focus_columns(month, dialect.value[-3:].replace("_", "."), money)
