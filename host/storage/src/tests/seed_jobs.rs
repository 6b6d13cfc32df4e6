//! 100,000 jobs of the ten tenants of `seed`, and the hosts that run some of them.

/// The statements, to run after those of `seed`.
pub const STATEMENTS: &[&str] = &[
    "insert into hosts (id, name, version, started_at, lease_until) values ('host_0', 'one', '1', 0, 1767225600000), \
     ('host_1', 'two', '1', 0, 9999999999999)",
    "insert into jobs (id, kind, class, organization_id, application_id, connection_id, state, due_at, owner, fence, deadline_at, \
     created_at, updated_at) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 99999) \
     select 'kind_' || (i % 7) || ':' || (100000 + i), 'kind_' || (i % 7), \
     case i % 5 when 0 then 'send' when 1 then 'pull' when 2 then 'backfill' when 3 then 'watch' else 'upkeep' end, \
     'org_' || t, 'app_' || t, case when i % 10 = 9 then 'conn_' || t || '_3' else 'conn_' || (100040 + i / 20) end, \
     case when i % 1000 = 7 then 'running' when i % 50 = 9 then 'failed' else 'queued' end, \
     case when i % 1000 <> 7 and i % 50 <> 9 and i % 11 <> 0 then 1767225600000 + cast(60000 as bigint) * i end, \
     case when i % 1000 = 7 then 'host_' || (i / 1000 % 2) end, case when i % 1000 = 7 then i else 0 end, \
     case when i % 1000 = 7 then 1767225600000 end, i, i \
     from (select i, case when i % 10 < 6 then 0 else 1 + i % 9 end as t from n) as s",
];
