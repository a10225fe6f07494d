-- Budgets of companies and the alerts that were mailed. The list of budgets is one value, because it
-- is always replaced as a whole; it is JSON text, so that amounts keep their digits.

CREATE TABLE budget_settings (
    organisation_id text NOT NULL,
    company_id text NOT NULL,
    budgets text NOT NULL DEFAULT '[]',
    alerts_enabled boolean NOT NULL DEFAULT false,
    alert_recipients text[] NOT NULL DEFAULT '{}',
    alert_language text CHECK (alert_language IN ('ja', 'en')),
    update_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, company_id),
    FOREIGN KEY (organisation_id, company_id) REFERENCES billing_groups ON DELETE CASCADE
);

CREATE TABLE budget_alerts (
    organisation_id text NOT NULL,
    company_id text NOT NULL,
    budget_id text NOT NULL,
    month text NOT NULL,
    percent_of text NOT NULL CHECK (percent_of IN ('actual', 'forecast')),
    percent integer NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, company_id, budget_id, month, percent_of, percent),
    FOREIGN KEY (organisation_id, company_id) REFERENCES billing_groups ON DELETE CASCADE
);
