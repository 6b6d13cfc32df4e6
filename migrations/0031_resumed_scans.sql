-- Reading everything of a collection again takes many pages. Where it has come to is stored with each page, so that a restart, a 429 or a
-- timeout goes on from there. Each such scan has a number of its own (`generation`): items are marked with it as they are named, and
-- those without the mark are gone when the last page was read. Every scan that ends and every reset takes the next number, by which a
-- pull of another process finds out that what it is doing is over.

alter table sync_states add column generation bigint not null default 0;
-- The connector's cursor of the next page; null unless a scan is under way.
alter table sync_states add column scan_cursor text;
-- The log sequence at which the scan began: what was written here since then is not deleted by it.
alter table sync_states add column scan_since bigint;
-- 1: the next pull has to read everything again.
alter table sync_states add column rescan bigint not null default 0;

alter table items add column seen_in bigint not null default 0;
alter table sync_item_errors add column seen_in bigint not null default 0;
