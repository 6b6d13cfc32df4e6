-- Of an exception that the provider keeps as a record of its own: the external id of its series, which is in another record of the collection,
-- perhaps not there yet. Null for all other items, and for what was read before this column was there, until it is read again.
alter table items add column series_name text;
create index items_by_series_name on items (connection_id, parent_id, series_name)
    where series_name is not null and deleted_at is null;
