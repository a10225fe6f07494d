"""Stored settings of an organisation; what was never changed has its default."""

from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill import exact_json
from nimbill.organisation_settings.bodies import OrganisationSettings
from nimbill.storage import Scope, metadata

# as JSON text, so that rates keep the digits they were sent with; what refers to a record is
# a column of its own, so that the record cannot go
organisation_settings = sa.Table(
    "organisation_settings",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("settings", sa.Text, nullable=False),
    sa.Column("invoice_template_id", sa.Text),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)


async def settings_of(
    db: AsyncConnection, scope: Scope, *, for_change: bool = False
) -> OrganisationSettings:
    question = sa.select(organisation_settings).where(
        organisation_settings.c.organisation_id == scope.organisation_id
    )
    if for_change:
        question = question.with_for_update()
    row = (await db.execute(question)).one_or_none()
    if row is None:
        return OrganisationSettings()
    stored = exact_json.read(row.settings.encode())
    stored["invoice_template_id"] = row.invoice_template_id
    return msgspec.convert(stored, OrganisationSettings)


async def put_settings(db: AsyncConnection, scope: Scope, settings: OrganisationSettings) -> None:
    values: dict[str, Any] = {
        "settings": exact_json.write(settings).decode(),
        "invoice_template_id": settings.invoice_template_id,
        "update_time": sa.func.now(),
    }
    stored = insert(organisation_settings).values(organisation_id=scope.organisation_id, **values)
    await db.execute(stored.on_conflict_do_update(index_elements=["organisation_id"], set_=values))
