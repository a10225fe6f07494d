"""The approval of a change of the organisation settings."""

from hashlib import sha256

from nimbill.access.role_actions import RoleAction
from nimbill.approvals.approvable_operation import (
    ApprovableOperation,
    Execution,
    PerformedOperation,
)
from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.customers.organisation_settings.bodies import OrganisationSettingsChange
from nimbill.customers.organisation_settings.operations import change_settings
from nimbill.customers.organisation_settings.records import lock_settings
from nimbill.foundation import exact_json


async def _change(execution: Execution) -> PerformedOperation:
    """The version is that of all settings, because each can give another one its meaning."""
    db, scope = execution.db, execution.scope
    before = await lock_settings(db, scope)
    after = await change_settings(
        db,
        scope,
        execution.body,
        execution.resources.hooks.find_used_vendors,
        approved=execution.approved,
    )
    changes = [
        {"field": name, "before": getattr(before, name), "after": getattr(after, name)}
        for name in before.__struct_fields__
        if getattr(before, name) != getattr(after, name)
    ]
    version = sha256(exact_json.encode(before)).hexdigest()
    return PerformedOperation(
        review={"changes": changes, "version_before": version},
        action="change_settings",
        resource="settings",
    )


CHANGE_SETTINGS = ApprovableOperation(
    kind=ApprovalKind.settings,
    role_actions=(RoleAction.ModifySettings,),
    choose_body=lambda _: OrganisationSettingsChange,
    is_shared=True,
    perform=_change,
)
