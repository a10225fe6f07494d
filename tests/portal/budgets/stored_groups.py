"""Account groups, stored without the routes that create them."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from nimbill.database.tenant_scope import transaction
from nimbill.foundation.ids import new_id
from nimbill.portal.account_groups.records import account_group_members, account_groups
from tests.portal.portal_customer import PortalCustomer


def add_group(customer: PortalCustomer, customer_ids: Collection[str]) -> str:
    """Store a group of the company and return its id."""
    organisation_id, group_id = customer.service.organisation.organisation_id, new_id("grp")
    key = {"organisation_id": organisation_id, "group_id": group_id}

    async def add() -> None:
        async with transaction(customer.service.resources.engine, organisation_id) as db:
            group = {**key, "company_id": customer.company_id, "name": group_id}
            await db.execute(sa.insert(account_groups).values(group))
            members = [{**key, "customer_id": customer_id} for customer_id in customer_ids]
            await db.execute(sa.insert(account_group_members), members)

    customer.service.run(add)
    return group_id
