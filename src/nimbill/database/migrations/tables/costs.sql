-- Imports of vendor cost files, the files of the lake, sums of costs, and the states of months.
-- cost_sums, cost_tag_sums and cost_tagged_sums have millions of rows. They have no foreign key to
-- organisations: checking it took as long as storing the row, and row-level security enforces the
-- organisation.

CREATE TABLE cost_imports (
    organisation_id text NOT NULL REFERENCES organisations,
    import_id text NOT NULL,
    vendor text NOT NULL CHECK (vendor ~ '^[a-z][a-z0-9-]{1,30}$'),
    month text,
    sources text[] NOT NULL,
    uploaded boolean NOT NULL,
    state text NOT NULL CHECK (state IN
        ('waiting', 'running', 'done', 'unchanged', 'refused', 'parked', 'drift', 'failed')),
    content_hash text,
    assembly text,
    assembled_at timestamptz,
    lines bigint NOT NULL DEFAULT 0,
    provisional boolean,
    report text NOT NULL DEFAULT '{}',
    problem text,
    parked_reason text,
    release_reason text,
    created_by text NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    update_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, import_id)
);
CREATE INDEX cost_imports_create_time_idx ON cost_imports (organisation_id, create_time);
CREATE INDEX cost_imports_state_idx ON cost_imports (vendor, state);
CREATE INDEX cost_imports_content_hash_idx ON cost_imports (organisation_id, vendor, content_hash);

CREATE TABLE lake_files (
    organisation_id text NOT NULL REFERENCES organisations,
    path text NOT NULL,
    import_id text NOT NULL,
    vendor text NOT NULL,
    month text NOT NULL,
    lines bigint NOT NULL,
    bytes bigint NOT NULL,
    sha256 text NOT NULL,
    PRIMARY KEY (organisation_id, path)
);
CREATE INDEX lake_files_import_id_idx ON lake_files (organisation_id, import_id);

CREATE TABLE cost_months (
    organisation_id text NOT NULL REFERENCES organisations,
    vendor text NOT NULL,
    payer_id text NOT NULL,
    month text NOT NULL,
    import_id text NOT NULL,
    provisional boolean NOT NULL,
    lines bigint NOT NULL,
    tag_keys text[] NOT NULL DEFAULT '{}',
    update_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, vendor, payer_id, month)
);

CREATE TABLE cost_sums (
    organisation_id text NOT NULL,
    vendor text NOT NULL,
    payer_id text NOT NULL,
    month text NOT NULL,
    customer_id text NOT NULL,
    line_type text NOT NULL,
    kind text NOT NULL,
    service text NOT NULL,
    marketplace boolean NOT NULL,
    day date NOT NULL,
    currency text NOT NULL,
    cost numeric NOT NULL,
    lines bigint NOT NULL
);
CREATE INDEX cost_sums_month_idx ON cost_sums (organisation_id, vendor, month, customer_id);

CREATE TABLE cost_tag_sums (
    organisation_id text NOT NULL,
    vendor text NOT NULL,
    payer_id text NOT NULL,
    month text NOT NULL,
    customer_id text NOT NULL,
    line_type text NOT NULL,
    kind text NOT NULL,
    service text NOT NULL,
    marketplace boolean NOT NULL,
    tag_key text NOT NULL,
    tag_value text NOT NULL,
    currency text NOT NULL,
    cost numeric NOT NULL,
    lines bigint NOT NULL
);
CREATE INDEX cost_tag_sums_month_idx ON cost_tag_sums
    (organisation_id, vendor, month, tag_key, customer_id);

CREATE TABLE cost_tagged_sums (
    organisation_id text NOT NULL,
    vendor text NOT NULL,
    payer_id text NOT NULL,
    month text NOT NULL,
    customer_id text NOT NULL,
    line_type text NOT NULL,
    kind text NOT NULL,
    service text NOT NULL,
    marketplace boolean NOT NULL,
    day date NOT NULL,
    tags jsonb NOT NULL,
    currency text NOT NULL,
    cost numeric NOT NULL,
    lines bigint NOT NULL
);
CREATE INDEX cost_tagged_sums_month_idx ON cost_tagged_sums
    (organisation_id, vendor, month, customer_id);

CREATE TABLE marketplace_products (
    organisation_id text NOT NULL REFERENCES organisations,
    vendor text NOT NULL,
    payer_id text NOT NULL,
    month text NOT NULL,
    customer_id text NOT NULL,
    service text NOT NULL,
    name text NOT NULL
);
CREATE INDEX marketplace_products_month_idx ON marketplace_products
    (organisation_id, vendor, month, customer_id);

CREATE TABLE month_states (
    organisation_id text NOT NULL REFERENCES organisations,
    vendor text NOT NULL CHECK (vendor ~ '^[a-z][a-z0-9-]{1,30}$'),
    month text NOT NULL,
    closed boolean NOT NULL,
    closing_number integer NOT NULL,
    update_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, vendor, month)
);

CREATE TABLE parked_months (
    organisation_id text NOT NULL REFERENCES organisations,
    vendor text NOT NULL CHECK (vendor ~ '^[a-z][a-z0-9-]{1,30}$'),
    month text NOT NULL,
    import_id text NOT NULL,
    reason text NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, vendor, month, import_id)
);
