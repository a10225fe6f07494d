"""Making a file, or finding the one already made, and the link to it."""

from collections.abc import Callable, Iterable, Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill import clock
from nimbill.access.caller import Caller
from nimbill.access.visit import Resources
from nimbill.billing_groups.records import BillingGroupRecord, list_billing_groups
from nimbill.exports import columns, records
from nimbill.exports.billing_group_csv import billing_group_rows, billing_group_setting_rows
from nimbill.exports.csv_file import Cell, csv_file
from nimbill.exports.links import LINK_SECONDS, Link, signed_address
from nimbill.ids import new_id

Rows = Callable[[Iterable[BillingGroupRecord]], Iterable[Sequence[Cell]]]

FILES: dict[str, tuple[Sequence[str], Rows]] = {
    "billing-group": (columns.BILLING_GROUP, billing_group_rows),
    "billing-group-setting": (columns.BILLING_GROUP_SETTING, billing_group_setting_rows),
}


async def export_billing_groups(
    db: AsyncConnection, caller: Caller, resources: Resources, kind: str, *, redo: bool
) -> str:
    """`redo` true: the file made before, made now only if there is none; false: a new one."""
    export_id = await records.newest_export(db, caller.scope, kind) if redo else None
    if export_id is None:
        header, rows = FILES[kind]
        content = csv_file(header, rows(await list_billing_groups(db, caller.scope)))
        export_id = new_id("exp")
        await records.add_export(
            db,
            caller.scope,
            export_id=export_id,
            kind=kind,
            file_name=f"{kind}-{clock.now():%Y%m%d}.csv",
            content=content,
        )
    return link_to(caller, resources, export_id)


def link_to(caller: Caller, resources: Resources, export_id: str) -> str:
    link = Link(
        organisation_id=caller.scope.organisation_id,
        export_id=export_id,
        user_id=caller.user_id,
        client_id=caller.client_id,
        epoch=caller.epoch,
        expires_at=clock.unix_seconds() + LINK_SECONDS,
    )
    return signed_address(resources.settings.link_url, resources.sealer, link)
