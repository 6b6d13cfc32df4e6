-- A subscription rests on the API key, or access token, that last said what is sent and where, and ends with it.
-- Null: the subscription is older than this column, and ends with no key.
alter table webhooks add column key_id text;
-- When that key ends, in milliseconds since 1970; null while nothing says that it does.
alter table webhooks add column ends_at bigint;
create index webhooks_of_key on webhooks (key_id, id);
