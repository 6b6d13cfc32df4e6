-- Which version of a source could not be read: another one is worth a try, the same one has had its tries.
alter table sync_item_errors add column provider_etag text;
