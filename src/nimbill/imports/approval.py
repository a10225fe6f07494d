"""The approval of releasing a parked import."""

import msgspec

from nimbill.access.role_actions import RoleAction
from nimbill.approvals.approvable_operation import (
    ApprovableOperation,
    Execution,
    PerformedOperation,
)
from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.foundation.errors import not_found
from nimbill.imports import records
from nimbill.imports.bodies import ImportRelease
from nimbill.imports.operations import release_import

# of the import's report; its state and times say nothing about the costs
_REVIEWED = (
    *("import_id", "vendor", "month", "sources", "lines", "provisional", "assembly", "totals"),
    *("unknown_types", "accounts_in_no_group", "currencies", "noticed", "warnings"),
    *("differences", "parked_reason", "create_time"),
)


async def _release(execution: Execution) -> PerformedOperation:
    """Whoever started the import made what is reviewed."""
    db, scope = execution.db, execution.scope
    import_id, reason = execution.target["import_id"], execution.body.reason
    row = await records.lock_import(db, scope, import_id)
    report = await records.find_import(db, scope, import_id)
    if row is None or report is None:
        raise not_found()
    await release_import(db, scope, import_id, reason, approved=execution.approved)
    shown = msgspec.structs.asdict(report)
    return PerformedOperation(
        review={"reason": reason, "import": {name: shown[name] for name in _REVIEWED}},
        action="release_import",
        resource=f"costs/imports/{import_id}",
        makers=[row.created_by],
        result={"import_id": import_id},
    )


RELEASE_IMPORT = ApprovableOperation(
    kind=ApprovalKind.import_release,
    role_actions=(RoleAction.ModifyCost,),
    choose_body=lambda _: ImportRelease,
    target_fields=frozenset({"import_id"}),
    is_shared=True,
    perform=_release,
)
