-- The local copy of what providers hold: one row per normalized resource of any kind. `body` is the resource as the API
-- prints it, without the fields that are columns here. A provider object (`source_id`) can hold several items: a CalDAV
-- resource holds a series and its exceptions; they share `provider_etag` and leave together.
--
-- A row is never deleted while its connection lives: `deleted_at` makes it a tombstone, which the change feed needs and
-- which keeps (connection, kind, parent, external id) -> id unique for ever. The body stays until the log forgets it.
create table items (
    id text primary key,
    organization_id text not null,
    application_id text not null,
    connection_id text not null references connections (id),
    kind text not null,
    -- The calendar of an event; empty for what lives directly in the connection, so that it can be part of a unique key.
    parent_id text not null,
    external_id text not null,
    source_id text not null,
    -- Exceptions: the id of their series.
    series_id text,
    provider_etag text,
    etag text not null,
    -- Hash of the normalized content: a provider answer with the same hash changes nothing and is not told to anybody.
    hash text not null,
    body text not null,
    metadata text not null,
    provider_data text,
    -- What lists order and filter by: events: start, end (for a series the end of its last occurrence, or the far future).
    -- 1: a series, which has to be expanded to know its occurrences.
    is_series bigint not null,
    sort_at bigint not null,
    until_at bigint not null,
    -- The log sequence of its last change, and of its deletion: where a snapshot of the feed must still show it.
    sequence bigint not null,
    created_at bigint not null,
    updated_at bigint not null,
    deleted_at bigint,
    unique (connection_id, kind, parent_id, external_id)
);
create index items_by_source on items (connection_id, kind, parent_id, source_id);
create index items_by_time on items (parent_id, kind, sort_at, id);
create index items_by_series on items (series_id);
