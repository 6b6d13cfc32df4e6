-- Access tokens (RFC 6749) are API keys of another kind: `created_by` is the key that they were given to, whose budget they use.
alter table api_keys add column kind text not null default 'key';
-- Of an access token that came of a user's authorization.
alter table api_keys add column grant_id text;
create index api_keys_of_kind on api_keys (application_id, kind, id);
create index api_keys_of_grant on api_keys (grant_id);
create index access_tokens_expiry on api_keys (expires_at) where kind = 'access_token';

-- What a user's authorization gave a client of ours: access tokens of one connection, renewed by a refresh token that is another
-- one each time (RFC 9700, section 4.14.2).
create table token_grants (
    id text primary key,
    organization_id text not null,
    application_id text not null,
    connection_id text not null,
    -- The key that authenticates the client.
    api_key_id text not null,
    -- JSON array.
    scopes text not null,
    -- HMAC of the newest refresh token, and how many there were before it.
    refresh_hash text not null,
    generation bigint not null,
    created_at bigint not null,
    last_used_at bigint not null,
    expires_at bigint not null,
    revoked_at bigint,
    revoked_reason text
);
create index token_grants_of_connection on token_grants (organization_id, application_id, connection_id);
create index token_grants_of_key on token_grants (api_key_id);
create index token_grants_expiry on token_grants (expires_at);
