"""Usage by account group: the usage of each account counts in all of its groups."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.foundation.money import expand_amount
from nimbill.portal.account_groups.records import list_groups
from nimbill.portal.groups.bodies import GroupUsageRow
from nimbill.portal.usage_sums import Dimension, Usage, load_usage
from nimbill.portal.view import PortalView

NO_GROUP = ""  # of accounts in no group


class UsageByGroup(NamedTuple):
    by_group: Usage  # the group_id comes first in each key
    by_account: Usage  # counts every account once
    names: Mapping[str, str]  # of the groups by group_id


async def load_group_usage(
    db: AsyncConnection, view: PortalView, months: Sequence[str], dimensions: Sequence[Dimension]
) -> UsageByGroup:
    """Sum usage by group and these dimensions."""
    leading = [Dimension.company, Dimension.account]
    by_account = await load_usage(db, view, months, [*leading, *dimensions])
    groups = await list_groups(db, view.scope)
    group_ids: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for group in groups:
        for customer_id in group.customer_ids:
            group_ids[group.company_id, customer_id].append(group.group_id)
    by_group = add_up_groups(by_account, group_ids)
    names = {group.group_id: group.name for group in groups}
    return UsageByGroup(by_group, by_account, names)


def add_up_groups(by_account: Usage, group_ids: Mapping[tuple[str, str], list[str]]) -> Usage:
    """Replace company and account at the beginning of each key by the groups of the account.

    A group belongs to a company, so it counts an account's months at that company alone.
    """
    by_group = Usage(months=by_account.months, unpriced=by_account.unpriced)
    for (key, currency), amount in by_account.amounts.items():
        owner: tuple[Any, Any] = key[:2]
        for group_id in group_ids.get(owner) or [NO_GROUP]:
            by_group.add((group_id, *key[2:]), currency, amount)
    return by_group


def list_rows_by_group(usage: UsageByGroup) -> list[GroupUsageRow]:
    ordered = sorted(
        usage.by_group.amounts.items(), key=lambda item: (item[0][0][1], item[0][0], item[0][1])
    )
    return [
        GroupUsageRow(
            month=month,
            vendor=vendor,
            group_id=group_id or None,
            group_name=usage.names.get(group_id),
            service=service,
            marketplace=marketplace,
            currency=currency,
            amount=expand_amount(amount),
        )
        for ((group_id, month, vendor, service, marketplace), currency), amount in ordered
    ]
