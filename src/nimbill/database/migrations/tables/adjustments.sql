-- Recalculation entries and reserved instances.

CREATE TABLE recalculation_entries (
    organisation_id text NOT NULL REFERENCES organisations,
    entry_id text NOT NULL,
    vendor text NOT NULL CHECK (vendor ~ '^[a-z][a-z0-9-]{1,30}$'),
    payer_id text NOT NULL,
    month text NOT NULL,
    customer_id text NOT NULL,
    calc_type text NOT NULL,
    platform_type text NOT NULL,
    description text NOT NULL,
    product_name text NOT NULL,
    product_code text NOT NULL,
    currency_code text NOT NULL,
    unblended_cost numeric NOT NULL,
    time_interval text NOT NULL,
    usage_start timestamptz NOT NULL,
    invoice_id text,
    delivered boolean NOT NULL,
    applied_month text,
    exchange_rate numeric,
    tax_free boolean NOT NULL DEFAULT false,
    PRIMARY KEY (organisation_id, entry_id),
    CHECK ((applied_month IS NULL) = (exchange_rate IS NULL)),
    CHECK (applied_month IS NOT NULL OR (delivered AND NOT tax_free)),
    CHECK (applied_month >= month)
);
CREATE INDEX recalculation_entries_month_idx ON recalculation_entries
    (organisation_id, vendor, month, payer_id);
CREATE INDEX recalculation_entries_applied_month_idx ON recalculation_entries
    (organisation_id, vendor, applied_month) WHERE applied_month IS NOT NULL;
CREATE INDEX recalculation_entries_customer_id_idx ON recalculation_entries
    (organisation_id, customer_id, applied_month) WHERE applied_month IS NOT NULL;

CREATE TABLE reserved_instances (
    organisation_id text NOT NULL REFERENCES organisations,
    ri_id text NOT NULL,
    vendor text NOT NULL CHECK (vendor ~ '^[a-z][a-z0-9-]{1,30}$'),
    reservation_id text NOT NULL,
    customer_id text NOT NULL,
    arn text NOT NULL,
    start_time timestamptz,
    end_time timestamptz,
    instance_type text NOT NULL,
    modification_status text NOT NULL,
    offer_class text NOT NULL,
    paid_by text NOT NULL,
    payment_option text NOT NULL,
    platform text NOT NULL,
    region text NOT NULL,
    scope text NOT NULL,
    service text NOT NULL,
    tenancy text NOT NULL,
    term_length text NOT NULL,
    usage_type text NOT NULL,
    zone text NOT NULL,
    normalization_factor numeric NOT NULL,
    number bigint NOT NULL CHECK (number >= 0),
    unblended_rate numeric NOT NULL,
    upfront_value numeric NOT NULL,
    PRIMARY KEY (organisation_id, ri_id),
    UNIQUE (organisation_id, vendor, reservation_id, customer_id)
);
CREATE INDEX reserved_instances_customer_id_idx ON reserved_instances
    (organisation_id, customer_id, vendor);

CREATE TABLE reservation_fees (
    organisation_id text NOT NULL,
    ri_id text NOT NULL,
    month text NOT NULL,
    payer_id text NOT NULL,
    currency text NOT NULL,
    fee numeric NOT NULL,
    number bigint NOT NULL CHECK (number >= 0),
    PRIMARY KEY (organisation_id, ri_id, month, payer_id, currency),
    FOREIGN KEY (organisation_id, ri_id) REFERENCES reserved_instances
);
CREATE INDEX reservation_fees_month_idx ON reservation_fees (organisation_id, month, payer_id);

CREATE TABLE reservation_moves (
    organisation_id text NOT NULL,
    move_id text NOT NULL,
    ri_id text NOT NULL,
    position integer NOT NULL,
    dest_customer_id text NOT NULL,
    number bigint NOT NULL CHECK (number > 0),
    created_after_closing integer NOT NULL,
    removed_after_closing integer,
    account_in_use text,
    create_time timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (organisation_id, move_id),
    UNIQUE (organisation_id, ri_id, position),
    FOREIGN KEY (organisation_id, ri_id) REFERENCES reserved_instances,
    FOREIGN KEY (organisation_id, account_in_use) REFERENCES cloud_accounts,
    CHECK ((removed_after_closing IS NULL) = (account_in_use IS NOT NULL))
);
CREATE INDEX reservation_moves_dest_customer_id_idx ON reservation_moves
    (organisation_id, dest_customer_id);
CREATE INDEX reservation_moves_account_in_use_idx ON reservation_moves
    (organisation_id, account_in_use) WHERE account_in_use IS NOT NULL;
