-- What customers set up in the portal. Account groups belong to a company, saved filters to a user.

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

-- Belong to one user, at most 100 each.
CREATE TABLE saved_filters (
    organisation_id text NOT NULL,
    filter_id text NOT NULL,
    user_id text NOT NULL,
    name text NOT NULL,
    content text NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, filter_id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX saved_filters_user_id_idx ON saved_filters (organisation_id, user_id);

-- Members of staff who see the portal as a customer does. A view ends with the login it began from.
CREATE TABLE portal_views (
    organisation_id text NOT NULL,
    view_id text NOT NULL,
    user_id text NOT NULL,
    client_id text NOT NULL, -- the API client or the session of the member of staff
    family_id text,
    credential_epoch integer NOT NULL,
    account_id text NOT NULL, -- the reseller account that is seen
    create_time timestamptz NOT NULL,
    expire_time timestamptz NOT NULL,
    PRIMARY KEY (organisation_id, view_id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users ON DELETE CASCADE,
    FOREIGN KEY (organisation_id, account_id) REFERENCES resellers ON DELETE CASCADE
);
CREATE INDEX portal_views_user_id_idx ON portal_views (organisation_id, user_id);
CREATE INDEX portal_views_account_id_idx ON portal_views (organisation_id, account_id);
