"""The table of tie-out results. A result is shown only while the compared data is the same.

The lists can have more than 100,000 rows, so they are compressed and apart from the summary.
"""

import zlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.closing.reconciliation.bodies import (
    TieOutAccount,
    TieOutCounts,
    TieOutDifference,
    TieOutEntryDifference,
    TieOutPayer,
    TieOutState,
)
from nimbill.database.tenant_scope import TenantScope, metadata, of_period, of_tenant
from nimbill.foundation import exact_json
from nimbill.foundation.billing_period import BillingPeriod

tie_out_results = sa.Table(
    "tie_out_results",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("vendor", sa.Text, primary_key=True),
    sa.Column("month", sa.Text, primary_key=True),
    sa.Column("fingerprint", sa.Text, nullable=False),
    sa.Column("summary", sa.Text, nullable=False),
    sa.Column("lists", sa.LargeBinary, nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)
_results = tie_out_results.c

FAST = 1  # compression level


class TieOutSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The result for one vendor without the lists of what differs."""

    state: TieOutState
    payers: Sequence[TieOutPayer]
    counts: TieOutCounts
    # reason of a difference to the groups, or else payers or accounts, that have one
    subjects: Mapping[str, Sequence[str]]


class TieOutLists(msgspec.Struct, frozen=True, kw_only=True):
    differences: Sequence[TieOutDifference] = ()
    entry_differences: Sequence[TieOutEntryDifference] = ()
    accounts_in_no_group: Sequence[TieOutAccount] = ()


class VendorTieOut(NamedTuple):
    summary: TieOutSummary
    lists: TieOutLists  # empty unless they were asked for


class EncodedResult(NamedTuple):
    summary: str
    lists: bytes


def encode_result(result: VendorTieOut) -> EncodedResult:
    return EncodedResult(
        exact_json.encode(result.summary).decode(),
        zlib.compress(exact_json.encode(result.lists), FAST),
    )


def decode_result(encoded: EncodedResult) -> VendorTieOut:
    return VendorTieOut(
        _summary_decoder.decode(encoded.summary),
        _lists_decoder.decode(zlib.decompress(encoded.lists)) if encoded.lists else NO_LISTS,
    )


NO_LISTS = TieOutLists()
_summary_decoder = msgspec.json.Decoder(TieOutSummary)
_lists_decoder = msgspec.json.Decoder(TieOutLists)


async def find_result(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    fingerprint: str,
    *,
    with_lists: bool,
) -> EncodedResult | None:
    """Return None unless the stored result has this fingerprint."""
    lists = _results.lists if with_lists else sa.literal(b"")
    stmt = sa.select(_results.summary, lists).where(
        of_tenant(tie_out_results, scope),
        of_period(tie_out_results, period),
        _results.fingerprint == fingerprint,
    )
    row = (await db.execute(stmt)).one_or_none()
    return None if row is None else EncodedResult(*row)


async def store_result(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    fingerprint: str,
    result: EncodedResult,
) -> None:
    """Replace the result of the period."""
    values = {"fingerprint": fingerprint, **result._asdict(), "update_time": sa.func.now()}
    await db.execute(
        insert(tie_out_results)
        .values(
            organisation_id=scope.organisation_id,
            vendor=period.vendor,
            month=period.month,
            **values,
        )
        .on_conflict_do_update(index_elements=["organisation_id", "vendor", "month"], set_=values)
    )
