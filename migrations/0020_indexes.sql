-- Every statement finds its rows by an index that leads to one tenant, connection or collection, in the order in which it lists them.
-- The tests in `host/src/storage/plans` explain all of them on both engines.

-- Events are found by when they are. `span` is the class of an event's length (see `storage/items/window.rs`), so that whoever asks for
-- a week looks back no further than the longest event of each class.
alter table items add column span bigint not null default 0;
update items set span = case
    when is_series = 0 and until_at - sort_at <= 172800000 then 0
    when is_series = 0 and until_at - sort_at <= 691200000 then 1
    when is_series = 0 and until_at - sort_at <= 2764800000 then 2
    when is_series = 0 and until_at - sort_at <= 11059200000 then 3
    when is_series = 0 and until_at - sort_at <= 88473600000 then 4
    when is_series = 0 then 5
    when until_at - sort_at <= 2764800000 then 8
    when until_at - sort_at <= 11059200000 then 9
    when until_at - sort_at <= 44236800000 then 10
    when until_at - sort_at <= 176947200000 then 11
    else 12 end
where kind = 'event' and deleted_at is null;
drop index items_by_time;
create index items_by_time on items (parent_id, sort_at, id) where kind = 'event' and deleted_at is null and parent_id <> '';
create index items_by_span on items (parent_id, span, sort_at, id) where kind = 'event' and deleted_at is null;

-- Only live exceptions and messages are looked for by their series or thread.
drop index items_by_series;
create index items_by_series on items (series_id) where series_id is not null and deleted_at is null;

-- The feed of a collection begins with a walk over these.
create index items_by_parent on items (parent_id, kind, id) where parent_id <> '';
-- Calendars, books, lists, folders and labels of a whole application.
create index items_at_top on items (application_id, kind, id) where parent_id = '' and deleted_at is null;

-- The application comes second in those of a collection and of a connection: where an index of the whole application fits a statement
-- as well, an engine without statistics takes the one of which more columns are given.
drop index items_by_text;
drop index items_by_text_in_connection;
create index items_by_text on items (parent_id, application_id, kind, sort_text, id)
    where deleted_at is null and sort_text <> '';
create index items_by_text_in_connection on items (connection_id, application_id, kind, sort_text, id)
    where deleted_at is null and sort_text <> '';

-- A list of what has a key is read off the key, in the order of the list.
alter table item_keys add column sort_text text not null default '';
update item_keys set sort_text = coalesce((select sort_text from items where items.id = item_keys.item_id), '');
drop index item_keys_by_value;
create index item_keys_by_value on item_keys (application_id, name, value, sort_text, item_id);

-- Mail lies in no collection, and connections neither.
drop index log_by_parent;
create index log_by_parent on log (application_id, parent_id, sequence) where parent_id <> '';
drop index log_by_connection;
create index log_by_connection on log (application_id, connection_id, resource_type, sequence);

drop index email_threads_by_time;
create index email_threads_by_time on email_threads (connection_id, application_id, latest_at, id);
create index email_threads_merged on email_threads (merged_into) where merged_into is not null;

create index connections_live on connections (application_id, id) where deleted_at is null;
create index connections_by_status on connections (application_id, status) where deleted_at is null;
create index organizations_by_name on organizations (name, id);
create index sync_states_followed on sync_states (surface, scope_id, connection_id) where followed = 1;
create index usage_by_day on usage (application_id, day);
