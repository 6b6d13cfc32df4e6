-- When the provider last said that it took the message for at least one recipient. At or after `handed_over_at`: it was taken in that very
-- attempt, and nothing has to be looked for.
alter table outbox add column accepted_at bigint;

-- Of messages that wait for another attempt: those that somebody has already.
update outbox set accepted_at = created_at where next_attempt_at is not null
    and (recipients like '%"status":"accepted"%' or recipients like '%"status":"delivered"%' or recipients like '%"status":"complained"%');

-- Messages are sent by jobs from now on.
insert into jobs (id, kind, class, organization_id, application_id, connection_id, state, due_at, created_at, updated_at)
    select 'send:' || id, 'send', 'send', organization_id, application_id, connection_id, 'queued', next_attempt_at, 0, 0
    from outbox where next_attempt_at is not null;
