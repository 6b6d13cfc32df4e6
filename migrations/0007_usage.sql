-- Requests per application, key and day, added up in memory and written every few seconds: figures, not money.
create table usage (
    organization_id text not null,
    application_id text not null,
    key_id text not null,
    day text not null,
    surface text not null,
    outcome text not null,
    requests bigint not null,
    primary key (application_id, key_id, day, surface, outcome)
);
