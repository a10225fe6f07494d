"""Checks of tenant isolation in the database catalogue: row-level security, keys, privileges.

Every check returns one line per problem; an empty list means that there is none.
"""

from __future__ import annotations

import asyncpg

from nimbill.application.schema import MIGRATIONS
from nimbill.database.tenant_scope import APP_ROLE

# tables without an organisation, and why
WITHOUT_ORGANISATION = {
    **{package.version_table: "revision of the schema" for package in MIGRATIONS},
    "signing_keys": "encrypted keys of the installation, for the tokens of all organisations",
}
# tables whose owner reads all organisations, in the functions below only
OWNER_READS_ALL_TENANTS = {
    "tenant_lookups": "find_organisation_id: finds the organisation of a client or short name; "
    "has_other_organisations: tells whether there is another one",
    "jobs": "organisations_with_due_jobs, count_service_records",
    "cost_imports": "count_service_records: counts for the metrics",
    "invoice_runs": "count_service_records: counts for the metrics",
}
# functions that run with the rights of their owner; they return ids, counts or a yes or no only
SECURITY_DEFINER_FUNCTIONS = {
    "count_service_records",
    "find_organisation_id",
    "has_other_organisations",
    "organisations_with_due_jobs",
}
# indexes that are unique across organisations, because they are used before one is known
UNIQUE_ACROSS_ORGANISATIONS = {
    "tenant_lookups_pkey",
    "signing_keys_pkey",
    "signing_keys_active_key",
    *(f"{package.version_table}_pkc" for package in MIGRATIONS),
}

# privileges of the application where it does not have all of them
REDUCED_PRIVILEGES = {
    **{package.version_table: {"SELECT"} for package in MIGRATIONS},
    "audit_log": {"SELECT", "INSERT"},
}
ALL_PRIVILEGES = {"SELECT", "INSERT", "UPDATE", "DELETE"}

OWN_ROWS = "(organisation_id = current_setting('nimbill.organisation'::text, true))"


async def _fetch(db: asyncpg.Connection, stmt: str) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await db.fetch(stmt)
    return rows


async def tables_without_row_security(db: asyncpg.Connection) -> list[str]:
    """Every table has its organisation, and row-level security applies to its owner too."""
    rows = await _fetch(
        db,
        """
        SELECT c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS forced,
            EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid
                AND a.attname = 'organisation_id' AND a.attnotnull
                AND a.atttypid = 'text'::regtype) AS has_organisation
        FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
        ORDER BY 1
        """,
    )
    names = {row["name"] for row in rows}
    tables = [row for row in rows if row["name"] not in WITHOUT_ORGANISATION]
    return [
        *(f"{row['name']} has no organisation" for row in tables if not row["has_organisation"]),
        *(
            f"{row['name']} does not force row-level security"
            for row in tables
            if not row["forced"]
        ),
        *(f"{name} needs no exception" for name in WITHOUT_ORGANISATION if name not in names),
    ]


async def wrong_policies(db: asyncpg.Connection) -> list[str]:
    """One policy for all roles and commands; a second one for the owner of the listed tables."""
    rows = await _fetch(
        db,
        """
        SELECT c.relname AS "table", p.polname AS name, p.polpermissive AS permissive,
            p.polcmd::text AS command, pg_get_expr(p.polqual, p.polrelid) AS rows,
            pg_get_expr(p.polwithcheck, p.polrelid) AS new_rows,
            p.polroles = '{0}' AS for_all, p.polroles = ARRAY[c.relowner] AS for_owner
        FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid ORDER BY 1, 2
        """,
    )
    complaints, isolated, owner_reads_all = [], set(), set()
    for row in rows:
        all_commands = row["permissive"] and row["command"] == "*" and row["new_rows"] is None
        if all_commands and row["for_all"] and row["rows"] == OWN_ROWS:
            isolated.add(row["table"])
        elif all_commands and row["for_owner"] and row["rows"] == "true":
            owner_reads_all.add(row["table"])
        else:
            complaints.append(f"{row['table']} has another policy, {row['name']}")
    tables = await _fetch(
        db,
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace "
        "AND relkind IN ('r', 'p') ORDER BY 1",
    )
    names = {row["relname"] for row in tables} - WITHOUT_ORGANISATION.keys()
    listed = OWNER_READS_ALL_TENANTS.keys()
    return [
        *complaints,
        *(f"{name} shows rows of every organisation" for name in sorted(names - isolated)),
        *(
            f"the owner of {name} reads all organisations"
            for name in sorted(owner_reads_all - listed)
        ),
        *(
            f"the owner of {name} does not read all organisations"
            for name in sorted(listed - owner_reads_all)
        ),
    ]


async def foreign_keys_across_organisations(db: asyncpg.Connection) -> list[str]:
    """A foreign key includes the organisation, so that it cannot refer to another one's row."""
    rows = await _fetch(
        db,
        """
        SELECT k.conrelid::regclass::text AS "table", k.conname AS name,
            (SELECT array_agg(a.attname::text || '=' || b.attname::text)
                FROM unnest(k.conkey, k.confkey) AS pair (mine, other)
                JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.mine
                JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = pair.other
            ) AS columns
        FROM pg_constraint k
        WHERE k.contype = 'f' AND k.connamespace = 'public'::regnamespace ORDER BY 1, 2
        """,
    )
    return [
        f"{row['table']}: {row['name']} can cross organisations"
        for row in rows
        if "organisation_id=organisation_id" not in row["columns"]
    ]


async def uniqueness_across_organisations(db: asyncpg.Connection) -> list[str]:
    """A value that is unique across organisations would reveal what another one has."""
    rows = await _fetch(
        db,
        """
        SELECT c.relname AS name, EXISTS (
            SELECT FROM pg_attribute a WHERE a.attrelid = i.indrelid
            AND a.attname = 'organisation_id' AND a.attnum = ANY (i.indkey::int2[])) AS own
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace ORDER BY 1
        """,
    )
    names = {row["name"] for row in rows if not row["own"]}
    return [
        f"{name} is unique across organisations"
        for name in sorted(names - UNIQUE_ACROSS_ORGANISATIONS)
    ]


async def views(db: asyncpg.Connection) -> list[str]:
    """A view reads with the rights of its owner and bypasses row-level security."""
    rows = await _fetch(
        db,
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace "
        "AND relkind IN ('v', 'm', 'f') ORDER BY 1",
    )
    return [f"{row['relname']} is a view" for row in rows]


async def unsafe_security_definer_functions(db: asyncpg.Connection) -> list[str]:
    """Only listed functions run as their owner; they read only and fix their search path."""
    rows = await _fetch(
        db,
        """
        SELECT proname AS name, proconfig AS settings, provolatile <> 'v' AS reads_only
        FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef ORDER BY 1
        """,
    )
    names = {row["name"] for row in rows}
    return [
        *(f"{name} runs as its owner" for name in sorted(names - SECURITY_DEFINER_FUNCTIONS)),
        *(f"{name} does not exist" for name in sorted(SECURITY_DEFINER_FUNCTIONS - names)),
        *(
            f"{row['name']} does not fix its search path"
            for row in rows
            if row["settings"] != ["search_path=public, pg_temp"]
        ),
        *(f"{row['name']} can write as its owner" for row in rows if not row["reads_only"]),
    ]


async def excess_privileges(db: asyncpg.Connection) -> list[str]:
    """The role of requests owns nothing, is a member of no role and cannot change tables."""
    (role,) = await _fetch(
        db,
        f"""
        SELECT rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication
                OR rolcanlogin AS privileged,
            EXISTS (SELECT FROM pg_auth_members WHERE member = r.oid) AS member_of_another_role,
            EXISTS (SELECT FROM pg_shdepend WHERE refobjid = r.oid AND deptype = 'o') AS owns,
            has_schema_privilege(r.oid, 'public', 'CREATE') AS creates_objects
        FROM pg_roles r WHERE rolname = '{APP_ROLE}'
        """,
    )
    grants = await _fetch(
        db,
        f"""
        SELECT table_name, grantee, array_agg(privilege_type::text) AS privileges
        FROM information_schema.role_table_grants
        WHERE table_schema = 'public' AND grantee IN ('PUBLIC', '{APP_ROLE}')
        GROUP BY 1, 2 ORDER BY 1, 2
        """,
    )
    complaints = [f"{APP_ROLE}: {name}" for name, value in role.items() if value]
    for row in grants:
        allowed = REDUCED_PRIVILEGES.get(row["table_name"], ALL_PRIVILEGES)
        allowed = allowed if row["grantee"] == APP_ROLE else set()
        complaints += [
            f"{row['grantee']} may {privilege} {row['table_name']}"
            for privilege in sorted(set(row["privileges"]) - allowed)
        ]
    return complaints


ALL_CHECKS = (
    tables_without_row_security,
    wrong_policies,
    foreign_keys_across_organisations,
    uniqueness_across_organisations,
    views,
    unsafe_security_definer_functions,
    excess_privileges,
)
