-- When the calendars of an event type's hosts are to be looked at for those that nobody follows yet; null: that is done. Saving an event type
-- follows them at once. Event types of before, and those that are active again, are looked at in the background.
alter table event_types add column calendars_due_at bigint;
update event_types set calendars_due_at = 0 where deleted_at is null;
create index event_types_calendars_due on event_types (calendars_due_at, id) where calendars_due_at is not null and deleted_at is null;
