-- Replays of which deliveries are written that have not ended: how many wait at a subscription is a sum over these few rows.
create index webhook_replays_waiting on webhook_replays (webhook_id, written, sent, failed) where written > sent + failed;
-- What was given up with its subscription waits no more.
update webhook_replays set failed = written - sent where status = 'failed' and reason = 'webhook_disabled';
-- A replay that is over goes by its age once nothing of it waits.
drop index webhook_replays_over;
create index webhook_replays_over on webhook_replays (updated_at) where status <> 'running' and written <= sent + failed;

-- The `updated_at` that a subscription had when it was last activated after it was disabled: attempts that began before are not repeated.
alter table webhooks add column restarted_at bigint;
