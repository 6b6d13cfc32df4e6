-- Replays that are under way, which are few for each subscription, and those that are over, which go by their age.
create index webhook_replays_running on webhook_replays (webhook_id) where status = 'running';
create index webhook_replays_over on webhook_replays (updated_at) where status <> 'running';
