-- Who is notified of what. The log is the queue: no row is written for a notification with the change that it tells of. Each subscription
-- has a place in its application's log, and gets a row for a notification with the first attempt at it.
create table webhooks (
    id text primary key,
    organization_id text not null,
    application_id text not null references applications (id),
    url text not null,
    -- host:port of the URL.
    target text not null,
    description text,
    metadata text not null,
    -- JSON arrays: exact names, `family.*` and `*`; connections, none for all.
    event_types text not null,
    connection_ids text not null,
    -- JSON array: the connections of the key that made it; none for all.
    bound_to text not null,
    -- JSON array: what the key may read that last said what is sent, and where: `email`, `calendar`, …
    families text not null,
    -- `full` or `thin`.
    payload_mode text not null,
    ordered bigint not null,
    include_backfill bigint not null,
    -- JSON array of `v1` and `v1a`.
    signatures text not null,
    -- Sealed JSON.
    headers text not null,
    -- Sealed.
    secret text not null,
    -- Sealed JSON: [{secret, until}], at most 10 that sign beside the secret until then.
    previous_secrets text not null,
    -- The Ed25519 key of `v1a`: its seed, sealed, and what verifies it.
    signing_key text,
    public_key text,
    max_per_second bigint,
    max_concurrent bigint not null,
    -- `active`, `paused` or `disabled`; why it is disabled.
    status text not null,
    disabled_reason text,
    -- Everything up to this number of the log has an outcome, or is not for this subscription.
    cursor bigint not null,
    -- The first number of the log that is for it and has no outcome; null: there is none.
    wake_from bigint,
    -- Until then the endpoint is left alone: it asked for that, or is being probed.
    not_before bigint,
    first_failure_at bigint,
    consecutive_failures bigint not null,
    last_success_at bigint,
    last_failure_at bigint,
    -- JSON: {status, error, at}.
    last_failure text,
    etag text not null,
    created_at bigint not null,
    updated_at bigint not null,
    deleted_at bigint
);
create index webhooks_of_application on webhooks (application_id, id) where deleted_at is null;
create index webhooks_deleted on webhooks (deleted_at) where deleted_at is not null;

-- How far the log of an application has been held against its subscriptions; `version` rises with every change of those.
create table webhook_feeds (
    application_id text primary key,
    organization_id text not null,
    cursor bigint not null,
    version bigint not null
);

-- What became of a notification at a subscription. Its content is in the log.
create table webhook_deliveries (
    webhook_id text not null,
    sequence bigint not null,
    -- Empty for the first delivery.
    replay_id text not null,
    id text not null,
    organization_id text not null,
    application_id text not null,
    event_id text not null,
    resource_id text not null,
    -- `pending`, `delivered`, `failed` or `discarded`.
    status text not null,
    -- JSON, at most 12; what was answered is kept of failures alone, 1 KiB of each.
    attempts text not null,
    -- Null while it is pending: it waits for an earlier one of its resource.
    next_attempt_at bigint,
    created_at bigint not null,
    updated_at bigint not null,
    primary key (webhook_id, sequence, replay_id)
);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at)
    where status = 'pending' and next_attempt_at is not null;
create index webhook_deliveries_held on webhook_deliveries (webhook_id, resource_id, sequence) where status = 'pending';
-- What is over is forgotten by its age.
create index webhook_deliveries_over on webhook_deliveries (status, updated_at) where status <> 'pending';
create index webhook_deliveries_bad on webhook_deliveries (webhook_id, sequence) where status in ('failed', 'discarded');

-- Notifications that were asked for again: the work, and who asked for it.
create table webhook_replays (
    id text primary key,
    webhook_id text not null,
    organization_id text not null,
    application_id text not null,
    key_id text not null,
    -- JSON: what was asked for.
    filter text not null,
    event_count bigint not null,
    -- Everything up to this number of the log is done; where it ends.
    position bigint not null,
    last_sequence bigint not null,
    sent bigint not null,
    failed bigint not null,
    -- `running`, `completed`, `cancelled` or `failed`.
    status text not null,
    created_at bigint not null,
    updated_at bigint not null
);
create index webhook_replays_of on webhook_replays (webhook_id, id);

-- In which form a line is told: what was sent once is sent again in the same bytes.
alter table log add column payload_version bigint not null default 1;
