-- Processes that work on this database, each with a lease that it renews. A host whose lease is over is gone, and others take over what it
-- was working on.
create table hosts (
    -- New at each start.
    id text primary key,
    -- The machine and the process, for the operator.
    name text not null,
    version text not null,
    started_at bigint not null,
    lease_until bigint not null
);

-- Work that is due, waits or runs. A row says that there is work to do on something and holds no content of it, so that a wake can be
-- repeated without harm. There is one row for each thing that is worked on. No foreign keys: on PostgreSQL each would lock a connection's
-- row in many small transactions.
create table jobs (
    -- '<kind>:<key>', such as 'report:msg_01…'.
    id text primary key,
    kind text not null,
    -- `send`, `deliver`, `pull`, `backfill`, `upkeep` or `watch`: what shares its permits.
    class text not null,
    -- Empty, both: it is a job of the installation.
    organization_id text not null,
    application_id text not null,
    connection_id text,
    -- host:port of the provider or of the receiver.
    target text not null default '',
    -- `queued`, `running`, `failed` or `cancelled`. A job that has no next turn is deleted when it is done.
    state text not null,
    -- When it is to run. Null while it is queued: it is parked, and only a wake runs it.
    due_at bigint,
    -- It was woken while it runs, and is due again then.
    again_at bigint,
    -- Claims since the last success.
    attempts bigint not null default 0,
    -- Hosts that were lost while it ran, without progress in between.
    crashes bigint not null default 0,
    -- Random with each claim: who writes an outcome has to name it. 0: nobody has the job.
    fence bigint not null default 0,
    -- The host that runs it.
    owner text,
    started_at bigint,
    -- When its host ends the turn at the latest; null: it may run for as long as its host.
    deadline_at bigint,
    -- The last success.
    done_at bigint,
    -- 1: its turns take long.
    is_slow bigint not null default 0,
    -- JSON, at most 1 KiB each.
    args text,
    progress text,
    -- JSON: {code, message, at}.
    last_error text,
    created_at bigint not null,
    updated_at bigint not null
);
create index jobs_due on jobs (class, due_at) where state = 'queued' and due_at is not null;
create index jobs_due_by_application on jobs (class, application_id, due_at) where state = 'queued' and due_at is not null;
create index jobs_by_owner on jobs (owner) where state = 'running';
create index jobs_by_connection on jobs (connection_id, kind) where connection_id is not null;
create index jobs_ended on jobs (updated_at) where state in ('failed', 'cancelled');

-- Messages that may be reports are read by jobs from now on.
insert into jobs (id, kind, class, organization_id, application_id, connection_id, state, due_at, created_at, updated_at)
    select 'report:' || item_id, 'report', 'upkeep', organization_id, application_id, connection_id, 'queued', next_attempt_at, 0, 0
    from email_reports;
