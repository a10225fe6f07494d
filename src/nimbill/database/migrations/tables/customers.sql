-- Billing groups and what belongs to them. A constraint whose name ends in _taken is also the error
-- code of the response to a violation.

CREATE TABLE projects (
    organisation_id text NOT NULL REFERENCES organisations,
    project_id text NOT NULL,
    project_code text NOT NULL,
    project_label text NOT NULL,
    project_currency text NOT NULL CHECK (project_currency IN ('jpy', 'usd')),
    create_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, project_id),
    CONSTRAINT project_code_taken UNIQUE (organisation_id, project_code)
);

CREATE TABLE invoice_templates (
    organisation_id text NOT NULL REFERENCES organisations,
    invoice_template_id text NOT NULL,
    content jsonb NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, invoice_template_id)
);

CREATE TABLE organisation_settings (
    organisation_id text PRIMARY KEY REFERENCES organisations,
    settings text NOT NULL,
    invoice_template_id text,
    approval_required text[] NOT NULL DEFAULT '{}', -- kinds
    update_time timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organisation_id, invoice_template_id) REFERENCES invoice_templates
);

CREATE TABLE portal_logos (
    organisation_id text PRIMARY KEY REFERENCES organisations,
    media_type text NOT NULL CHECK (media_type IN ('image/png', 'image/jpeg')),
    digest text NOT NULL,
    content bytea NOT NULL
);

CREATE TABLE billing_groups (
    organisation_id text NOT NULL REFERENCES organisations,
    company_id text NOT NULL,
    billinggroup_id text NOT NULL,
    billinggroup_name text NOT NULL,
    company_name text NOT NULL,
    phone text,
    postal text,
    address text,
    billing_title text,
    personal text,
    remarks text,
    inv_aggregate boolean NOT NULL,
    project_id text,
    invoice_template_id text,
    language text CHECK (language IN ('ja', 'en')),
    create_time timestamptz NOT NULL DEFAULT now(),
    billinggroup_id_hash bytea NOT NULL GENERATED ALWAYS AS (text_hash(billinggroup_id)) STORED,
    PRIMARY KEY (organisation_id, company_id),
    CONSTRAINT billinggroup_id_taken UNIQUE (organisation_id, billinggroup_id_hash),
    FOREIGN KEY (organisation_id, project_id) REFERENCES projects,
    FOREIGN KEY (organisation_id, invoice_template_id) REFERENCES invoice_templates
);

CREATE TABLE invoice_settings (
    organisation_id text NOT NULL,
    company_id text NOT NULL,
    vendor text NOT NULL CHECK (vendor ~ '^[a-z][a-z0-9-]{1,30}$'),
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
    PRIMARY KEY (organisation_id, company_id, vendor),
    FOREIGN KEY (organisation_id, company_id) REFERENCES billing_groups ON DELETE CASCADE
);

CREATE TABLE free_format_items (
    organisation_id text NOT NULL,
    company_id text NOT NULL,
    vendor text NOT NULL CHECK (vendor ~ '^[a-z][a-z0-9-]{1,30}$'),
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
    vendor text NOT NULL CHECK (vendor ~ '^[a-z][a-z0-9-]{1,30}$'),
    account_id text NOT NULL,
    company_id text NOT NULL,
    name text NOT NULL,
    note text,
    create_time timestamptz NOT NULL DEFAULT now(),
    name_prefix text NOT NULL GENERATED ALWAYS AS (lower("left"(name, 100))) STORED,
    CONSTRAINT customer_id_taken PRIMARY KEY (organisation_id, customer_id),
    FOREIGN KEY (organisation_id, company_id) REFERENCES billing_groups
);
CREATE INDEX cloud_accounts_company_id_idx ON cloud_accounts (organisation_id, company_id);
-- The search looks for the beginning of a number or a name. The operators of text_pattern_ops are
-- leakproof, so these indexes are used behind row-level security; a function such as lower() is not.
CREATE INDEX cloud_accounts_number_idx ON cloud_accounts
    (organisation_id, customer_id text_pattern_ops);
CREATE INDEX cloud_accounts_name_idx ON cloud_accounts
    (organisation_id, name_prefix text_pattern_ops);

CREATE TABLE contacts (
    organisation_id text NOT NULL,
    contact_id text NOT NULL,
    company_id text NOT NULL,
    name text NOT NULL,
    email text NOT NULL,
    send_as text NOT NULL CHECK (send_as IN ('to', 'cc')),
    receives_invoices boolean NOT NULL,
    language text CHECK (language IN ('ja', 'en')),
    create_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, contact_id),
    FOREIGN KEY (organisation_id, company_id) REFERENCES billing_groups ON DELETE CASCADE
);
CREATE INDEX contacts_company_id_idx ON contacts (organisation_id, company_id);

-- Billing groups that accounts have left, so that a customer does not see months of an account that
-- were invoiced to another customer. Written by the trigger record_former_group.
CREATE TABLE former_account_groups (
    organisation_id text NOT NULL REFERENCES organisations,
    customer_id text NOT NULL,
    vendor text NOT NULL,
    company_id text NOT NULL,
    left_at timestamptz NOT NULL
);
CREATE INDEX former_account_groups_customer_id_idx ON former_account_groups
    (organisation_id, customer_id);

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
CREATE INDEX resellers_company_id_idx ON resellers (organisation_id, company_id);
