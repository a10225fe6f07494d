"""HTTP routes of usage by tag; paths are relative to /m/portal."""

from typing import Annotated

from litestar.params import FromQuery, QueryParameter

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.http.routing import (
    Limit,
    Offset,
    RequestCaller,
    Transaction,
    get,
    select_page,
)
from nimbill.portal.report_parameters import Selection
from nimbill.portal.tags.bodies import (
    CrossTagUsage,
    TagGraph,
    TagUsage,
    list_cross_tag_rows,
    list_tag_rows,
)
from nimbill.portal.tags.operations import load_tag_graph, load_tag_usage
from nimbill.portal.tags.tag_rules import KEY_LENGTH_MAX, RULE, parse_keys
from nimbill.portal.usage.bodies import Interval, list_totals, list_unpriced, list_usage_months

Key = Annotated[
    str,
    QueryParameter(
        min_length=1, max_length=KEY_LENGTH_MAX, description=f"length 1 to {KEY_LENGTH_MAX}"
    ),
]
Keys = Annotated[str, QueryParameter(description=RULE)]


@get(
    "/usage/tag",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadTags],
    flag="usage_tag",
    basis=chosen("portal-tags"),
)
async def read_tag_usage(
    caller: RequestCaller,
    db: Transaction,
    key: Key,
    selection: Selection,
    limit: Limit = None,
    offset: Offset = 0,
) -> TagUsage:
    """Show usage by month, value of a tag and service."""
    usage = await load_tag_usage(db, caller, selection, [key])
    return TagUsage(
        key=key,
        rows=list_tag_rows(usage)[select_page(limit, offset)],
        totals=list_totals(usage),
        months=list_usage_months(usage),
        unpriced=list_unpriced(usage.unpriced),
    )


@get(
    "/usage/tag/graph",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadTags],
    flag="usage_tag_graph",
    basis=chosen("portal-tags"),
)
async def read_tag_graph(
    caller: RequestCaller,
    db: Transaction,
    key: Key,
    selection: Selection,
    interval: FromQuery[Interval | None] = None,
) -> TagGraph:
    """Show usage as one series per value of a tag, by day or by month."""
    return await load_tag_graph(db, caller, selection, [key], interval)


@get(
    "/usage/crosstag",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadTags],
    flag="usage_crosstag",
    basis=chosen("portal-tags"),
)
async def read_cross_tag_usage(
    caller: RequestCaller,
    db: Transaction,
    keys: Keys,
    selection: Selection,
    limit: Limit = None,
    offset: Offset = 0,
) -> CrossTagUsage:
    """Show usage by month, values of two tags and service."""
    tag_keys = parse_keys(keys)
    usage = await load_tag_usage(db, caller, selection, tag_keys)
    return CrossTagUsage(
        keys=list(tag_keys),
        rows=list_cross_tag_rows(usage)[select_page(limit, offset)],
        totals=list_totals(usage),
        months=list_usage_months(usage),
        unpriced=list_unpriced(usage.unpriced),
    )


@get(
    "/usage/crosstag/graph",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadTags],
    flag="usage_crosstag_graph",
    basis=chosen("portal-tags"),
)
async def read_cross_tag_graph(
    caller: RequestCaller,
    db: Transaction,
    keys: Keys,
    selection: Selection,
    interval: FromQuery[Interval | None] = None,
) -> TagGraph:
    """Show usage as one series per pair of values of two tags, by day or by month."""
    tag_keys = parse_keys(keys)
    return await load_tag_graph(db, caller, selection, tag_keys, interval)


ROUTES = [read_tag_usage, read_tag_graph, read_cross_tag_usage, read_cross_tag_graph]
