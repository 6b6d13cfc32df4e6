-- Deliveries that wait for an earlier one of their resource. `next_attempt_at` is null in all of them: it is a column of the index so that
-- nothing else is read to count them.
create index webhook_deliveries_held_back on webhook_deliveries (webhook_id, next_attempt_at, sequence)
    where status = 'pending' and next_attempt_at is null;
