"""The ground: organisations, users, roles, keys, logins, audit, work, idempotency."""

from alembic import op

from nimbill.database.migrations.row_security import ALL, guard, open_to_owner
from nimbill.database.tenant_scope import APP_ROLE

revision = "0001"
down_revision = None

ORGANISATIONS = """
CREATE TABLE organisations (
    organisation_id text PRIMARY KEY,
    name text NOT NULL,
    short_name text NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE organisation_keys (
    organisation_id text NOT NULL REFERENCES organisations,
    version integer NOT NULL,
    sealed_key bytea NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, version)
);
CREATE TABLE directory (
    organisation_id text NOT NULL REFERENCES organisations,
    kind text NOT NULL,
    key text NOT NULL,
    PRIMARY KEY (kind, key)
);
CREATE TABLE signing_keys (
    kid text PRIMARY KEY,
    product text NOT NULL,
    state text NOT NULL CHECK (state IN ('next', 'active', 'retired')),
    public_key text NOT NULL,
    sealed_private_key bytea NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    state_time timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX signing_keys_one_active ON signing_keys (product) WHERE state = 'active';
"""

USERS = """
CREATE TABLE users (
    organisation_id text NOT NULL REFERENCES organisations,
    user_id text NOT NULL,
    root_user text NOT NULL,
    kind text NOT NULL,
    username text NOT NULL,
    email text,
    notification_email boolean NOT NULL DEFAULT false,
    password_hash text NOT NULL,
    credential_epoch integer NOT NULL DEFAULT 1,
    create_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, user_id)
);
CREATE UNIQUE INDEX username_taken ON users (organisation_id, lower(username));
CREATE UNIQUE INDEX email_taken ON users (organisation_id, lower(email));
CREATE TABLE api_clients (
    organisation_id text NOT NULL,
    client_id text NOT NULL,
    user_id text NOT NULL,
    name text NOT NULL,
    secret_hash bytea NOT NULL,
    create_time_ns bigint NOT NULL,
    PRIMARY KEY (organisation_id, client_id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE TABLE roles (
    organisation_id text NOT NULL,
    root_user text NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL,
    permissions text[] NOT NULL,
    CONSTRAINT role_name_taken PRIMARY KEY (organisation_id, root_user, namespace, name),
    FOREIGN KEY (organisation_id, root_user) REFERENCES users (organisation_id, user_id)
        ON DELETE CASCADE
);
CREATE TABLE role_mappings (
    organisation_id text NOT NULL,
    root_user text NOT NULL,
    user_id text NOT NULL,
    namespace text NOT NULL,
    role text NOT NULL,
    PRIMARY KEY (organisation_id, user_id, namespace, role),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users ON DELETE CASCADE,
    FOREIGN KEY (organisation_id, root_user, namespace, role)
        REFERENCES roles (organisation_id, root_user, namespace, name)
        ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE TABLE role_filters (
    organisation_id text NOT NULL,
    user_id text NOT NULL,
    namespace text NOT NULL,
    type text NOT NULL,
    resource text NOT NULL,
    PRIMARY KEY (organisation_id, user_id, namespace, type, resource),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users ON DELETE CASCADE
);
"""

LOGINS = """
CREATE TABLE token_families (
    organisation_id text NOT NULL,
    family_id text NOT NULL,
    user_id text NOT NULL,
    client_id text,
    product text NOT NULL,
    subject_type text NOT NULL,
    credential_epoch integer NOT NULL,
    revoked boolean NOT NULL DEFAULT false,
    create_time timestamptz NOT NULL,
    PRIMARY KEY (organisation_id, family_id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users ON DELETE CASCADE,
    FOREIGN KEY (organisation_id, client_id) REFERENCES api_clients ON DELETE CASCADE
);
CREATE INDEX token_families_user_id_idx ON token_families (organisation_id, user_id);
CREATE INDEX token_families_client_id_idx ON token_families (organisation_id, client_id);
CREATE INDEX token_families_create_time_idx ON token_families (organisation_id, create_time);
CREATE TABLE refresh_tokens (
    organisation_id text NOT NULL,
    token_hash bytea NOT NULL,
    family_id text NOT NULL,
    issue_time timestamptz NOT NULL,
    used_time timestamptz,
    sealed_successor bytea,
    PRIMARY KEY (organisation_id, token_hash),
    FOREIGN KEY (organisation_id, family_id) REFERENCES token_families ON DELETE CASCADE
);
CREATE INDEX refresh_tokens_family_id_idx ON refresh_tokens (organisation_id, family_id);
CREATE TABLE login_attempts (
    organisation_id text NOT NULL, -- also of organisations that are none: see login/throttle.py
    bucket bytea NOT NULL,
    attempts timestamptz[] NOT NULL,
    PRIMARY KEY (organisation_id, bucket)
);
CREATE TABLE known_sources (
    organisation_id text NOT NULL,
    user_id text NOT NULL,
    source text NOT NULL,
    last_seen timestamptz NOT NULL,
    PRIMARY KEY (organisation_id, user_id, source),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX api_clients_user_id_idx ON api_clients (organisation_id, user_id);
"""

RECORDS_OF_CALLS = """
CREATE TABLE audit_log (
    organisation_id text NOT NULL REFERENCES organisations,
    seq bigint NOT NULL,
    entry text NOT NULL,
    hash bytea NOT NULL,
    at text GENERATED ALWAYS AS ((entry::json) ->> 'at') STORED,
    actor text GENERATED ALWAYS AS ((entry::json) ->> 'actor') STORED,
    resource text GENERATED ALWAYS AS ((entry::json) ->> 'resource') STORED,
    company_id text GENERATED ALWAYS AS ((entry::json) ->> 'company_id') STORED,
    PRIMARY KEY (organisation_id, seq)
);
CREATE INDEX audit_log_at ON audit_log (organisation_id, at);
CREATE TABLE audit_heads (
    organisation_id text PRIMARY KEY REFERENCES organisations,
    seq bigint NOT NULL,
    hash bytea NOT NULL
);
CREATE TABLE idempotency_keys (
    organisation_id text NOT NULL,
    user_id text NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    status integer NOT NULL,
    sealed_answer bytea NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, user_id, key),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX idempotency_keys_create_time_idx ON idempotency_keys (organisation_id, create_time);
CREATE TABLE work (
    organisation_id text NOT NULL REFERENCES organisations,
    work_id text NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    payload jsonb NOT NULL,
    state text NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed')),
    due timestamptz NOT NULL,
    lease_until timestamptz,
    attempts integer NOT NULL DEFAULT 0,
    progress jsonb NOT NULL DEFAULT '{}',
    reason text,
    create_time timestamptz NOT NULL DEFAULT now(),
    update_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, work_id)
);
CREATE UNIQUE INDEX work_one_at_a_time ON work (organisation_id, kind, subject)
    WHERE state IN ('waiting', 'running');
CREATE INDEX work_due ON work (due) WHERE state IN ('waiting', 'running');
"""

# One round trip: sets the organisation of the transaction and answers who is calling.
ADMIT = """
CREATE FUNCTION admit(
    organisation text, caller text, client text, audience text, key text
)
RETURNS TABLE (
    username text, kind text, root_user text, credential_epoch integer,
    permissions text[], billing_groups text[]
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('nimbill.organisation', organisation, true);
    RETURN QUERY
    SELECT u.username, u.kind, u.root_user, u.credential_epoch,
        ARRAY(
            SELECT DISTINCT unnest(r.permissions)
            FROM role_mappings m JOIN roles r ON r.organisation_id = m.organisation_id
                AND r.root_user = m.root_user AND r.namespace = m.namespace AND r.name = m.role
            WHERE m.organisation_id = organisation AND m.user_id = u.user_id
                AND m.namespace = audience
        ),
        (
            SELECT array_agg(f.resource) FROM role_filters f
            WHERE f.organisation_id = organisation AND f.user_id = u.user_id
                AND f.namespace = 'core' AND f.type = 'billingGroup'
        )
    FROM users u
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
END $$;
"""

# One round trip of a login: whose client it is, its secret's hash, and the key that signs now.
FIND_CLIENT = """
CREATE FUNCTION find_client(wanted_client text, wanted_product text)
RETURNS TABLE (
    organisation_id text, user_id text, secret_hash bytea, credential_epoch integer, kid text
) LANGUAGE plpgsql AS $$
DECLARE
    organisation text := find_organisation('api_client', wanted_client);
BEGIN
    PERFORM set_config('nimbill.organisation', coalesce(organisation, ''), true);
    RETURN QUERY
    SELECT c.organisation_id, c.user_id, c.secret_hash, u.credential_epoch, k.kid
    FROM signing_keys k
    LEFT JOIN (api_clients c JOIN users u USING (organisation_id, user_id))
        ON c.organisation_id = organisation AND c.client_id = wanted_client
    WHERE k.product = wanted_product AND k.state = 'active';
END $$;
"""

# The head is locked here, by the last statement before commit, so that long work blocks nobody.
APPEND_AUDIT = """
CREATE FUNCTION append_audit(new_entry text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    mine text := current_setting('nimbill.organisation');
    head audit_heads;
BEGIN
    LOOP
        UPDATE audit_heads SET
            seq = seq + 1,
            hash = sha256(hash || int8send(seq + 1) || convert_to(new_entry, 'UTF8'))
        WHERE organisation_id = mine RETURNING * INTO head;
        EXIT WHEN FOUND;
        INSERT INTO audit_heads VALUES (mine, 0, sha256(convert_to(mine, 'UTF8')))
            ON CONFLICT DO NOTHING;
    END LOOP;
    INSERT INTO audit_log (organisation_id, seq, entry, hash)
        VALUES (mine, head.seq, new_entry, head.hash);
    RETURN head.seq;
END $$;
"""

# The only two questions that cross organisations; exact matches and ids, never contents.
ACROSS = """
CREATE FUNCTION find_organisation(wanted_kind text, wanted_key text) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT organisation_id FROM directory WHERE kind = wanted_kind AND key = wanted_key
$$;
CREATE FUNCTION organisations_with_work(moment timestamptz) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT DISTINCT organisation_id FROM work
    WHERE (state = 'waiting' AND due <= moment) OR (state = 'running' AND lease_until < moment)
$$;
"""

APPEND_ONLY = "SELECT, INSERT"


def upgrade() -> None:
    for statements in (ORGANISATIONS, USERS, LOGINS, RECORDS_OF_CALLS):
        for statement in statements.split(";\n"):
            if statement.strip():
                op.execute(statement)
    guard("organisations", "SELECT, INSERT, UPDATE")
    guard("organisation_keys", "SELECT, INSERT, UPDATE")
    guard("directory", "SELECT, INSERT, DELETE")
    open_to_owner("directory")
    for table in ("users", "api_clients", "roles", "role_mappings", "role_filters"):
        guard(table)
    for table in ("token_families", "refresh_tokens", "login_attempts", "known_sources"):
        guard(table)
    guard("audit_log", APPEND_ONLY)
    guard("audit_heads", "SELECT, INSERT, UPDATE")
    guard("idempotency_keys", "SELECT, INSERT, DELETE")
    guard("work")
    open_to_owner("work")
    op.execute(f"GRANT {ALL} ON signing_keys TO {APP_ROLE}")
    op.execute(f"GRANT SELECT ON alembic_version TO {APP_ROLE}")
    op.execute(ADMIT)
    op.execute(FIND_CLIENT)
    op.execute(APPEND_AUDIT)
    for function in ACROSS.split("$$;\n"):
        if function.strip():
            op.execute(function + "$$")


def downgrade() -> None:
    for function in (
        "admit(text, text, text, text, text)",
        "find_client(text, text)",
        "append_audit(text)",
        "find_organisation(text, text)",
        "organisations_with_work(timestamptz)",
    ):
        op.execute(f"DROP FUNCTION {function}")
    op.execute(
        "DROP TABLE work, idempotency_keys, audit_heads, audit_log, known_sources, login_attempts, "
        "refresh_tokens, token_families, role_filters, role_mappings, roles, api_clients, "
        " users, signing_keys, directory, organisation_keys, organisations"
    )
