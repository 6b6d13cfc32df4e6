-- What operators, admin keys and commands have done. The organization '' is the installation itself. `actor_kind`: operator, key, command.
-- `details` is a JSON object with names of changed fields, of 2 KiB at most, without secrets.
create table audit_log (
    organization_id text not null,
    id text not null,
    at bigint not null,
    application_id text,
    actor_kind text not null,
    actor_id text not null,
    actor_name text not null,
    ip text,
    act text not null,
    target text not null,
    details text not null,
    primary key (organization_id, id)
);
create index audit_of_actor on audit_log (actor_id, id);
create index audit_by_time on audit_log (at, id);
