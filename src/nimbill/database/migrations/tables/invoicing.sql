-- Invoices, the runs that create them, and exported files.

CREATE TABLE monthly_invoice_settings (
    organisation_id text NOT NULL,
    month text NOT NULL,
    vendor text NOT NULL CHECK (vendor ~ '^[a-z][a-z0-9-]{1,30}$'),
    company_id text NOT NULL,
    calc_type text NOT NULL,
    currency text NOT NULL,
    discount_calc_logic text NOT NULL,
    discount_rate numeric NOT NULL,
    discount_target_usage text NOT NULL,
    substitution_fee text NOT NULL,
    substitution_fee_calc_target text NOT NULL,
    substitution_fee_calc_type text NOT NULL,
    substitution_fee_target_usage text NOT NULL,
    substitution_fix numeric NOT NULL,
    substitution_rate numeric NOT NULL,
    support_amount_target text NOT NULL,
    support_fee text NOT NULL,
    support_fee_calc_target text NOT NULL,
    support_fix numeric NOT NULL,
    support_rate numeric NOT NULL,
    tax_rate numeric NOT NULL,
    substitution_basis text NOT NULL,
    substitution_scope text NOT NULL,
    support_basis text NOT NULL,
    support_scope text,
    memo text,
    exchange_rate numeric CHECK (exchange_rate > 0),
    rate_saved_by text,
    rate_saved_time timestamptz,
    update_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, month, vendor, company_id),
    FOREIGN KEY (organisation_id, company_id) REFERENCES billing_groups ON DELETE CASCADE
);
CREATE INDEX monthly_invoice_settings_company_id_idx ON monthly_invoice_settings
    (organisation_id, company_id, vendor, month);

CREATE TABLE invoice_counters (
    organisation_id text NOT NULL REFERENCES organisations,
    month text NOT NULL,
    last_number integer NOT NULL,
    PRIMARY KEY (organisation_id, month)
);

CREATE TABLE invoices (
    organisation_id text NOT NULL,
    month text NOT NULL,
    company_id text NOT NULL,
    vendor text NOT NULL CHECK (vendor ~ '^[a-z][a-z0-9-]{1,30}$'),
    number integer NOT NULL CHECK (number > 0),
    revision integer NOT NULL CHECK (revision > 0),
    create_time timestamptz NOT NULL,
    update_time timestamptz NOT NULL,
    sent_time timestamptz,
    sent_by text,
    publish_time timestamptz CHECK (publish_time IS NULL OR sent_time IS NOT NULL),
    cancelled_time timestamptz CHECK (cancelled_time IS NULL OR sent_time IS NOT NULL),
    cancelled_by text,
    cancel_reason text,
    PRIMARY KEY (organisation_id, month, company_id, vendor),
    CHECK ((sent_time IS NULL) = (sent_by IS NULL)),
    CHECK ((cancelled_time IS NULL) = (cancelled_by IS NULL)),
    CHECK ((cancelled_time IS NULL) = (cancel_reason IS NULL)),
    UNIQUE (organisation_id, month, number),
    FOREIGN KEY (organisation_id, company_id) REFERENCES billing_groups
);
CREATE INDEX invoices_company_id_idx ON invoices (organisation_id, company_id);

CREATE TABLE invoice_revisions (
    organisation_id text NOT NULL,
    month text NOT NULL,
    company_id text NOT NULL,
    vendor text NOT NULL,
    revision integer NOT NULL,
    run_id text NOT NULL,
    currency text NOT NULL,
    pre_tax numeric NOT NULL,
    taxable numeric NOT NULL,
    tax_rate numeric NOT NULL,
    tax numeric NOT NULL,
    total numeric NOT NULL CHECK (total = pre_tax + tax),
    pre_tax_usd numeric NOT NULL,
    discount_rate numeric NOT NULL,
    exchange_rate numeric NOT NULL,
    vendor_cost numeric NOT NULL,
    cost_currency text NOT NULL,
    issue_date text NOT NULL,
    due_date text,
    counterparty text NOT NULL,
    warnings text[] NOT NULL,
    saved_inputs jsonb NOT NULL,
    document text NOT NULL,
    create_time timestamptz NOT NULL,
    PRIMARY KEY (organisation_id, month, company_id, vendor, revision),
    UNIQUE (organisation_id, run_id, company_id),
    FOREIGN KEY (organisation_id, month, company_id, vendor) REFERENCES invoices
);

CREATE TABLE credit_note_counters (
    organisation_id text NOT NULL REFERENCES organisations,
    issue_month text NOT NULL,
    last_number integer NOT NULL,
    PRIMARY KEY (organisation_id, issue_month)
);

CREATE TABLE credit_notes (
    organisation_id text NOT NULL,
    credit_note_id text NOT NULL,
    issue_month text NOT NULL,
    number integer NOT NULL CHECK (number > 0),
    issue_date text NOT NULL CHECK (left(issue_date, 7) = issue_month),
    counterparty text NOT NULL,
    month text NOT NULL,
    company_id text NOT NULL,
    vendor text NOT NULL,
    currency text NOT NULL,
    pre_tax numeric NOT NULL,
    tax numeric NOT NULL,
    total numeric NOT NULL CHECK (total = pre_tax + tax AND total > 0),
    document text NOT NULL,
    create_time timestamptz NOT NULL,
    created_by text NOT NULL,
    PRIMARY KEY (organisation_id, credit_note_id),
    UNIQUE (organisation_id, issue_month, number),
    FOREIGN KEY (organisation_id, month, company_id, vendor) REFERENCES invoices
);
CREATE INDEX credit_notes_invoice_idx ON credit_notes (organisation_id, month, company_id, vendor);

CREATE TABLE payments (
    organisation_id text NOT NULL,
    payment_id text NOT NULL,
    month text NOT NULL,
    company_id text NOT NULL,
    vendor text NOT NULL,
    currency text NOT NULL,
    amount numeric NOT NULL CHECK (amount > 0),
    paid_on text NOT NULL,
    note text,
    create_time timestamptz NOT NULL,
    created_by text NOT NULL,
    reversed_time timestamptz,
    reversed_by text,
    reverse_reason text,
    PRIMARY KEY (organisation_id, payment_id),
    CHECK ((reversed_time IS NULL) = (reversed_by IS NULL)),
    CHECK ((reversed_time IS NULL) = (reverse_reason IS NULL)),
    FOREIGN KEY (organisation_id, month, company_id, vendor) REFERENCES invoices
);
CREATE INDEX payments_invoice_idx ON payments (organisation_id, month, company_id, vendor);
CREATE INDEX payments_paid_on_idx ON payments (organisation_id, paid_on);
CREATE TABLE replaced_invoices (
    organisation_id text NOT NULL,
    month text NOT NULL,
    number integer NOT NULL CHECK (number > 0),
    company_id text NOT NULL,
    vendor text NOT NULL,
    revision integer NOT NULL,
    replacement_number integer NOT NULL CHECK (replacement_number > number),
    reason text NOT NULL,
    import_id text,
    sent_time timestamptz NOT NULL,
    sent_by text NOT NULL,
    replaced_time timestamptz NOT NULL,
    replaced_by text NOT NULL,
    PRIMARY KEY (organisation_id, month, number),
    UNIQUE (organisation_id, month, replacement_number),
    FOREIGN KEY (organisation_id, month, company_id, vendor) REFERENCES invoices
);
CREATE INDEX replaced_invoices_company_id_idx ON replaced_invoices
    (organisation_id, company_id, month, vendor);

CREATE TABLE drift_decisions (
    organisation_id text NOT NULL,
    import_id text NOT NULL,
    company_id text NOT NULL,
    vendor text NOT NULL,
    month text NOT NULL,
    decision text NOT NULL CHECK (decision IN ('entry', 'credit_note', 'replacement', 'dismissed')),
    reason text NOT NULL,
    invoice_no text,
    late_costs text NOT NULL,
    currency text,
    pre_tax numeric,
    entry_id text,
    entry_month text,
    credit_note_id text,
    replacement_no text,
    decide_time timestamptz NOT NULL,
    decided_by text NOT NULL,
    PRIMARY KEY (organisation_id, import_id, company_id),
    CHECK ((decision = 'dismissed') = (pre_tax IS NULL)),
    CHECK ((decision = 'dismissed') = (currency IS NULL)),
    CHECK ((decision = 'entry') = (entry_id IS NOT NULL)),
    CHECK ((decision = 'entry') = (entry_month IS NOT NULL)),
    CHECK ((decision = 'credit_note') = (credit_note_id IS NOT NULL)),
    CHECK ((decision = 'replacement') = (replacement_no IS NOT NULL)),
    FOREIGN KEY (organisation_id, import_id) REFERENCES cost_imports,
    FOREIGN KEY (organisation_id, company_id) REFERENCES billing_groups,
    FOREIGN KEY (organisation_id, entry_id) REFERENCES recalculation_entries
);
CREATE INDEX drift_decisions_company_id_idx ON drift_decisions
    (organisation_id, company_id, month, vendor);

CREATE TABLE invoice_pdfs (
    organisation_id text NOT NULL REFERENCES organisations,
    pdf_id text NOT NULL,
    content bytea NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, pdf_id)
);

CREATE TABLE invoice_deliveries (
    organisation_id text NOT NULL,
    delivery_id text NOT NULL,
    month text NOT NULL,
    company_id text NOT NULL,
    vendor text NOT NULL,
    revision integer NOT NULL,
    method text NOT NULL CHECK (method IN ('pdf', 'link')),
    state text NOT NULL CHECK (state IN ('queued', 'sending', 'delivered', 'failed', 'unknown')),
    cause text,
    message_id text NOT NULL,
    language text NOT NULL,
    recipients jsonb NOT NULL,
    refused jsonb NOT NULL,
    subject text NOT NULL,
    text text NOT NULL,
    attachment text,
    attempts integer NOT NULL,
    created_by text NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    update_time timestamptz NOT NULL DEFAULT now(),
    delivered_time timestamptz,
    PRIMARY KEY (organisation_id, delivery_id),
    FOREIGN KEY (organisation_id, month, company_id, vendor) REFERENCES invoices,
    CHECK ((method = 'pdf') = (attachment IS NOT NULL)),
    CHECK ((state = 'delivered') = (delivered_time IS NOT NULL))
);
CREATE INDEX invoice_deliveries_invoice_idx ON invoice_deliveries
    (organisation_id, month, company_id, vendor);

CREATE TABLE invoice_runs (
    organisation_id text NOT NULL REFERENCES organisations,
    run_id text NOT NULL,
    month text NOT NULL,
    vendor text NOT NULL CHECK (vendor ~ '^[a-z][a-z0-9-]{1,30}$'),
    groups_hash bytea NOT NULL,
    state text NOT NULL CHECK (state IN ('running', 'done')),
    job_id text NOT NULL,
    company_ids text[] NOT NULL,
    group_count integer NOT NULL,
    skipped text,
    create_time timestamptz NOT NULL DEFAULT now(),
    update_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, run_id),
    CHECK ((state = 'done') = (skipped IS NOT NULL))
);
CREATE UNIQUE INDEX invoice_runs_running_key ON invoice_runs
    (organisation_id, month, vendor, groups_hash) WHERE state = 'running';
CREATE INDEX invoice_runs_month_idx ON invoice_runs (organisation_id, month, create_time);

CREATE TABLE invoice_run_keys (
    organisation_id text NOT NULL,
    key_hash bytea NOT NULL,
    run_id text NOT NULL,
    PRIMARY KEY (organisation_id, key_hash),
    FOREIGN KEY (organisation_id, run_id) REFERENCES invoice_runs
);
CREATE INDEX invoice_run_keys_run_id_idx ON invoice_run_keys (organisation_id, run_id);

CREATE TABLE exports (
    organisation_id text NOT NULL REFERENCES organisations,
    export_id text NOT NULL,
    kind text NOT NULL,
    scope_hash bytea NOT NULL,
    file_name text NOT NULL,
    content bytea NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, export_id)
);
CREATE INDEX exports_create_time_idx ON exports (organisation_id, kind, scope_hash, create_time);

CREATE TABLE tie_out_results (
    organisation_id text NOT NULL REFERENCES organisations,
    vendor text NOT NULL CHECK (vendor ~ '^[a-z][a-z0-9-]{1,30}$'),
    month text NOT NULL,
    fingerprint text NOT NULL,
    summary text NOT NULL,
    lists bytea NOT NULL,
    update_time timestamptz NOT NULL,
    PRIMARY KEY (organisation_id, vendor, month)
);
