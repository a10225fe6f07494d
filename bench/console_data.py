"""Fills an organisation of 5,000 customers with what the pages of the reseller's console list."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bench.copied_groups import COPY_BILLING_GROUP, COPY_INVOICE_SETTINGS
from bench.example_groups import PASSWORD, build_group
from nimbill.customers.billing_groups import operations
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.ids import new_id
from nimbill.identity.organisations.operations import NewOrganisation, create_organisation
from nimbill.invoicing.runs.invoice_run import invoice_job_types
from nimbill.invoicing.runs.operations import CreateInvoicesRequest, start_invoice_run, wait_for_run
from nimbill.jobs.runner import JobRunner
from nimbill.portal.report_months import list_months

GROUPS = 5_000
ACCOUNTS_PER_GROUP = 10
FIRST_MONTH, LAST_MONTH = "2025-10", "2026-09"
MONTHS = list_months(FIRST_MONTH, LAST_MONTH)
USERS = 1_000
AUDIT_ROWS, AUDIT_BATCH = 50_000, 1_000

# The service creates the first group; these statements copy it and add what it has.
COPY_STATEMENTS = (
    COPY_BILLING_GROUP,
    """
    UPDATE billing_groups SET billinggroup_name = 'さくら商事 ' || right(billinggroup_id, 5),
        company_name = '株式会社さくら商事 ' || right(billinggroup_id, 5)
    """,
    COPY_INVOICE_SETTINGS,
    """
    INSERT INTO cloud_accounts (organisation_id, customer_id, vendor, account_id, company_id, name)
    SELECT g.organisation_id,
        lpad(row_number() OVER (ORDER BY g.billinggroup_id, number)::text, 12, '0'), 'aws',
        '000000000000', g.company_id, g.billinggroup_name || ' 環境' || number
    FROM billing_groups g, generate_series(1, :accounts) AS number
    """,
    """
    INSERT INTO roles SELECT organisation_id, root_user, 'core', 'role ' || number,
        ARRAY['ReadInvoice', 'ReadBillingGroup']
    FROM users, generate_series(1, 5) AS number WHERE user_id = root_user
    """,
    """
    INSERT INTO users (organisation_id, user_id, root_user, kind, username, email, password_hash)
    SELECT organisation_id, 'usr_' || number, root_user, 'subuser', 'person' || number,
        'person' || number || '@example.com', password_hash
    FROM users, generate_series(1, :users) AS number WHERE user_id = root_user
    """,
    """
    INSERT INTO role_mappings SELECT organisation_id, root_user, user_id, 'core',
        'role ' || (1 + length(user_id) % 5)
    FROM users WHERE user_id <> root_user
    """,
    """
    INSERT INTO role_filters SELECT u.organisation_id, u.user_id, 'core', 'billingGroup',
        g.company_id
    FROM users u JOIN billing_groups g ON right(g.billinggroup_id, 2) = right(u.user_id, 2)
    WHERE u.user_id <> u.root_user AND length(u.user_id) > 5
    """,
    """
    INSERT INTO recalculation_entries SELECT a.organisation_id, 'ent_' || customer_id, vendor,
        account_id, :last, customer_id, 'Fee', 'linked', 'fee ' || customer_id, 'EC2', 'EC2',
        'USD', 7.77, '', '2026-09-05Z', NULL, true
    FROM cloud_accounts a WHERE name LIKE '% 環境1'
    """,
    """
    INSERT INTO reserved_instances SELECT a.organisation_id, 'ri_' || customer_id, vendor,
        'res-' || customer_id, customer_id, '', '2026-01-01Z', '2027-01-01Z', 'm5.large', '',
        'standard', '', 'No Upfront', 'Linux', 'ap-northeast-1', 'Region', 'AmazonEC2', 'Shared',
        '1yr', 'BoxUsage', '', 4, 10, 0, 0
    FROM cloud_accounts a WHERE name LIKE '% 環境2'
    """,
    """
    INSERT INTO cost_imports (organisation_id, import_id, vendor, month, sources, uploaded, state,
        report, created_by)
    SELECT organisation_id, 'im_' || month, 'aws', month, '{}', true, 'done',
        json_build_object('accounts_in_no_group', (SELECT array_agg('9' || lpad(number::text, 11,
            '0')) FROM generate_series(1, 500) AS number), 'account_names', '{}'::json)::text, 'usr'
    FROM organisations, unnest(CAST(:months AS text[])) AS month
    """,
)
_SERVICES = "unnest(ARRAY['AmazonEC2', 'AmazonS3']) WITH ORDINALITY AS services (service, n)"
# executed for every month
MONTH_STATEMENTS = (
    """
    INSERT INTO monthly_invoice_settings SELECT saved.* FROM invoice_settings s
    CROSS JOIN LATERAL jsonb_populate_record(NULL::monthly_invoice_settings, to_jsonb(s) ||
        jsonb_build_object('month', CAST(:month AS text), 'exchange_rate', 150.25,
            'rate_saved_by', 'root', 'rate_saved_time', now(), 'update_time', now())) AS saved
    """,
    f"""
    INSERT INTO cost_sums SELECT a.organisation_id, a.vendor, account_id, :month, customer_id,
        'Usage', 'usage', service, false, CAST(:month || '-01' AS date) + number, 'USD',
        12.3456789 * (number + n) + a.customer_id::bigint % 7, 30
    FROM cloud_accounts a, {_SERVICES}, generate_series(1, 2) AS number
    """,
    """
    INSERT INTO cost_sums SELECT organisation_id, 'aws', '000000000000', :month,
        '9' || lpad(number::text, 11, '0'), 'Usage', 'usage', 'AmazonEC2', false,
        CAST(:month || '-01' AS date), 'USD', 1.5, 1
    FROM organisations, generate_series(1, 500) AS number
    """,
    """
    INSERT INTO cost_months (organisation_id, vendor, payer_id, month, import_id, provisional,
        lines)
    SELECT organisation_id, 'aws', '000000000000', :month, 'im_' || :month, false, 1
    FROM organisations
    """,
)
# The service creates the invoices of the first month; those of the others are copies.
COPY_INVOICES = (
    """
    INSERT INTO invoices SELECT copy.* FROM invoices i, unnest(CAST(:months AS text[])) AS later
    CROSS JOIN LATERAL jsonb_populate_record(i, jsonb_build_object('month', later)) AS copy
    WHERE i.month = :first AND later > :first
    """,
    """
    INSERT INTO invoice_revisions SELECT copy.* FROM invoice_revisions i,
        unnest(CAST(:months AS text[])) AS later
    CROSS JOIN LATERAL jsonb_populate_record(i, jsonb_build_object('month', later,
        'run_id', 'run ' || later, 'document', replace(replace(document, :first, later),
            replace(:first, '-', ''), replace(later, '-', '')))) AS copy
    WHERE i.month = :first AND later > :first
    """,
    """
    INSERT INTO month_states SELECT organisation_id, 'aws', month, true, 1
    FROM organisations, unnest(CAST(:months AS text[])) AS month WHERE month < :last
    """,
)
APPEND_AUDIT_ROWS = """
    SELECT count(append_audit_entry(json_build_object('at', to_char('2026-01-01'::timestamp +
        number * interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'actor', 'usr_' || number %
        20, 'actor_name', 'person' || number % 20, 'client_id', NULL, 'action',
        'update_billing_group', 'resource', 'billinggroup/cmp_' || number % 5000, 'company_id',
        'cmp_' || number % 5000, 'request_id', 'req', 'sent', json_build_object('remarks',
        number))::text))
    FROM generate_series(CAST(:begin AS integer), CAST(:end AS integer)) AS number
"""


async def create_console_organisation(
    engine: AsyncEngine, encryptor: Encryptor, *, groups: int = GROUPS
) -> NewOrganisation:
    """Create the organisation; its root user has the password of the examples."""
    organisation = await create_organisation(
        engine, encryptor, name="Console", username="root", password=PASSWORD
    )
    scope = TenantScope(organisation.organisation_id)
    values = {
        "groups": groups,
        "accounts": ACCOUNTS_PER_GROUP,
        "users": USERS,
        "first": FIRST_MONTH,
        "last": LAST_MONTH,
        "months": MONTHS,
    }
    async with transaction(engine, scope.organisation_id) as db:
        await operations.create_billing_group(db, scope, build_group(1))
        await execute(db, COPY_STATEMENTS, values)
    for month in MONTHS:
        async with transaction(engine, scope.organisation_id) as db:
            await execute(db, MONTH_STATEMENTS, {"month": month})
    await _create_invoices(engine, scope, groups)
    # A statement has a minute, so each copies one month.
    for month in MONTHS:
        async with transaction(engine, scope.organisation_id) as db:
            await execute(db, COPY_INVOICES, {**values, "months": [month]})
    # In one transaction, each row would read all earlier versions of the chain's head.
    for begin in range(1, AUDIT_ROWS, AUDIT_BATCH):
        async with transaction(engine, scope.organisation_id) as db:
            rows = {"begin": begin, "end": begin + AUDIT_BATCH - 1}
            await execute(db, (APPEND_AUDIT_ROWS,), rows)
    return organisation


async def _create_invoices(engine: AsyncEngine, scope: TenantScope, groups: int) -> None:
    body = CreateInvoicesRequest(vendor="aws", group=[], bulk=True)
    actor = {"actor": "usr", "actor_name": "bench", "request_id": new_id("cmd")}
    async with transaction(engine, scope.organisation_id) as db:
        run_id = await start_invoice_run(db, scope, FIRST_MONTH, body, actor=actor, key_hash=None)
    runner = JobRunner(engine, invoice_job_types(engine))
    response = await wait_for_run(engine, runner.run_now, scope, run_id)
    assert len(response.created) == groups, response.skipped[:3]


async def execute(db: AsyncConnection, statements: tuple[str, ...], values: dict[str, Any]) -> None:
    """Without the time limit of requests."""
    await db.execute(sa.text("SET LOCAL statement_timeout = 0"))
    for statement in statements:
        used = {key: value for key, value in values.items() if f":{key}" in statement}
        await db.execute(sa.text(statement), used)
