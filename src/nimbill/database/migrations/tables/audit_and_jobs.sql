-- The audit log, idempotency keys of requests, and deferred jobs.

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
CREATE INDEX audit_log_at_idx ON audit_log (organisation_id, at);
CREATE INDEX audit_log_resource_idx ON audit_log (organisation_id, (left(resource, 100)), seq);

CREATE TABLE audit_heads (
    organisation_id text PRIMARY KEY REFERENCES organisations,
    seq bigint NOT NULL,
    hash bytea NOT NULL
);

CREATE TABLE idempotency_keys (
    organisation_id text NOT NULL REFERENCES organisations,
    user_id text NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    status integer NOT NULL,
    encrypted_response bytea NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, user_id, key)
);
CREATE INDEX idempotency_keys_create_time_idx ON idempotency_keys (organisation_id, create_time);

CREATE TABLE jobs (
    organisation_id text NOT NULL REFERENCES organisations,
    job_id text NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    payload jsonb NOT NULL,
    state text NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed')),
    due timestamptz NOT NULL,
    leased_until timestamptz,
    attempts integer NOT NULL DEFAULT 0,
    progress jsonb NOT NULL DEFAULT '{}',
    reason text,
    create_time timestamptz NOT NULL DEFAULT now(),
    update_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, job_id)
);
CREATE UNIQUE INDEX jobs_active_subject_key ON jobs (organisation_id, kind, subject)
    WHERE state IN ('waiting', 'running');
CREATE INDEX jobs_due_idx ON jobs (due) WHERE state IN ('waiting', 'running');
CREATE INDEX jobs_failed_idx ON jobs (kind) WHERE state = 'failed';
