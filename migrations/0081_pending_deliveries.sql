-- Of each resource of a subscription the deliveries that wait, and those of its replays apart: the earliest one that an ordered subscription
-- waits for is found beside any number of replays.
drop index webhook_deliveries_held;
create index webhook_deliveries_held on webhook_deliveries (webhook_id, resource_id, replay_id, sequence) where status = 'pending';
