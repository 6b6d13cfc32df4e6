-- When the provider last changed the record that an item was read from, by the provider's clock, in milliseconds since 1970: a feed that tells an
-- older version later does not replace it. Null where the provider does not say, and for what was read before this column was there.
alter table items add column provider_updated_at bigint;
-- When the first request with an Idempotency-Key was made, in milliseconds since 1970; `claimed_at` is the time of the latest one. Null for keys
-- from before this column was there.
alter table idempotency add column first_claimed_at bigint;
-- Units of providers' quotas that requests used, added up in memory and written now and then: figures for the usage operation, kept for some
-- months.
create table provider_units (
    connection_id text not null,
    -- `YYYY-MM-DD`, UTC.
    day text not null,
    -- A bucket of `[limits]` of the connector's manifest.
    bucket text not null,
    organization_id text not null,
    application_id text not null,
    units bigint not null,
    primary key (connection_id, day, bucket)
);
-- The buckets with the most units of a day come first, however many there are.
create index provider_units_by_day on provider_units (application_id, day, units, connection_id);
