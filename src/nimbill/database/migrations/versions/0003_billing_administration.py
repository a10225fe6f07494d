"""Billing administration: accounts, reseller accounts, free format, settings, exports."""

from importlib import import_module

from alembic import op

from nimbill.database.migrations.row_security import guard, lift_for_owner, lower_for_owner

revision = "0003"
down_revision = "0002"

TABLES = """
CREATE TABLE organisation_settings (
    organisation_id text PRIMARY KEY REFERENCES organisations,
    settings text NOT NULL,
    invoice_template_id text,
    update_time timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organisation_id, invoice_template_id) REFERENCES invoice_templates
);
CREATE TABLE free_format_items (
    organisation_id text NOT NULL,
    company_id text NOT NULL,
    vendor text NOT NULL CHECK (vendor IN ('aws', 'azure')),
    position integer NOT NULL,
    enabled boolean NOT NULL,
    label text NOT NULL,
    unit_cost numeric NOT NULL,
    quantity numeric NOT NULL,
    total numeric NOT NULL,
    PRIMARY KEY (organisation_id, company_id, vendor, position),
    FOREIGN KEY (organisation_id, company_id) REFERENCES billing_groups ON DELETE CASCADE
);
CREATE TABLE cloud_accounts (
    organisation_id text NOT NULL,
    customer_id text NOT NULL,
    vendor text NOT NULL CHECK (vendor IN ('aws', 'azure')),
    account_id text NOT NULL,
    company_id text NOT NULL,
    name text NOT NULL,
    note text,
    create_time timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT customer_id_taken PRIMARY KEY (organisation_id, customer_id),
    FOREIGN KEY (organisation_id, company_id) REFERENCES billing_groups
);
CREATE INDEX cloud_accounts_company_id_idx ON cloud_accounts (organisation_id, company_id);
CREATE TABLE resellers (
    organisation_id text NOT NULL,
    user_id text NOT NULL,
    company_id text NOT NULL,
    meta jsonb NOT NULL,
    update_time timestamptz,
    portal_registered timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, user_id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users ON DELETE CASCADE,
    FOREIGN KEY (organisation_id, company_id) REFERENCES billing_groups
);
ALTER TABLE users ADD password_update_time timestamptz;
CREATE INDEX resellers_company_id_idx ON resellers (organisation_id, company_id);
CREATE TABLE exports (
    organisation_id text NOT NULL REFERENCES organisations,
    export_id text NOT NULL,
    kind text NOT NULL,
    made_for bytea NOT NULL,
    file_name text NOT NULL,
    content bytea NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, export_id)
);
CREATE INDEX exports_newest ON exports (organisation_id, kind, made_for, create_time);
"""

SETTLED = """
ALTER TABLE invoice_settings
    ADD substitution_basis text,
    ADD substitution_scope text,
    ADD support_basis text,
    ADD support_scope text;
UPDATE invoice_settings SET
    substitution_basis = substitution_fee_calc_target,
    substitution_scope = substitution_fee_target_usage,
    support_basis = support_fee_calc_target;
ALTER TABLE invoice_settings
    ALTER substitution_basis SET NOT NULL,
    ALTER substitution_scope SET NOT NULL,
    ALTER support_basis SET NOT NULL;
"""

# As before, and what binds a reseller account: its billing group and its display flags. Whoever
# may do everything has no roles and no filters, and is not asked for them.
ADMIT = """
CREATE FUNCTION admit(organisation text, caller text, client text, audience text, key text)
RETURNS TABLE (
    username text, kind text, root_user text, credential_epoch integer,
    permissions text[], billing_groups text[], company_id text, meta jsonb
) LANGUAGE plpgsql AS $$
DECLARE
    acting_for text := set_config('nimbill.organisation', organisation, true);
BEGIN
    SELECT u.username, u.kind, u.root_user, u.credential_epoch, s.company_id, s.meta
    INTO username, kind, root_user, credential_epoch, company_id, meta
    FROM users u
    LEFT JOIN resellers s ON s.organisation_id = organisation AND s.user_id = u.root_user
    WHERE u.organisation_id = organisation AND u.user_id = caller
        AND EXISTS (SELECT FROM signing_keys k WHERE k.kid = key AND k.product = audience)
        AND (
            EXISTS (
                SELECT FROM api_clients c
                WHERE c.organisation_id = organisation AND c.client_id = client
            )
            OR EXISTS (
                SELECT FROM token_families t
                WHERE t.organisation_id = organisation AND t.family_id = client
                    AND t.user_id = caller AND t.client_id IS NULL AND NOT t.revoked
            )
        );
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF kind NOT IN ('root', 'reseller') THEN
        permissions := ARRAY(
            SELECT DISTINCT unnest(r.permissions)
            FROM role_mappings m JOIN roles r ON r.organisation_id = m.organisation_id
                AND r.root_user = m.root_user AND r.namespace = m.namespace AND r.name = m.role
            WHERE m.organisation_id = organisation AND m.user_id = caller
                AND m.namespace = audience
        );
        billing_groups := (
            SELECT array_agg(f.resource) FROM role_filters f
            WHERE f.organisation_id = organisation AND f.user_id = caller
                AND f.namespace = 'core' AND f.type = 'billingGroup'
        );
    END IF;
    RETURN NEXT;
END $$;
"""

# As before, and whose the client is: a reseller's client gets tokens of the portal alone.
FIND_CLIENT = """
CREATE FUNCTION find_client(wanted_client text, wanted_product text)
RETURNS TABLE (
    organisation_id text, user_id text, secret_hash bytea, credential_epoch integer, kid text,
    kind text
) LANGUAGE plpgsql AS $$
DECLARE
    organisation text := find_organisation('api_client', wanted_client);
BEGIN
    PERFORM set_config('nimbill.organisation', coalesce(organisation, ''), true);
    RETURN QUERY
    SELECT c.organisation_id, c.user_id, c.secret_hash, u.credential_epoch, k.kid, u.kind
    FROM signing_keys k
    LEFT JOIN (api_clients c JOIN users u USING (organisation_id, user_id))
        ON c.organisation_id = organisation AND c.client_id = wanted_client
    WHERE k.product = wanted_product AND k.state = 'active';
END $$;
"""


def _execute(statements: str) -> None:
    for statement in statements.split(";\n"):
        if statement.strip():
            op.execute(statement)


def _functions(admit: str, find_client: str) -> None:
    op.execute("DROP FUNCTION admit(text, text, text, text, text)")
    op.execute("DROP FUNCTION find_client(text, text)")
    op.execute(admit)
    op.execute(find_client)


def upgrade() -> None:
    _execute(TABLES)
    lift_for_owner("invoice_settings")
    _execute(SETTLED)
    lower_for_owner("invoice_settings")
    for table in (
        "organisation_settings",
        "free_format_items",
        "cloud_accounts",
        "resellers",
        "exports",
    ):
        guard(table)
    _functions(ADMIT, FIND_CLIENT)


def downgrade() -> None:
    before = import_module("nimbill.database.migrations.versions.0001_ground")
    _functions(before.ADMIT, before.FIND_CLIENT)
    op.execute(
        "ALTER TABLE invoice_settings DROP substitution_basis, DROP substitution_scope, "
        "DROP support_basis, DROP support_scope"
    )
    op.execute(
        "DROP TABLE exports, resellers, cloud_accounts, free_format_items, organisation_settings"
    )
    op.execute("ALTER TABLE users DROP password_update_time")
