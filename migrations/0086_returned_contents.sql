-- What was known of reading a collection goes with its contents when the collection is gone. 1: the contents were told to clients before, so what
-- is read when the collection is back is told as the provider's change, and not as a first reading.
alter table sync_states add column is_return bigint not null default 0;

-- Collections that are gone now are read from the beginning when they come back.
update sync_states set is_return = 1, status = 'idle', cursor = null, last_success_at = null, seen = 0, covered_since = null,
    generation = generation + 1, scan_cursor = null, scan_since = null, rescan = 0
    where scope_id <> '' and exists (select 1 from items p where p.id = sync_states.scope_id and p.deleted_at is not null);

-- Collections that came back lack what was deleted with them: the next pull reads everything again.
update sync_states set rescan = 1 where scope_id <> '' and exists (select 1 from items p join items c on c.parent_id = p.id
    where p.id = sync_states.scope_id and p.deleted_at is null and c.parent_id <> '' and c.deleted_at is not null and c.deleted_at <= p.created_at);

-- The meetings whose events are looked at when their calendar is back.
create index meeting_events_by_calendar on meeting_events (calendar_id) where is_wanted = 1 and event_id is not null;
