-- Sums of the lines of reservations and savings plans, and of instances that run without them.

CREATE TABLE commitment_usage (
    organisation_id text NOT NULL REFERENCES organisations,
    vendor text NOT NULL,
    payer_id text NOT NULL,
    month text NOT NULL,
    customer_id text NOT NULL,
    kind text NOT NULL,
    currency text NOT NULL,
    cost numeric NOT NULL,
    lines bigint NOT NULL,
    hours numeric NOT NULL,
    hour_lines bigint NOT NULL,
    line_type text NOT NULL,
    reservation_id text NOT NULL,
    savings_plan_id text NOT NULL,
    used boolean NOT NULL,
    normalized_hours numeric NOT NULL,
    factor_lines bigint NOT NULL,
    effective_cost numeric NOT NULL,
    effective_lines bigint NOT NULL,
    reservation_start text NOT NULL,
    reservation_end text NOT NULL,
    payment_option text NOT NULL,
    term_length text NOT NULL
);
CREATE INDEX commitment_usage_month_idx ON commitment_usage
    (organisation_id, vendor, month, customer_id);
CREATE INDEX commitment_usage_reservation_idx ON commitment_usage
    (organisation_id, vendor, month, reservation_id) WHERE reservation_id <> '';
CREATE INDEX commitment_usage_savings_plan_idx ON commitment_usage
    (organisation_id, vendor, month, savings_plan_id) WHERE savings_plan_id <> '';

CREATE TABLE on_demand_usage (
    organisation_id text NOT NULL REFERENCES organisations,
    vendor text NOT NULL,
    payer_id text NOT NULL,
    month text NOT NULL,
    customer_id text NOT NULL,
    kind text NOT NULL,
    currency text NOT NULL,
    cost numeric NOT NULL,
    lines bigint NOT NULL,
    hours numeric NOT NULL,
    hour_lines bigint NOT NULL,
    service text NOT NULL,
    usage_type text NOT NULL,
    platform text NOT NULL,
    tenancy text NOT NULL,
    days bigint NOT NULL,
    region text NOT NULL,
    instance_type text NOT NULL
);
CREATE INDEX on_demand_usage_month_idx ON on_demand_usage
    (organisation_id, vendor, month, customer_id);
