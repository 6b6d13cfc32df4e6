-- Mail. Folders, labels, messages and drafts are items that lie directly in their connection. Of a message `sort_at` is when it was
-- received, `is_open` that it is unread, `uid` its Message-ID and `series_id` its thread.

-- Bits that lists filter by: see `storage/mail/mod.rs`.
alter table items add column flags bigint not null default 0;
-- What stays the same when the provider gives an item another id.
alter table items add column fingerprint text;
-- What is kept with an item and is no part of its version: a folder's counts, the connector's names of a message's parts.
alter table items add column aside text;
create index items_by_fingerprint on items (connection_id, fingerprint) where fingerprint is not null;

-- Where a message is: in its folders, under its labels, in its thread, in its connection, in its application. Lists are read off it,
-- newest first.
create table email_places (
    place_id text not null,
    sort_at bigint not null,
    item_id text not null,
    connection_id text not null,
    primary key (place_id, sort_at, item_id)
);
create index email_places_by_item on email_places (item_id);
create index email_places_by_connection on email_places (connection_id);

-- Messages that answer each other. What a thread shows is put together from its messages when it is read.
create table email_threads (
    id text primary key,
    organization_id text not null,
    application_id text not null,
    connection_id text not null references connections (id),
    -- The provider's id of it; null where it is computed here.
    external_id text,
    -- The thread that it became part of: the old id keeps working.
    merged_into text,
    -- When its newest message was received; null while it has none.
    latest_at bigint,
    created_at bigint not null,
    unique (connection_id, external_id)
);
create index email_threads_by_time on email_threads (connection_id, latest_at, id);
create index email_threads_in_application on email_threads (application_id, latest_at, id);

-- Which thread a Message-ID under a subject belongs to (a hash of both), wherever a message named it.
create table email_thread_refs (
    connection_id text not null,
    ref text not null,
    thread_id text not null,
    primary key (connection_id, ref)
);
create index email_thread_refs_by_thread on email_thread_refs (thread_id);

-- The first reading of a mailbox goes from new to old: everything received since is here. Null before and after it.
alter table sync_states add column covered_since bigint;
