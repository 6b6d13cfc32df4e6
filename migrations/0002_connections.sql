-- The accounts that users connected. `credentials` is sealed (keyring.rs); `settings` is what the connector wants back with
-- every call and holds no secret. A deleted connection keeps its row as a tombstone, without settings and credentials, so
-- that its id is never given out again.
create table connections (
    id text primary key,
    organization_id text not null,
    application_id text not null references applications (id),
    provider text not null,
    connector_version text not null,
    status text not null,
    status_reason text,
    status_changed_at bigint not null,
    display_name text,
    email text,
    external_account_id text not null,
    username text,
    addresses text not null,
    surfaces text not null,
    requested_scopes text not null,
    granted_scopes text not null,
    provider_scopes text not null,
    time_zone text,
    settings text not null,
    credentials text not null,
    credentials_version bigint not null,
    token_expires_at bigint,
    last_refresh_at bigint,
    last_refresh_error text,
    -- Since when the provider has not answered properly; null while it does.
    failing_since bigint,
    tags text not null,
    metadata text not null,
    etag text not null,
    created_at bigint not null,
    updated_at bigint not null,
    deleted_at bigint
);
create index connections_of_application on connections (application_id, created_at, id);
