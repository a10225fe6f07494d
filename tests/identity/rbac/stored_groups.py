"""Billing groups with chosen ids, stored without requests."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from nimbill.customers.billing_groups.records import billing_groups
from nimbill.database.tenant_scope import transaction
from tests.running_service import Service


def insert_groups(service: Service, company_ids: Sequence[str]) -> None:
    """The billinggroup_id of a group is its company_id with `BG-` in front."""
    organisation_id = service.organisation.organisation_id
    rows = [
        {
            "organisation_id": organisation_id,
            "company_id": company_id,
            "billinggroup_id": f"BG-{company_id}",
            "billinggroup_name": "group",
            "company_name": "company",
            "inv_aggregate": False,
        }
        for company_id in company_ids
    ]

    async def insert() -> None:
        async with transaction(service.resources.engine, organisation_id) as db:
            await db.execute(sa.insert(billing_groups), rows)

    service.run(insert)
