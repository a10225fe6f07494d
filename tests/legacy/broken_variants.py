"""Variants of the product in which version 3 is broken, by the proof row that must notice it."""

from tests.proof.broken_variants import BrokenVariant

A3_VARIANTS = [
    BrokenVariant(
        "scope-opens-roles",
        "A legacy scope that allows role operations opens them to its user.",
        "a user whose scope allows everything creates a role",
        "legacy/roles/guard.py",
        "require_master_account(caller)",
        """assert context.db is not None
        permission = await load_permission(context.db, caller)
        if not permission.allows("role:*", "*"):
            require_master_account(caller)""",
    ),
]
R3_VARIANTS = [
    BrokenVariant(
        "template-secrets-audited",
        "The audit row stores the credential and the git keys of a template.",
        "in a 200 of /m/core/audit",
        "legacy/templates/routes.py",
        "body, _ = mask_secrets(sent.template)",
        "body = sent.template",
    ),
]
T2_VARIANTS = [
    BrokenVariant(
        "clients-accepted-as-users",
        "Version 3 accepts API clients as users.",
        "access token of legacy agent at",
        "legacy/audiences.py",
        'LEGACY_USER = Audience("legacy user", LEGACY, ("user",))',
        'LEGACY_USER = Audience("legacy user", LEGACY, ("user", "client", AGENT))',
    ),
]
T3_VARIANTS = [
    BrokenVariant(
        "agent-outlives-stack",
        "The agent of a deleted stack is still accepted.",
        "agents, stack deleted: accepted after it ended",
        "legacy/agent/agent_stack.py",
        "None or stack.stack_status == StackStatus.DELETE_COMPLETE",
        "None",
        also=[
            (
                "legacy/login/records.py",
                "async def find_stack_nickname(",
                """_remembered: dict[str, str] = {}


async def find_stack_nickname(""",
            ),
            (
                "legacy/login/records.py",
                "return None if row is None else row[0]",
                """if row is not None:
        _remembered[stack_id] = row[0]
    return _remembered.get(stack_id)""",
            ),
        ],
    ),
    BrokenVariant(
        "legacy-scopes-cached",
        "The scopes of a user of version 3 are cached and not read again.",
        "version 3, role detached: accepted after it ended",
        "legacy/roles/legacy_rights.py",
        "async def load_scope_documents(",
        """_remembered: dict[str, list[str]] = {}


async def load_scope_documents(""",
        also=[
            (
                "legacy/roles/legacy_rights.py",
                """roles = await records.list_roles_of_user(db, scope, user_id)
    return [role.scope for role in roles] or [DEFAULT_SCOPE]""",
                """if user_id not in _remembered:
        roles = await records.list_roles_of_user(db, scope, user_id)
        _remembered[user_id] = [role.scope for role in roles] or [DEFAULT_SCOPE]
    return _remembered[user_id]""",
            )
        ],
    ),
]
X1_VARIANTS = [
    BrokenVariant(
        "launched-without-check",
        "An instance is launched without checking whether it was launched before.",
        "launched twice",
        "legacy/provisioning/aws_provisioner.py",
        """\
            found = self._list_instances({KEY_TAG: instance.instance_key})
            if found:
                return str(found[0]["InstanceId"])
""",
        "",
    ),
]
