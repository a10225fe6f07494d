"""Every lock has a test that fails without it, and the list of them is complete."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.code_rules.rules import functions, parse

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "nimbill"

LOCK = re.compile(
    r"with_for_update|pg_(try_)?advisory|\badvisory_lock\(|_LOCK\b|fcntl\.(flock|lockf)|LOCK TABLE"
    r"|(asyncio|threading)\.(Lock|RLock|Condition|Semaphore)\(|_output_lock"
)
OF_ADJUSTMENTS = "tests/adjustments/test_held_locks.py"
OF_CONTACTS = "tests/customers/contacts/test_create_contacts_from_csv.py"
OF_CUSTOMERS = "tests/customers/test_held_locks.py"
OF_IDENTITY = "tests/identity/test_held_locks.py"
OF_LEGACY = "tests/legacy/test_held_locks.py"  # version 3
OF_VERSIONS = "tests/http/test_version_locks.py"
OF_WEBHOOKS = "tests/webhooks/test_held_locks.py"
OF_CLOSING = "tests/closing/steps/test_closing_races.py"

# the function that takes a lock, and the file of the test that fails without the lock
LOCKS = {
    "access/password_hash_cores.py hashing_core": "tests/access/test_password_hash_cores.py",
    "access/password_hash_queue.py __init__": "tests/access/test_password_hash_queue_lock.py",
    "access/shared_rate_limit.py _use_slot": "tests/access/test_shared_rate_limit.py",
    "access/shared_rate_limit.py lock": "tests/access/test_shared_rate_limit.py",
    "access/signing_keys.py lock_keys": "tests/access/test_key_rotation.py",
    "adjustments/recalculation/records.py lock_entries": OF_ADJUSTMENTS,
    "adjustments/recalculation/records.py lock_payer_entries": OF_ADJUSTMENTS,
    "adjustments/reserved_instances/fee_records.py lock_reservations": OF_ADJUSTMENTS,
    "adjustments/reserved_instances/records.py lock_reservation": OF_ADJUSTMENTS,
    "approvals/records.py lock_request": "tests/approvals/test_decisions.py",
    "application/service_metrics.py __init__": "tests/application/test_service_metrics.py",
    "application/app.py create_litestar_app": "tests/application/test_service_routes.py",
    "costs/months/records.py lock_closing_count": OF_CLOSING,
    "costs/months/records.py lock_month": OF_CLOSING,
    "costs/months/records.py lock_month_shared": OF_CLOSING,
    "customers/billing_groups/records.py lock_billing_group": OF_CUSTOMERS,
    "customers/cloud_accounts/records.py find_account": OF_VERSIONS,
    "customers/cloud_accounts/records.py lock_accounts": OF_VERSIONS,
    "customers/contacts/records.py lock_groups": OF_CONTACTS,
    "customers/invoice_templates/records.py find_invoice_template": OF_VERSIONS,
    "customers/organisation_settings/records.py load_vendors": OF_CUSTOMERS,
    "customers/organisation_settings/records.py lock_settings": OF_CUSTOMERS,
    "customers/projects/records.py find_project": OF_VERSIONS,
    "customers/projects/records.py lock_project": OF_CUSTOMERS,
    "customers/resellers/records.py lock_reseller": OF_CUSTOMERS,
    "database/advisory_lock.py advisory_lock": OF_CLOSING,
    "database/embedded_postgres/locks.py try_lock": "tests/database/test_embedded_postgres.py",
    "database/fair_pool.py __init__": "tests/database/test_fair_pool.py",
    "database/migrate.py _run_locked": "tests/database/test_migrate.py",
    "database/migrate.py _wait_for_migration_lock": "tests/database/test_migrate.py",
    "database/tenant_lookup.py lock_name_assignment": OF_IDENTITY,
    "http/idempotency.py reserve_key": "tests/http/test_idempotency_keys.py",
    "identity/login/records.py lock_refresh_token": OF_IDENTITY,
    "identity/organisations/records.py lock_organisation": OF_IDENTITY,
    "identity/rbac/records.py find_role": OF_VERSIONS,
    "identity/rbac/records.py lock_role_permissions": OF_IDENTITY,
    "identity/users/records.py lock_user": OF_IDENTITY,
    "imports/preparation.py _write_message": "tests/imports/test_resource_watch.py",
    "imports/records.py lock_import": "tests/imports/test_import_races.py",
    "invoicing/documents/stored_invoices.py lock_invoices": OF_CLOSING,
    "invoicing/exports/records.py delete_surplus_exports": (
        "tests/invoicing/exports/test_reuse_export.py"
    ),
    "jobs/records.py claim_job": "tests/jobs/test_attempts_and_turns.py",
    "legacy/deployments/records.py list_stacks": OF_LEGACY,  # version 3
    "legacy/roles/records.py lock_role": OF_LEGACY,  # version 3
    "legacy/stacks/records.py find_stack": OF_LEGACY,  # version 3
    "portal/budgets/records.py lock_budgets": OF_VERSIONS,
    "webhooks/records.py lock_all_endpoints": OF_WEBHOOKS,
    "webhooks/records.py lock_endpoint": OF_WEBHOOKS,
    "webhooks/records.py lock_subscribed_endpoints": OF_WEBHOOKS,
    "webhooks/records.py try_lock_endpoint": OF_WEBHOOKS,
}


def find_locks() -> Iterator[str]:
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text()
        if not LOCK.search(source):
            continue
        for function in functions(path):
            if LOCK.search(ast.get_source_segment(source, function) or ""):
                yield f"{path.relative_to(PACKAGE)} {function.name}"


def test_every_lock_has_a_test() -> None:
    assert set(find_locks()) == LOCKS.keys()


def test_the_tests_of_locks_exist() -> None:
    for place in set(LOCKS.values()):
        tests = parse((ROOT / place).read_text())
        assert any(isinstance(node, ast.FunctionDef) for node in tests.body), place
