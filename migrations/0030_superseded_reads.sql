-- A page is read from the provider without a lock, so a write of ours may be committed while it is under way. What the page says of such
-- an item is superseded: it is left out, and the item is read again by itself.

-- Provider names that items had until this log sequence. A page that was read before names them still; without this, it would create
-- the item a second time. Rows are forgotten after a day, which is longer than any page is under way.
create table item_former_sources (
    connection_id text not null references connections (id),
    source_id text not null,
    left_sequence bigint not null,
    left_at bigint not null,
    primary key (connection_id, source_id)
);
create index item_former_sources_by_age on item_former_sources (left_at);

-- Provider records that a page named and that were left out of it: each is to be read again by itself.
create table sync_rereads (
    connection_id text not null references connections (id),
    surface text not null,
    scope_id text not null,
    source_id text not null,
    noted_at bigint not null,
    primary key (connection_id, surface, scope_id, source_id)
);
