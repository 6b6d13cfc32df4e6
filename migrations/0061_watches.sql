-- What providers were asked to notify this service of, each a channel that ends by itself unless it is renewed. A notification names the
-- channel, or only the account, and proves itself by the channel's token.
create table watches (
    -- The id that the provider is given for the channel; each attempt to start one has another.
    id text primary key,
    organization_id text not null,
    application_id text not null,
    connection_id text not null references connections (id),
    provider text not null,
    -- What is watched: the contents of a collection, or where `scope_id` is empty, the mailbox or the account's collections themselves.
    surface text not null,
    scope_id text not null,
    -- What the provider's notifications call it; null until the provider has answered.
    external_id text,
    -- What the provider wants back when it is stopped.
    resource text,
    -- The account's address in lower case, where notifications name only that.
    account text,
    -- An HMAC of the token that the provider sends back.
    token_hash text not null,
    -- `starting`, `active`, `expiring`, `expired` or `stopping`.
    status text not null,
    -- When the provider ends it, and when it was last started or renewed.
    expires_at bigint,
    renewed_at bigint,
    -- When the host next has to renew or stop it; null: it is over, or the provider is being asked.
    due_at bigint,
    -- Written once in ten seconds at most.
    last_notified_at bigint,
    created_at bigint not null,
    updated_at bigint not null
);
create index watches_by_external on watches (provider, external_id);
create index watches_by_account on watches (provider, account) where account is not null;
create index watches_of_connection on watches (connection_id, surface, scope_id);
