-- JSON array: all connections that the resource of a line names, where there can be several: a booking's, an event type's. Null where it is of the one
-- in connection_id at most, and in lines from before this column.
alter table log add column account_ids text;

-- JSON array: the connections of the API key that made the schedule. Empty: the key may use all of the application.
alter table schedules add column bound_to text not null default '[]';
