-- When something last happened in what is kept in step: the provider had a change, or somebody asked for a pull. From there on pulls become
-- rarer.
alter table sync_states add column last_activity_at bigint;

-- No loop reads what is due any more.
drop index sync_states_due;

-- What clients follow is pulled by jobs from now on.
insert into jobs (id, kind, class, organization_id, application_id, connection_id, state, due_at, created_at, updated_at)
    select 'pull:' || connection_id || ':' || surface || ':' || scope_id, 'pull', 'pull', organization_id, application_id, connection_id,
    'queued', coalesce(next_pull_at, 0), 0, 0 from sync_states
    where followed = 1 and exists (select 1 from connections c where c.id = connection_id and c.deleted_at is null);

-- Where a provider tells of no changes, the job ends with its first turn.
insert into jobs (id, kind, class, organization_id, application_id, connection_id, state, due_at, created_at, updated_at)
    select 'watch:' || connection_id || ':' || surface, 'watch', 'watch', organization_id, application_id, connection_id, 'queued', 0, 0, 0
    from sync_states where followed = 1 and surface = 'email' and scope_id = ''
    and exists (select 1 from connections c where c.id = connection_id and c.deleted_at is null);
