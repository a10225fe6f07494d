-- What customers set up in the portal. Account groups belong to a company, not to one of its users.

CREATE TABLE account_groups (
    organisation_id text NOT NULL,
    company_id text NOT NULL,
    group_id text NOT NULL,
    name text NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, group_id),
    CONSTRAINT account_group_name_taken UNIQUE (organisation_id, company_id, name),
    FOREIGN KEY (organisation_id, company_id) REFERENCES billing_groups ON DELETE CASCADE
);

CREATE TABLE account_group_members (
    organisation_id text NOT NULL,
    group_id text NOT NULL,
    customer_id text NOT NULL,
    PRIMARY KEY (organisation_id, group_id, customer_id),
    FOREIGN KEY (organisation_id, group_id) REFERENCES account_groups ON DELETE CASCADE,
    FOREIGN KEY (organisation_id, customer_id) REFERENCES cloud_accounts ON DELETE CASCADE
);
