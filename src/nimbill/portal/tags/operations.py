"""Loads usage by tags, and refuses keys by which no sums are stored."""

import json
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.foundation.errors import Violation, refuse_if
from nimbill.portal.report_parameters import ReportSelection
from nimbill.portal.tags.bodies import TagGraph, TagSeries
from nimbill.portal.tags.tag_rules import RULE_FOR_CUSTOMERS, RULE_FOR_ORGANISATIONS
from nimbill.portal.usage.bodies import Interval
from nimbill.portal.usage.graph_series import (
    INTERVAL_DIMENSIONS,
    build_graph,
    choose_interval,
)
from nimbill.portal.usage_source import needs_tagged_sums
from nimbill.portal.usage_sums import Dimension, Usage, load_usage
from nimbill.portal.view import load_view

TAG_DIMENSIONS = (Dimension.tag, Dimension.second_tag)


async def load_tag_usage(
    db: AsyncConnection, caller: Caller, selection: ReportSelection, keys: Sequence[str]
) -> Usage:
    """Load the usage by month, vendor, the tags and service."""
    tags = TAG_DIMENSIONS[: len(keys)]
    dimensions = [Dimension.month, Dimension.vendor, *tags, Dimension.service]
    return await _load(db, caller, selection, dimensions, keys)


async def load_tag_graph(
    db: AsyncConnection,
    caller: Caller,
    selection: ReportSelection,
    keys: Sequence[str],
    interval: Interval | None,
) -> TagGraph:
    """Load one series for each value of the tag, or each pair of values."""
    months = selection.months
    shown = choose_interval(interval, months)
    dimensions = [*TAG_DIMENSIONS[: len(keys)], INTERVAL_DIMENSIONS[shown]]
    usage = await _load(db, caller, selection, dimensions, keys)
    # The series of a graph have texts as ids.
    amounts = {
        ((json.dumps(values), at), currency): amount
        for ((*values, at), currency), amount in usage.amounts.items()
    }
    graph = build_graph(replace(usage, amounts=amounts), shown, months, lambda _: "")
    return TagGraph(
        keys=list(keys),
        interval=shown,
        points=graph.points,
        series=[
            TagSeries(
                tag_values=None if series.id is None else json.loads(series.id),
                currency=series.currency,
                amounts=series.amounts,
            )
            for series in graph.series
        ],
        months=graph.months,
        unpriced=graph.unpriced,
    )


async def _load(
    db: AsyncConnection,
    caller: Caller,
    selection: ReportSelection,
    dimensions: Sequence[Dimension],
    keys: Sequence[str],
) -> Usage:
    view = await load_view(db, caller, selection.company_id)
    if needs_tagged_sums(view.tags, keys, by_day=Dimension.day in dimensions):
        report_keys = (await load_settings(db, view.scope)).report_tag_keys
        if not set(keys) <= set(report_keys):
            is_customer = caller.flags is not None
            rule = RULE_FOR_CUSTOMERS if is_customer else RULE_FOR_ORGANISATIONS
            refuse_if([Violation("key" if len(keys) == 1 else "keys", rule)])
    return await load_usage(db, view, selection.months, dimensions, keys)
