-- What is no longer needed goes in steps of a bounded number of rows. README.md says what is kept for how long.

-- Connections that were deleted, and whose data is still going. The row is written in the transaction of the deletion and goes with the
-- last of the data. One host works on it at a time, until `claimed_until`.
create table purges (
    connection_id text primary key,
    organization_id text not null,
    application_id text not null,
    -- How far it has come: the table, and within it the place of the last row, where rows stay.
    phase bigint not null,
    after_type text not null,
    after_sequence bigint not null,
    claimed_by text,
    claimed_until bigint not null
);
create index purges_due on purges (claimed_until);

-- Below this sequence the application's log is forgotten, and no feed can be read.
alter table applications add column floor_sequence bigint not null default 0;
update applications set floor_sequence =
    coalesce((select max(floor_sequence) from sync_states where sync_states.application_id = applications.id), 0);

-- Tombstones say which id a thing had, and when it went. What it was goes at once, the row when the log no longer tells of its deletion.
update items set body = '{}', metadata = '{}', provider_data = null, search_text = '', sort_text = '', aside = null
    where deleted_at is not null and kind not in ('email_message', 'email_draft');
create index items_deleted on items (application_id, sequence) where deleted_at is not null;

-- Since when a thread has no messages, or is part of another.
alter table email_threads add column emptied_at bigint;
update email_threads set emptied_at =
    coalesce((select max(at) from log where log.application_id = email_threads.application_id), created_at)
    where latest_at is null;
create index email_threads_emptied on email_threads (emptied_at) where emptied_at is not null;

-- Messages that are sent, or never will be, by when something was last learned of them.
create index outbox_settled on outbox (updated_at) where next_attempt_at is null;
create index tracking_by_expiry on tracking (expires_at);

-- What goes with a connection is found in an order that no other index has: an engine that took one of those would look at what is of
-- others, and at what went already.
drop index email_places_by_connection;
drop index email_places_by_item;
create index email_places_by_item on email_places (connection_id, item_id);
drop index item_keys_by_connection;
create index item_keys_by_connection on item_keys (connection_id, item_id);
drop index item_refs_by_connection;
create index item_refs_by_connection on item_refs (connection_id, from_id);
drop index item_parts_by_connection;
create index item_parts_by_connection on item_parts (connection_id, created_at);
drop index tracking_by_connection;
create index tracking_by_connection on tracking (connection_id, created_at);
drop index email_reports_by_connection;
create index email_reports_by_connection on email_reports (connection_id, next_attempt_at);
