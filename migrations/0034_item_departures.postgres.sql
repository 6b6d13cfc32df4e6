-- What stays of an event, a contact, a group or a task when its object has another name at the provider, so that it is found again: the
-- kind, the instance, the name inside the object, and the UID. What is too long for an index has none.
update items set fingerprint = kind || ':' || substr(external_id, length(source_id) + 1) || chr(10) || uid
    where kind in ('contact', 'contact_group', 'task') and deleted_at is null and uid is not null and uid <> external_id
    and substr(external_id, 1, length(source_id)) = source_id
    and octet_length(kind || ':' || substr(external_id, length(source_id) + 1) || chr(10) || uid) <= 1000;
-- A body with U+0000 is no `json` of PostgreSQL's.
update items set fingerprint = printed.fingerprint from (
    select id, kind || ':' || coalesce(body ->> 'recurrenceId', '') || substr(external_id, length(source_id) + 1) || chr(10)
        || (body ->> 'iCalUid') as fingerprint
    from (
        select id, kind, external_id, source_id, case when position('\u0000' in body) = 0 then cast(body as json) end as body
        from items where kind = 'event' and deleted_at is null and substr(external_id, 1, length(source_id)) = source_id
    ) as events
) as printed where printed.id = items.id and octet_length(printed.fingerprint) <= 1000;

-- The metadata of items that the provider no longer has. An object that comes back under another name within a day is the item that it
-- was, and has it again; then it is forgotten.
create table item_departures (
    item_id text primary key,
    connection_id text not null references connections (id),
    metadata text not null,
    -- `deleted_at` of the tombstone that it belongs to: one that is deleted anew has none of an earlier deletion.
    left_at bigint not null
);
create index item_departures_by_age on item_departures (left_at);
create index item_departures_by_connection on item_departures (connection_id, item_id);
