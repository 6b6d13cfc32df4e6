-- What people are to be told of bookings and are not told yet: a row for each message, and for each reminder whose time has not come. The job
-- with the same id works on it, and the row goes with the job's end, in one transaction: a row whose job is gone has the job made again.
create table booking_notices (
    -- The job's id, which names the booking, the change and whom it is told to.
    job_id text primary key,
    organization_id text not null,
    application_id text not null,
    due_at bigint not null,
    -- JSON: the job's arguments.
    args text,
    created_at bigint not null
);
create index booking_notices_due on booking_notices (due_at, job_id);

insert into booking_notices (job_id, organization_id, application_id, due_at, args, created_at)
select id, organization_id, application_id, coalesce(due_at, created_at), args, created_at from jobs
where kind in ('booking_mail', 'booking_remind') and state in ('queued', 'running');
