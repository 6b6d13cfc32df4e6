//! Subscriptions of the ten tenants of `seed` and 100,000 deliveries, of which the first subscription has the most.

/// The statements, to run after those of `seed`.
pub const STATEMENTS: &[&str] = &[
    "insert into webhooks (id, organization_id, application_id, url, target, metadata, event_types, connection_ids, bound_to, families, \
     payload_mode, ordered, include_backfill, signatures, headers, secret, previous_secrets, max_concurrent, status, cursor, \
     consecutive_failures, etag, created_at, updated_at) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 9999) \
     select 'whc_' || i, 'org_' || t, 'app_' || t, 'https://example.test/' || i, 'example.test:443', '{}', '[\"*\"]', '[]', '[]', \
     '[\"calendar\"]', 'full', 0, 0, '[\"v1\"]', '', '', '', 8, case when i % 3 = 2 then 'paused' else 'active' end, 0, 0, 'e', 0, 0 \
     from (select i, case when i % 100 < 60 then 0 else 1 + i % 9 end as t from n) as s",
    "insert into webhook_feeds (application_id, organization_id, cursor, version) \
     select id, organization_id, last_sequence - 1, 1 from applications where true on conflict (application_id) do nothing",
    "insert into webhook_deliveries (webhook_id, sequence, replay_id, id, organization_id, application_id, event_id, resource_id, status, \
     attempts, next_attempt_at, created_at, updated_at) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 99999) \
     select case when i % 10 < 6 then 'whc_0' else 'whc_' || (i % 1000) end, i, '', 'whd_' || i, 'org_0', 'app_0', 'not_' || i, \
     'x' || (i % 500), case when i % 50 = 0 then 'pending' when i % 50 = 1 then 'failed' else 'delivered' end, '[]', \
     case when i % 50 = 0 then i end, i, i from n",
];
