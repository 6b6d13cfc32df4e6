-- How far the local copy follows the provider, per connection, surface and collection (empty: the list of collections).
-- `cursor` is the connector's own; it is stored in the transaction that stores the page it came with, and only once an
-- enumeration has been read to its end, so that a crash repeats work and never skips any.
create table sync_states (
    organization_id text not null,
    application_id text not null,
    connection_id text not null references connections (id),
    surface text not null,
    scope_id text not null,
    -- 1 once a client asked to be kept in step: then the host pulls by itself.
    followed bigint not null,
    status text not null,
    epoch bigint not null,
    cursor text,
    started_at bigint,
    last_success_at bigint,
    last_attempt_at bigint,
    next_pull_at bigint,
    seen bigint not null,
    estimated bigint,
    backfill_since bigint,
    consecutive_errors bigint not null,
    last_error text,
    provider_resets bigint not null,
    latest_sequence bigint not null,
    -- Sequence below which the feed of this collection cannot be read any more (hard reset, retention).
    floor_sequence bigint not null,
    primary key (connection_id, surface, scope_id)
);
create index sync_states_due on sync_states (followed, next_pull_at);

-- Sources that could not be read: kept out of the copy, shown on the sync state.
create table sync_item_errors (
    organization_id text not null,
    application_id text not null,
    connection_id text not null references connections (id),
    surface text not null,
    scope_id text not null,
    source_id text not null,
    code text not null,
    message text not null,
    attempts bigint not null,
    at bigint not null,
    primary key (connection_id, surface, scope_id, source_id)
);
