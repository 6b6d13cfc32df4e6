-- The one append-only log of an application: sync changes, webhooks and replay all read it, in `sequence` order. It is
-- written in the transaction of the change that it tells. `resource` is the resource as it was then.
create table log (
    application_id text not null,
    sequence bigint not null,
    id text not null unique,
    organization_id text not null,
    connection_id text,
    type text not null,
    change_type text not null,
    resource_type text not null,
    resource_id text not null,
    -- The collection whose feed shows it: the calendar of an event.
    parent_id text not null,
    changed_fields text,
    etag text,
    origin text not null,
    resource text,
    at bigint not null,
    primary key (application_id, sequence)
);
create index log_by_parent on log (parent_id, sequence);
create index log_by_connection on log (connection_id);
create index log_by_age on log (at);
