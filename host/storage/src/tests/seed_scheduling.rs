//! Scheduling of the ten tenants of `seed`: 10,000 event types, and 100,000 meetings with their reserved times and bookings;
//! 10,000 bookings have a pending notice.

/// The statements, to run after those of `seed`.
pub const STATEMENTS: &[&str] = &[
    "insert into event_types (id, organization_id, application_id, body, metadata, etag, version, rotation_since, created_at, updated_at) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 9999) \
     select 'et_' || (100000 + i), 'org_' || t, 'app_' || t, '{}', '{}', 'e', 1, 0, 0, 0 \
     from (select i, case when i % 10 < 6 then 0 else 1 + i % 9 end as t from n) as s",
    "insert into event_type_hosts (event_type_id, connection_id, organization_id, application_id, created_at, updated_at) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 9999) \
     select 'et_' || (100000 + i), 'conn_' || (100040 + i / 2), 'org_0', 'app_0', 0, 0 from n",
    "insert into booking_links (application_id, slug, organization_id, event_type_id, is_primary, created_at, updated_at) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 9999) \
     select 'app_' || t, 'slug-' || i, 'org_' || t, 'et_' || (100000 + i), 1, 0, 0 \
     from (select i, case when i % 10 < 6 then 0 else 1 + i % 9 end as t from n) as s",
    "insert into meetings (id, organization_id, application_id, event_type_id, start_at, end_at, buffer_before_ms, buffer_after_ms, hosts, \
     seats, seats_taken, i_cal_uid, sequence, created_at, updated_at) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 99999) \
     select 'mtg_' || (100000 + i), 'org_0', 'app_0', 'et_' || (100000 + i / 10000), 1767225600000 + cast(3600000 as bigint) * i, \
     1767225600000 + cast(3600000 as bigint) * i + 1800000, 0, 0, '[]', 1, 1, 'uid-' || i, 0, 0, 0 from n",
    // Each host's hours follow each other, so that the rule against two places at a time holds.
    "insert into reserved_times (id, organization_id, application_id, meeting_id, connection_id, calendar_id, start_at, end_at, is_buffer, \
     created_at, updated_at) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 99999) \
     select 'mtg_' || (100000 + i) || '/' || (i % 4) || '/0', 'org_0', 'app_0', 'mtg_' || (100000 + i), 'conn_0_' || (i % 4), \
     'cal_' || (i % 40), 1767225600000 + cast(3600000 as bigint) * i, 1767225600000 + cast(3600000 as bigint) * i + 1800000, 0, 0, 0 from n",
    "insert into meeting_events (meeting_id, connection_id, organization_id, application_id, calendar_id, i_cal_uid, is_wanted, status, \
     written_sequence, attempts, created_at, updated_at) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 99999) \
     select 'mtg_' || (100000 + i), 'conn_0_' || (i % 4), 'org_0', 'app_0', 'cal_' || (i % 40), 'uid-' || i, 1, 'written', 0, 1, 0, 0 from n",
    "insert into bookings (id, organization_id, application_id, event_type_id, meeting_id, status, start_at, end_at, invitee_email, body, \
     metadata, etag, version, manage_version, created_at, updated_at) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 99999) \
     select 'bk_' || (100000 + i), 'org_0', 'app_0', 'et_' || (100000 + i / 10000), 'mtg_' || (100000 + i), \
     case when i % 3 = 0 then 'cancelled' else 'confirmed' end, 1767225600000 + cast(3600000 as bigint) * i, \
     1767225600000 + cast(3600000 as bigint) * i + 1800000, 'guest' || (i % 1000) || '@example.com', '{}', '{}', 'e', 1, 1, 0, 0 from n",
    "insert into booking_addresses (booking_id, address, mailbox, organization_id, application_id, \
     created_at) select id, invitee_email, invitee_email, organization_id, application_id, created_at from bookings",
    "insert into booking_notices (job_id, organization_id, application_id, due_at, created_at) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 9999) \
     select 'booking_mail:bk_' || (100000 + i) || ':confirmed:0:invitee', 'org_0', 'app_0', 1767225600000 + cast(60000 as bigint) * i, 0 \
     from n",
];
