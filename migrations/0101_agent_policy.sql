-- The policy of a key for assistants, JSON; without one they only read. The messages and invitations that they sent with the key, and its
-- access tokens, in an hour (hours since 1970), and the names of the latest ones, each after a blank: one that is repeated counts once.
alter table api_keys add column agent_policy text;
alter table api_keys add column agent_hour bigint not null default 0;
alter table api_keys add column agent_sends bigint not null default 0;
alter table api_keys add column agent_acts text not null default '';
