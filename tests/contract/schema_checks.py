"""What is wrong with the walls between organisations, asked of the database's own catalogue.

Every function answers what is wrong, one readable line each; an empty list means the wall stands.
"""

from __future__ import annotations

import asyncpg

from nimbill.application.schema import MIGRATIONS
from nimbill.database.tenant_scope import APP_ROLE

# tables without an organisation, and why
WITHOUT_ORGANISATION = {
    **{package.version_table: "revision of the schema" for package in MIGRATIONS},
    "signing_keys": "keys of the installation, sealed, for the tokens of all",
}
# tables whose owner looks across organisations, from inside the functions below and nowhere else
OWNER_READS_ALL_TENANTS = {
    "tenant_lookups": "find_organisation_id: whose client or short name this is",
    "jobs": "organisations_with_due_jobs: where something is due",
}
# functions that run with their owner's rights; exact questions, ids as answers
SECURITY_DEFINER_FUNCTIONS = {"find_organisation_id", "organisations_with_due_jobs"}
# what must be unique among all organisations, because it is named before one is known
UNIQUE_ACROSS_ORGANISATIONS = {"tenant_lookups_pkey", "signing_keys_pkey", "signing_keys_active_key"}
UNIQUE_ACROSS_ORGANISATIONS |= {f"{package.version_table}_pkc" for package in MIGRATIONS}

# what the application may do where it may not do everything
REDUCED_PRIVILEGES = {
    **{package.version_table: {"SELECT"} for package in MIGRATIONS},
    "audit_log": {"SELECT", "INSERT"},
}
ALL_PRIVILEGES = {"SELECT", "INSERT", "UPDATE", "DELETE"}

OWN_ROWS = "(organisation_id = current_setting('nimbill.organisation'::text, true))"


async def _rows(db: asyncpg.Connection, question: str) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await db.fetch(question)
    return rows


async def tables_without_row_security(db: asyncpg.Connection) -> list[str]:
    """Every table carries its organisation, and row-level security binds its owner too."""
    found = await _rows(
        db,
        """
        SELECT c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS forced,
            EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid
                AND a.attname = 'organisation_id' AND a.attnotnull
                AND a.atttypid = 'text'::regtype) AS carries
        FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
        ORDER BY 1
        """,
    )
    names = {row["name"] for row in found}
    walled = [row for row in found if row["name"] not in WITHOUT_ORGANISATION]
    return [
        *(f"{row['name']} does not carry its organisation" for row in walled if not row["carries"]),
        *(f"{row['name']} does not force its wall" for row in walled if not row["forced"]),
        *(f"{name} needs no exception" for name in WITHOUT_ORGANISATION if name not in names),
    ]


async def wrong_policies(db: asyncpg.Connection) -> list[str]:
    """One policy for everybody and every command; a second one for the owner, where it is named."""
    found = await _rows(
        db,
        """
        SELECT c.relname AS "table", p.polname AS name, p.polpermissive AS permissive,
            p.polcmd::text AS command, pg_get_expr(p.polqual, p.polrelid) AS rows,
            pg_get_expr(p.polwithcheck, p.polrelid) AS new_rows,
            p.polroles = '{0}' AS for_all, p.polroles = ARRAY[c.relowner] AS for_owner
        FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid ORDER BY 1, 2
        """,
    )
    complaints, walled, across = [], set(), set()
    for row in found:
        everything = row["permissive"] and row["command"] == "*" and row["new_rows"] is None
        if everything and row["for_all"] and row["rows"] == OWN_ROWS:
            walled.add(row["table"])
        elif everything and row["for_owner"] and row["rows"] == "true":
            across.add(row["table"])
        else:
            complaints.append(f"{row['table']} has another policy, {row['name']}")
    tables = await _rows(
        db,
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace "
        "AND relkind IN ('r', 'p') ORDER BY 1",
    )
    names = {row["relname"] for row in tables} - WITHOUT_ORGANISATION.keys()
    return [
        *complaints,
        *(f"{name} shows rows of every organisation" for name in sorted(names - walled)),
        *(f"{name} is looked across" for name in sorted(across - OWNER_READS_ALL_TENANTS.keys())),
        *(f"{name} is not looked across" for name in sorted(OWNER_READS_ALL_TENANTS.keys() - across)),
    ]


async def foreign_keys_across_organisations(db: asyncpg.Connection) -> list[str]:
    """A reference names the organisation on both sides, so that it can never cross."""
    found = await _rows(
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
        for row in found
        if "organisation_id=organisation_id" not in row["columns"]
    ]


async def uniqueness_across_organisations(db: asyncpg.Connection) -> list[str]:
    """A value unique among all organisations would tell one what another holds."""
    found = await _rows(
        db,
        """
        SELECT c.relname AS name, EXISTS (
            SELECT FROM pg_attribute a WHERE a.attrelid = i.indrelid
            AND a.attname = 'organisation_id' AND a.attnum = ANY (i.indkey::int2[])) AS own
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace ORDER BY 1
        """,
    )
    across = {row["name"] for row in found if not row["own"]}
    return [f"{name} is unique across organisations" for name in sorted(across - UNIQUE_ACROSS_ORGANISATIONS)]


async def views(db: asyncpg.Connection) -> list[str]:
    """A view asks with its owner's rights, behind the wall."""
    found = await _rows(
        db,
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace "
        "AND relkind IN ('v', 'm', 'f') ORDER BY 1",
    )
    return [f"{row['relname']} is a view" for row in found]


async def unsafe_security_definer_functions(db: asyncpg.Connection) -> list[str]:
    """Few functions run as their owner, and what they call cannot be swapped beneath them."""
    found = await _rows(
        db,
        """
        SELECT proname AS name, proconfig AS settings, provolatile <> 'v' AS reads_only
        FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef ORDER BY 1
        """,
    )
    names = {row["name"] for row in found}
    return [
        *(f"{name} runs as its owner" for name in sorted(names - SECURITY_DEFINER_FUNCTIONS)),
        *(f"{name} is gone" for name in sorted(SECURITY_DEFINER_FUNCTIONS - names)),
        *(
            f"{row['name']} does not fix its search path"
            for row in found
            if row["settings"] != ["search_path=public, pg_temp"]
        ),
        *(f"{row['name']} can write as its owner" for row in found if not row["reads_only"]),
    ]


async def excess_privileges(db: asyncpg.Connection) -> list[str]:
    """The role requests run as owns nothing, is nobody else, and changes no table."""
    (role,) = await _rows(
        db,
        f"""
        SELECT rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication
                OR rolcanlogin AS mighty,
            EXISTS (SELECT FROM pg_auth_members WHERE member = r.oid) AS somebody_else,
            EXISTS (SELECT FROM pg_shdepend WHERE refobjid = r.oid AND deptype = 'o') AS owns,
            has_schema_privilege(r.oid, 'public', 'CREATE') AS creates
        FROM pg_roles r WHERE rolname = '{APP_ROLE}'
        """,
    )
    grants = await _rows(
        db,
        f"""
        SELECT table_name, grantee, array_agg(privilege_type::text) AS held
        FROM information_schema.role_table_grants
        WHERE table_schema = 'public' AND grantee IN ('PUBLIC', '{APP_ROLE}')
        GROUP BY 1, 2 ORDER BY 1, 2
        """,
    )
    complaints = [f"{APP_ROLE}: {word}" for word, is_so in role.items() if is_so]
    for row in grants:
        allowed = REDUCED_PRIVILEGES.get(row["table_name"], ALL_PRIVILEGES)
        allowed = allowed if row["grantee"] == APP_ROLE else set()
        complaints += [
            f"{row['grantee']} may {word} {row['table_name']}"
            for word in sorted(set(row["held"]) - allowed)
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
