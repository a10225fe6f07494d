-- Webhooks: the endpoints of an organisation, events in the order in which they were written, and
-- one delivery for each endpoint that an event is sent to. Secrets are encrypted.

CREATE TABLE webhook_endpoints (
    organisation_id text NOT NULL REFERENCES organisations,
    endpoint_id text NOT NULL,
    url text NOT NULL,
    description text NOT NULL DEFAULT '',
    event_types text[] NOT NULL DEFAULT '{}', -- empty: all
    enabled boolean NOT NULL DEFAULT true,
    disabled_reason text CHECK (disabled_reason IN ('gone')),
    encrypted_secret bytea NOT NULL,
    encrypted_previous_secret bytea,
    previous_secret_until timestamptz,
    create_time timestamptz NOT NULL DEFAULT now(),
    update_time timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, endpoint_id),
    CHECK ((encrypted_previous_secret IS NULL) = (previous_secret_until IS NULL))
);

CREATE TABLE webhook_events (
    organisation_id text NOT NULL REFERENCES organisations,
    event_id text NOT NULL,
    event_type text NOT NULL,
    payload text NOT NULL,
    event_time timestamptz NOT NULL,
    PRIMARY KEY (organisation_id, event_id)
);
CREATE INDEX webhook_events_event_time_idx ON webhook_events (organisation_id, event_time);

CREATE TABLE webhook_deliveries (
    organisation_id text NOT NULL,
    delivery_id text NOT NULL,
    endpoint_id text NOT NULL,
    event_id text NOT NULL,
    object text NOT NULL,
    event_time timestamptz NOT NULL, -- decides the order of the deliveries of an object
    state text NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
    attempts integer NOT NULL DEFAULT 0,
    next_attempt_time timestamptz,
    last_attempt_time timestamptz,
    last_status integer,
    last_error text,
    PRIMARY KEY (organisation_id, delivery_id),
    FOREIGN KEY (organisation_id, endpoint_id) REFERENCES webhook_endpoints ON DELETE CASCADE,
    FOREIGN KEY (organisation_id, event_id) REFERENCES webhook_events ON DELETE CASCADE,
    CHECK ((state = 'waiting') = (next_attempt_time IS NOT NULL))
);
CREATE INDEX webhook_deliveries_waiting_idx
    ON webhook_deliveries (organisation_id, endpoint_id, object, event_time)
    WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_event_time_idx
    ON webhook_deliveries (organisation_id, endpoint_id, event_time);
CREATE INDEX webhook_deliveries_event_id_idx ON webhook_deliveries (organisation_id, event_id);
