-- Stacks, their templates and instances, agents, containers, and roles of version 3.

CREATE TABLE legacy_stacks (
    organisation_id text NOT NULL REFERENCES organisations,
    stack_id text NOT NULL,
    nickname text NOT NULL,
    deployment text NOT NULL,
    provisioner text NOT NULL CHECK (provisioner IN ('local', 'aws')),
    region text NOT NULL,
    stack_status text NOT NULL,
    reason text,
    version_id text NOT NULL,
    user_id text NOT NULL,
    username text NOT NULL,
    token_hash bytea NOT NULL,
    encrypted_token bytea,
    create_time timestamptz NOT NULL,
    update_time timestamptz NOT NULL,
    PRIMARY KEY (organisation_id, stack_id)
);
CREATE INDEX legacy_stacks_deployment_idx ON legacy_stacks (organisation_id, deployment);

CREATE TABLE legacy_template_versions (
    organisation_id text NOT NULL,
    stack_id text NOT NULL,
    version_id text NOT NULL,
    number integer NOT NULL CHECK (number > 0),
    body text NOT NULL,
    encrypted_secrets bytea,
    size integer NOT NULL,
    create_time timestamptz NOT NULL,
    PRIMARY KEY (organisation_id, stack_id, version_id),
    UNIQUE (organisation_id, stack_id, number),
    FOREIGN KEY (organisation_id, stack_id) REFERENCES legacy_stacks ON DELETE CASCADE
);

CREATE TABLE legacy_layers (
    organisation_id text NOT NULL,
    stack_id text NOT NULL,
    flag text NOT NULL,
    position integer NOT NULL,
    status text NOT NULL CHECK (status IN ('creating', 'updating', 'completed', 'failed')),
    reason text,
    PRIMARY KEY (organisation_id, stack_id, flag),
    FOREIGN KEY (organisation_id, stack_id) REFERENCES legacy_stacks ON DELETE CASCADE
);

CREATE TABLE legacy_instances (
    organisation_id text NOT NULL,
    stack_id text NOT NULL,
    instance_key text NOT NULL,
    flag text NOT NULL,
    ordinal integer NOT NULL,
    provision text NOT NULL,
    state text NOT NULL
        CHECK (state IN ('pending', 'launching', 'running', 'terminating', 'terminated', 'failed')),
    instance_id text,
    reason text,
    addresses text,
    create_time timestamptz NOT NULL,
    update_time timestamptz NOT NULL,
    PRIMARY KEY (organisation_id, stack_id, instance_key),
    FOREIGN KEY (organisation_id, stack_id) REFERENCES legacy_stacks ON DELETE CASCADE
);

CREATE TABLE legacy_agents (
    organisation_id text NOT NULL,
    stack_id text NOT NULL,
    agent_id text NOT NULL,
    instance_id text,
    status text NOT NULL,
    message text,
    create_time timestamptz NOT NULL,
    update_time timestamptz NOT NULL,
    PRIMARY KEY (organisation_id, stack_id, agent_id),
    FOREIGN KEY (organisation_id, stack_id) REFERENCES legacy_stacks ON DELETE CASCADE
);

CREATE TABLE legacy_containers (
    organisation_id text NOT NULL,
    container_id text NOT NULL,
    stack_id text NOT NULL,
    agent_id text NOT NULL,
    instance_id text,
    status text NOT NULL,
    update_time timestamptz NOT NULL,
    PRIMARY KEY (organisation_id, container_id),
    FOREIGN KEY (organisation_id, stack_id) REFERENCES legacy_stacks ON DELETE CASCADE
);
CREATE INDEX legacy_containers_stack_id_idx ON legacy_containers (organisation_id, stack_id);
CREATE INDEX legacy_containers_instance_id_idx ON legacy_containers (organisation_id, instance_id);

CREATE TABLE legacy_roles (
    organisation_id text NOT NULL,
    role_id text NOT NULL,
    user_id text NOT NULL,
    name text NOT NULL,
    scope text NOT NULL,
    create_time timestamptz NOT NULL,
    update_time timestamptz NOT NULL,
    PRIMARY KEY (organisation_id, role_id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users
);

CREATE TABLE legacy_user_roles (
    organisation_id text NOT NULL,
    user_role_id text NOT NULL,
    user_id text NOT NULL,
    role_id text NOT NULL,
    create_time timestamptz NOT NULL,
    update_time timestamptz NOT NULL,
    PRIMARY KEY (organisation_id, user_role_id),
    UNIQUE (organisation_id, user_id, role_id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users ON DELETE CASCADE,
    FOREIGN KEY (organisation_id, role_id) REFERENCES legacy_roles ON DELETE CASCADE
);
CREATE INDEX legacy_user_roles_role_id_idx ON legacy_user_roles (organisation_id, role_id);
