-- Who calls. An organization owns applications; every API key belongs to one application, and every other row carries both
-- ids first, so that no query can forget whose data it reads. Text ids, bigint instants (milliseconds since 1970), bigint
-- flags (0 or 1) and JSON as text: the same statements run on SQLite and PostgreSQL.

create table organizations (
    id text primary key,
    name text not null,
    created_at bigint not null
);

-- `last_sequence` numbers the application's log. It is counted up in the transaction that writes the log row, so that a
-- reader never sees a later number before an earlier one (the row lock serialises the writers).
create table applications (
    id text primary key,
    organization_id text not null references organizations (id),
    name text not null,
    last_sequence bigint not null default 0,
    created_at bigint not null,
    unique (organization_id, name)
);

-- Only an HMAC of the key is stored. Lists are JSON arrays; an empty one means no restriction.
create table api_keys (
    id text primary key,
    organization_id text not null references organizations (id),
    application_id text not null references applications (id),
    name text not null,
    prefix text not null,
    last4 text not null,
    hash text not null unique,
    scopes text not null,
    allowed_domains text not null,
    allowed_ips text not null,
    connection_ids text not null,
    rate_limit_per_minute bigint not null,
    expires_at bigint,
    last_used_at bigint,
    last_used_ip text,
    created_by text,
    revoked_at bigint,
    created_at bigint not null
);
create index api_keys_of_application on api_keys (application_id, id);
