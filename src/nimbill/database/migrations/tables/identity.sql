-- Organisations, users, roles, keys and logins. A constraint whose name ends in _taken is also the
-- error code of the response to a violation.

CREATE TABLE organisations (
    organisation_id text PRIMARY KEY,
    name text NOT NULL,
    short_name text NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE organisation_keys (
    organisation_id text NOT NULL REFERENCES organisations,
    version integer NOT NULL,
    encrypted_key bytea NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, version)
);

CREATE TABLE tenant_lookups (
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
    encrypted_private_key bytea NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    state_time timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX signing_keys_active_key ON signing_keys (product) WHERE state = 'active';

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
    password_update_time timestamptz,
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
CREATE INDEX api_clients_user_id_idx ON api_clients (organisation_id, user_id);

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
    user_agent text, -- of the browser that signed in, and its address
    address text,
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
    encrypted_successor bytea,
    PRIMARY KEY (organisation_id, token_hash),
    FOREIGN KEY (organisation_id, family_id) REFERENCES token_families ON DELETE CASCADE
);
CREATE INDEX refresh_tokens_family_id_idx ON refresh_tokens (organisation_id, family_id);

CREATE TABLE password_links (
    organisation_id text NOT NULL,
    token_hash bytea NOT NULL,
    user_id text NOT NULL,
    purpose text NOT NULL CHECK (purpose IN ('reset', 'invitation')),
    product text NOT NULL,
    credential_epoch integer NOT NULL,
    create_time timestamptz NOT NULL,
    expire_time timestamptz NOT NULL,
    PRIMARY KEY (organisation_id, token_hash),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX password_links_user_id_idx ON password_links (organisation_id, user_id);

CREATE TABLE second_factors (
    organisation_id text NOT NULL,
    factor_id text NOT NULL,
    user_id text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('passkey', 'totp')),
    name text NOT NULL,
    credential_id bytea, -- of a passkey, with its public key and the number of its signatures
    public_key bytea,
    sign_count bigint,
    encrypted_secret bytea, -- of an authenticator app, with the time step of its last used code
    last_step bigint,
    create_time timestamptz NOT NULL,
    last_use_time timestamptz,
    PRIMARY KEY (organisation_id, factor_id),
    CHECK ((kind = 'passkey') = (num_nulls(credential_id, public_key, sign_count) = 0)),
    CHECK ((kind = 'totp') = (num_nulls(encrypted_secret, last_step) = 0)),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX second_factors_user_id_idx ON second_factors (organisation_id, user_id);
CREATE UNIQUE INDEX passkey_taken ON second_factors (organisation_id, credential_id);

CREATE TABLE second_factor_challenges (
    organisation_id text NOT NULL,
    token_hash bytea NOT NULL,
    user_id text NOT NULL,
    purpose text NOT NULL CHECK (purpose IN ('sign_in', 'setup', 'registration')),
    product text NOT NULL,
    credential_epoch integer NOT NULL,
    kind text, -- of the factor that is being registered
    challenge bytea, -- that a passkey signs
    encrypted_secret bytea, -- of the authenticator app that is being registered
    expire_time timestamptz NOT NULL,
    PRIMARY KEY (organisation_id, token_hash),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX second_factor_challenges_user_id_idx
    ON second_factor_challenges (organisation_id, user_id);

CREATE TABLE login_attempts (
    organisation_id text NOT NULL, -- no foreign key: also counts attempts on unknown ids
    bucket bytea NOT NULL,
    attempts timestamptz[] NOT NULL,
    PRIMARY KEY (organisation_id, bucket)
);

CREATE TABLE known_login_sources (
    organisation_id text NOT NULL,
    user_id text NOT NULL,
    source text NOT NULL,
    last_seen timestamptz NOT NULL,
    PRIMARY KEY (organisation_id, user_id, source),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users ON DELETE CASCADE
);
