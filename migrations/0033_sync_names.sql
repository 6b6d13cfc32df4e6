-- Names that a provider's listing told and whose content is still to be read, by the batch: a reading that breaks off goes on with those
-- that are left, and the provider is not asked for its listing again. Those of a generation that the state has left mean nothing.
create table sync_names (
    connection_id text not null references connections (id),
    surface text not null,
    scope_id text not null,
    generation bigint not null,
    batch bigint not null,
    -- A JSON array of `{externalId, etag, deleted}`.
    names text not null,
    primary key (connection_id, surface, scope_id, generation, batch)
);
