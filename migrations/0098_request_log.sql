-- Requests of applications, for their developers: answers that were errors, writes, and some of the reads. `id` is the x-request-id, so that it
-- sorts by time; `route` is the template, `path` has no query. The index for searches by id serves no order: where one has the bare id, PostgreSQL
-- may walk the rows of all applications to list those of one.
create table request_log (
    application_id text not null,
    id text not null,
    key_id text not null,
    at bigint not null,
    method text not null,
    route text not null,
    path text not null,
    status bigint not null,
    ms bigint not null,
    ip text not null,
    error_code text,
    error_param text,
    bytes_in bigint not null,
    bytes_out bigint not null,
    has_bodies bigint not null,
    primary key (application_id, id)
);
create index request_log_by_id on request_log (substr(id, 5));
create index request_log_errors on request_log (application_id, id) where status >= 400;
create index request_log_faults on request_log (application_id, id) where status >= 500;
create index request_log_of_key on request_log (application_id, key_id, id);
create index request_log_errors_of_key on request_log (application_id, key_id, id) where status >= 400;
create index request_log_old on request_log (at);

-- Bodies of some of these requests: sealed JSON, without what is never kept.
create table request_bodies (
    application_id text not null,
    id text not null,
    at bigint not null,
    sealed text not null,
    primary key (application_id, id)
);
create index request_bodies_old on request_bodies (at);

-- `request_log`: off, on, shapes. Until `full_bodies_until` bodies are kept as they are sent, without what is never kept.
alter table applications add column request_log text not null default 'on';
alter table applications add column full_bodies_until bigint;
