-- Which build of the connector could not read a source: another one is worth a try.
alter table sync_item_errors add column connector text;
