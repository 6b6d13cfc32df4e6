-- A replay of a range of the log writes its deliveries in steps. `written` counts those that it has written so far.
alter table webhook_replays add column written bigint not null default 0;
update webhook_replays set written = event_count;
-- 0: the range is longer than what was counted at the start, and `event_count` grows with the steps.
alter table webhook_replays add column is_counted bigint not null default 1;
-- When the event at `position` happened: everything before it has its delivery, or gets none.
alter table webhook_replays add column reached_at bigint not null default 0;
-- The latest of the times at which its deliveries are due for the first time: those of a later step are due after it.
alter table webhook_replays add column due_until bigint not null default 0;
-- Why it failed: `webhook_paused` or `webhook_disabled`.
alter table webhook_replays add column reason text;
update webhook_replays set reason = 'webhook_disabled' where status = 'failed';

-- Deliveries that wait for an attempt, and those that were given up, in the order in which deliveries are listed.
create index webhook_deliveries_waiting on webhook_deliveries (webhook_id, sequence, replay_id) where status = 'pending';
drop index webhook_deliveries_bad;
create index webhook_deliveries_bad on webhook_deliveries (webhook_id, sequence, replay_id)
    where status in ('failed', 'discarded');
