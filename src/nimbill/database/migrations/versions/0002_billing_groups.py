"""Billing groups with their invoice settings, and what they refer to: projects and templates."""

from alembic import op

from nimbill.database.migrations.row_security import guard

revision = "0002"
down_revision = "0001"

# Texts that must be unique have no length rule, and an index takes 2,700 bytes: it holds their
# hashes instead. The hash is a column, not an expression: behind row-level security an index is
# only asked about what cannot leak, and a function of ours might, so every row would be read.
TEXT_KEY = """
CREATE FUNCTION text_key(words text) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT sha256(convert_to(words, 'UTF8')) $$
"""

TABLES = """
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
    billinggroup_key bytea NOT NULL GENERATED ALWAYS AS (text_key(billinggroup_id)) STORED,
    PRIMARY KEY (organisation_id, company_id),
    CONSTRAINT billinggroup_id_taken UNIQUE (organisation_id, billinggroup_key),
    FOREIGN KEY (organisation_id, project_id) REFERENCES projects,
    FOREIGN KEY (organisation_id, invoice_template_id) REFERENCES invoice_templates
);
CREATE TABLE invoice_settings (
    organisation_id text NOT NULL,
    company_id text NOT NULL,
    vendor text NOT NULL CHECK (vendor IN ('aws', 'azure')),
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
    PRIMARY KEY (organisation_id, company_id, vendor),
    FOREIGN KEY (organisation_id, company_id) REFERENCES billing_groups ON DELETE CASCADE
);
"""


def upgrade() -> None:
    op.execute(TEXT_KEY)
    for statement in TABLES.split(";\n"):
        if statement.strip():
            op.execute(statement)
    for table in ("projects", "invoice_templates", "billing_groups", "invoice_settings"):
        guard(table)


def downgrade() -> None:
    op.execute("DROP TABLE invoice_settings, billing_groups, invoice_templates, projects")
    op.execute("DROP FUNCTION text_key(text)")
