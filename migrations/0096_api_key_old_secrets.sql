-- Secrets that an API key had before its rotation and that work for a time beside its own. Only an HMAC of a secret is stored.
create table api_key_old_secrets (
    hash text primary key,
    key_id text not null references api_keys (id),
    prefix text not null,
    last4 text not null,
    created_at bigint not null,
    expires_at bigint not null
);
create index api_key_old_secrets_of on api_key_old_secrets (key_id);
create index api_key_old_secrets_over on api_key_old_secrets (expires_at);
