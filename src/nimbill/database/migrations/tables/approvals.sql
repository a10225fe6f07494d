-- Requests for the approval of an operation, and which revisions of invoices were approved. Target,
-- body, review and result are JSON text, so that numbers keep their digits.

CREATE TABLE approval_requests (
    organisation_id text NOT NULL REFERENCES organisations,
    approval_id text NOT NULL,
    kind text NOT NULL,
    state text NOT NULL CHECK (
        state IN ('requested', 'approved', 'rejected', 'withdrawn', 'expired', 'outdated')
    ),
    target text NOT NULL,
    body text NOT NULL,
    review text NOT NULL,
    review_hash text NOT NULL,
    result text NOT NULL DEFAULT '{}',
    comment text NOT NULL DEFAULT '',
    company_ids text[], -- null: it belongs to no single billing groups
    makers text[] NOT NULL DEFAULT '{}',
    requested_by text NOT NULL,
    requested_by_name text NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    expire_time timestamptz NOT NULL,
    decided_by text,
    decided_by_name text,
    decide_time timestamptz,
    reason text,
    PRIMARY KEY (organisation_id, approval_id),
    CHECK ((state = 'requested') = (decide_time IS NULL)),
    CHECK (state <> 'approved' OR (decided_by IS NOT NULL AND decided_by <> requested_by)),
    CHECK (state <> 'approved' OR NOT decided_by = ANY (makers))
);
CREATE INDEX approval_requests_create_time_idx
    ON approval_requests (organisation_id, create_time);
CREATE INDEX approval_requests_open_idx ON approval_requests (organisation_id, expire_time)
    WHERE state = 'requested';

CREATE TABLE invoice_approvals (
    organisation_id text NOT NULL,
    month text NOT NULL,
    company_id text NOT NULL,
    vendor text NOT NULL,
    revision integer NOT NULL,
    approval_id text NOT NULL,
    approve_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, month, company_id, vendor, revision),
    FOREIGN KEY (organisation_id, month, company_id, vendor, revision)
        REFERENCES invoice_revisions,
    -- deferred, because a new request is tried before its row is written
    FOREIGN KEY (organisation_id, approval_id) REFERENCES approval_requests
        DEFERRABLE INITIALLY DEFERRED
);
