//! Ten tenants, of which the first has 60 of 100 rows, on either engine.
//!
//! Tenant `n` is the application `app_n`. Its connections `conn_n_0` to `conn_n_3` have calendars, contact books, task lists and
//! mail; beside them it has its share of 5,000 connections with little in them.

/// When everything of the seed takes place: 2026-01-01, and an hour for each forty items.
pub const START_MS: i64 = 1_767_225_600_000;
/// Rows of the large tables.
pub const ROWS: i64 = 100_000;

/// The numbers below this one.
macro_rules! numbers {
    ($count:literal, $rest:expr) => {
        concat!(
            "with recursive n(i) as (select 0 union all select i + 1 from n where i < ",
            $count,
            " - 1) ",
            $rest
        )
    };
}

/// The number of the tenant that owns the row with the number `i`.
macro_rules! owner {
    () => {
        "case when i % 10 < 6 then 0 else 1 + i % 9 end"
    };
}

/// The statements, in an order that foreign keys allow.
pub const STATEMENTS: &[&str] = &[
    concat!(
        "insert into organizations (id, name, created_at) ",
        numbers!("10", "select 'org_' || i, 'organization ' || i, 0 from n")
    ),
    concat!(
        "insert into applications (id, organization_id, name, last_sequence, created_at) ",
        numbers!("10", "select 'app_' || i, 'org_' || i, 'application', 100000, 0 from n")
    ),
    concat!(
        "insert into api_keys (id, organization_id, application_id, name, prefix, last4, hash, scopes, allowed_domains, allowed_ips, \
         connection_ids, rate_limit_per_minute, created_at) ",
        numbers!(
            "10000",
            concat!(
                "select 'key_' || (100000 + i), 'org_' || t, 'app_' || t, 'key', 'sk', '0000', 'hash ' || i, '[]', '[]', '[]', \
         '[]', 1000, 0 from (select i, ",
                owner!(),
                " as t from n) as s"
            )
        )
    ),
    "insert into api_key_domains (key_id, domain, live_until) \
     select id, 'host-' || substr(id, 5) || '.example.test', 9223372036854775807 from api_keys",
    concat!(
        "insert into connections (id, organization_id, application_id, provider, connector_version, status, status_changed_at, \
         external_account_id, addresses, surfaces, requested_scopes, granted_scopes, provider_scopes, settings, credentials, \
         credentials_version, tags, metadata, etag, created_at, updated_at, deleted_at) ",
        numbers!(
            "5040",
            concat!(
                "select case when i < 40 then 'conn_' || (i / 4) || '_' || (i % 4) else 'conn_' || (100000 + i) end, 'org_' || t, 'app_' || t, \
             'sandbox', '1', case when i % 7 = 0 then 'degraded' else 'active' end, 0, 'account', '[]', '[]', '[]', '[]', '[]', '{}', '', 1, '{}', \
             '{}', 'etag', 0, 0, case when i % 50 = 49 and i >= 40 then 1 end from (select i, case when i < 40 then i / 4 else ",
                owner!(),
                " end as t from n) as s"
            )
        )
    ),
    // The collections: three calendars, books and lists of each tenant, ten folders, and one calendar of each other connection.
    concat!(
        "insert into items (id, organization_id, application_id, connection_id, kind, parent_id, external_id, source_id, etag, hash, body, \
         metadata, is_series, sort_at, until_at, sequence, created_at, updated_at) ",
        numbers!(
            "190",
            "select substr('callstlblfol', k * 3 + 1, 3) || '_' || t || '_' || j, 'org_' || t, 'app_' || t, 'conn_' || t || '_' || k, \
         case k when 0 then 'calendar' when 1 then 'contact_book' when 2 then 'task_list' else 'email_folder' end, '', 'x' || j, 'x' || j, 'e', 'h', \
         '{}', '{}', 0, 0, 0, 1, 0, 0 from (select i / 19 as t, case when i % 19 < 9 then i % 19 / 3 else 3 end as k, \
         case when i % 19 < 9 then i % 3 else i % 19 - 9 end as j from n) as s"
        )
    ),
    concat!(
        "insert into items (id, organization_id, application_id, connection_id, kind, parent_id, external_id, source_id, etag, hash, body, \
         metadata, is_series, sort_at, until_at, sequence, created_at, updated_at) ",
        "select 'calx_' || id, organization_id, application_id, id, 'calendar', '', 'x', 'x', 'e', 'h', '{}', '{}', 0, 0, 0, 1, 0, 0 from connections \
         where id like 'conn_1%' and substr(id, 7, 1) <> '_'"
    ),
    concat!(
        "insert into items (id, organization_id, application_id, connection_id, kind, parent_id, external_id, source_id, series_id, etag, hash, \
         body, metadata, is_series, sort_at, until_at, sequence, created_at, updated_at, deleted_at, uid, sort_text, search_text, is_open, \
         flags, fingerprint, span, series_name) ",
        numbers!(
            "100000",
            concat!(
                "select case k when 0 then 'evt_' when 1 then 'ct_' when 2 then 'task_' else 'msg_' end || (1000000 + i), 'org_' || t, 'app_' || t, \
             'conn_' || t || '_' || k, case k when 0 then 'event' when 1 then 'contact' when 2 then 'task' else 'email_message' end, \
             case k when 0 then 'cal_' || t || '_' || j when 1 then 'lst_' || t || '_' || j when 2 then 'lbl_' || t || '_' || j else '' end, \
             'x' || i, 's' || i, case when k = 3 then 'thr_' || t || '_' || (i / 120) when k = 0 and i % 240 = 120 then 'evt_' || (1000000 + i - 120) end, \
             'e', 'h', '{\"title\":\"something\"}', '{}', case when k = 0 and i % 240 = 0 then 1 else 0 end, 1767225600000 + cast(3600000 as bigint) * (i / 40), \
             1767225600000 + cast(3600000 as bigint) * (i / 40) + case when k = 0 and i % 240 = 0 then 7776000000 else 3600000 end, i, i, i, \
             case when i % 97 = 96 then 1767225600000 end, 'uid-' || i, case when (k = 1 or k = 2) and i % 97 <> 96 then 'a' || (1000000 + i) else '' end, \
             'some words ' || i, i % 2, i % 4, case when k = 3 then 'print-' || i end, case when k = 0 and i % 240 = 0 then 9 else 0 end, \
             case when k = 0 and i % 240 = 120 then 'x' || (i - 120) end from (select i, i / 10 % 4 as k, i / 40 % 3 as j, ",
                owner!(),
                " as t from n) as s"
            )
        )
    ),
    "insert into item_totals (connection_id, parent_id, kind, organization_id, application_id, items, open, bytes) \
     select connection_id, parent_id, kind, organization_id, application_id, count(*), 1, 10 from items where deleted_at is null \
     group by connection_id, parent_id, kind, organization_id, application_id",
    "insert into item_keys (application_id, connection_id, item_id, name, value, sort_text) \
     select application_id, connection_id, id, 'email', uid || '@example.test', sort_text from items where kind = 'contact' and sort_text <> ''",
    "insert into item_keys (application_id, connection_id, item_id, name, value, sort_text) \
     select application_id, connection_id, id, 'group', 'grp_' || parent_id, sort_text from items where kind = 'contact' and sort_text <> ''",
    "insert into item_refs (connection_id, parent_id, from_id, to_uid, position) \
     select connection_id, parent_id, id, 'uid-' || (sequence - sequence % 400), 0 from items where kind = 'task'",
    "insert into item_parts (id, connection_id, item_id, kind, external_id, created_at) \
     select 'part_' || id, connection_id, id, 'step', 'x', 0 from items where kind = 'task'",
    "insert into email_threads (id, organization_id, application_id, connection_id, external_id, latest_at, created_at) \
     select series_id, min(organization_id), min(application_id), min(connection_id), series_id, max(sort_at), 0 from items \
     where kind = 'email_message' group by series_id",
    concat!(
        "insert into email_threads (id, organization_id, application_id, connection_id, merged_into, created_at, emptied_at) ",
        numbers!(
            "20000",
            concat!(
                "select 'thr_merged_' || (100000 + i), 'org_' || t, 'app_' || t, 'conn_' || t || '_3', 'thr_into_' || (i / 2), 0, \
         1767225600000 + i from (select i, ",
                owner!(),
                " as t from n) as s"
            )
        )
    ),
    "insert into email_thread_refs (connection_id, ref, thread_id) \
     select connection_id, 'ref-' || uid, series_id from items where kind = 'email_message'",
    "insert into email_places (place_id, sort_at, item_id, connection_id) \
     select application_id, sort_at, id, connection_id from items where kind = 'email_message' and deleted_at is null",
    "insert into email_places (place_id, sort_at, item_id, connection_id) \
     select connection_id, sort_at, id, connection_id from items where kind = 'email_message' and deleted_at is null",
    "insert into email_places (place_id, sort_at, item_id, connection_id) \
     select series_id, sort_at, id, connection_id from items where kind = 'email_message' and deleted_at is null",
    "insert into email_places (place_id, sort_at, item_id, connection_id) \
     select 'fol' || substr(connection_id, 5, 2) || '_' || (sequence % 10), sort_at, id, connection_id from items \
     where kind = 'email_message' and deleted_at is null",
    concat!(
        "insert into log (application_id, sequence, id, organization_id, connection_id, type, change_type, resource_type, resource_id, \
         parent_id, origin, resource, at) ",
        numbers!(
            "100000",
            concat!(
                "select 'app_' || t, i, 'not_' || i, 'org_' || t, 'conn_' || t || '_' || k, 'x.created', 'created', \
             case k when 0 then 'calendar.event' when 1 then 'contact' when 2 then 'task' else 'email.message' end, 'x' || i, \
             case k when 0 then 'cal_' || t || '_' || j when 1 then 'lst_' || t || '_' || j when 2 then 'lbl_' || t || '_' || j else '' end, \
             'provider', '{}', 1767225600000 + cast(60000 as bigint) * i from (select i, i / 10 % 4 as k, i / 40 % 3 as j, ",
                owner!(),
                " as t from n) as s"
            )
        )
    ),
    "insert into sync_states (organization_id, application_id, connection_id, surface, scope_id, followed, status, epoch, started_at, \
     last_success_at, next_pull_at, seen, consecutive_errors, provider_resets, latest_sequence, floor_sequence) \
     select organization_id, application_id, id, surface, scope, 1, 'caught_up', 0, 0, 1, 1767225600000 + length(id), 0, 0, 0, 0, 0 from connections, \
     (select 'calendar' as surface, '' as scope union all select 'calendar', 'one' union all select 'contacts', '' union all select 'email', '' \
     union all select 'tasks', '') as of_each",
    "insert into sync_states (organization_id, application_id, connection_id, surface, scope_id, followed, status, epoch, started_at, \
     last_success_at, next_pull_at, seen, consecutive_errors, provider_resets, latest_sequence, floor_sequence) \
     select organization_id, application_id, connection_id, 'contacts', id, 1, 'caught_up', 0, 0, 1, 1767225600000, 0, 0, 0, 0, 0 from items \
     where kind in ('contact_book', 'task_list')",
    concat!(
        "insert into sync_item_errors (organization_id, application_id, connection_id, surface, scope_id, source_id, code, message, attempts, at) ",
        numbers!(
            "20000",
            concat!(
                "select 'org_0', 'app_0', case when i < 500 then 'conn_0_0' else 'conn_' || (100040 + i / 4) end, \
         'calendar', 'cal_0_' || (i % 3), 's' || i, 'c', 'm', 1, i from n"
            )
        )
    ),
    concat!(
        "insert into idempotency (application_id, scope, fingerprint, fence, owner, claimed_at, lease_until) ",
        numbers!(
            "20000",
            concat!(
                "select 'app_' || t, 'scope-' || i, 'f', 'fence', 'owner', 1767225600000 + i, 0 from (select i, ",
                owner!(),
                " as t from n) as s"
            )
        )
    ),
    concat!(
        "insert into usage (organization_id, application_id, key_id, day, surface, outcome, requests) ",
        numbers!(
            "20000",
            concat!(
                "select 'org_' || t, 'app_' || t, 'key_' || i, '2025-' || (10 + i % 3) || '-' || (10 + i / 10 % 19), 'email', 'success', 1 \
         from (select i, ",
                owner!(),
                " as t from n) as s"
            )
        )
    ),
    concat!(
        "insert into provider_units (connection_id, day, bucket, organization_id, application_id, units) ",
        numbers!(
            "20000",
            concat!(
                "select 'conn_units_' || i, '2026-03-' || (10 + i % 3), 'mail', 'org_' || t, 'app_' || t, i from (select i, ",
                owner!(),
                " as t from n) as s"
            )
        )
    ),
    concat!(
        "insert into outbox (id, organization_id, application_id, connection_id, state, internet_message_id, options, recipients, \
         next_attempt_at, attempts, created_at, updated_at) ",
        numbers!(
            "20000",
            concat!(
                "select 'out_' || (100000 + i), 'org_' || t, 'app_' || t, 'conn_' || t || '_3', 'sent', 'mid-' || i, '{}', '[]', \
         case when i % 10 = 0 then 1767225600000 + i end, 0, 0, 1767225600000 + i from (select i, ",
                owner!(),
                " as t from n) as s"
            )
        )
    ),
    "insert into outbox_contents (id, position, piece) select id, 0, 'text' from outbox",
    concat!(
        "insert into tracking (id, organization_id, application_id, connection_id, message_id, opens, links, replies, urls, expires_at, created_at) ",
        numbers!(
            "20000",
            concat!(
                "select 'trk_' || (100000 + i), 'org_' || t, 'app_' || t, 'conn_' || t || '_3', 'out_' || (100000 + i), 1, 1, 1, '[]', \
         1767225600000 + i, 0 from (select i, ",
                owner!(),
                " as t from n) as s"
            )
        )
    ),
    "insert into tracking_events (id, tracking_id, kind, at, classification) \
     select 'hit_' || id || '_' || kind, id, kind, created_at, 'human' from tracking, (select 'open' as kind union all select 'click') as of_each",
    concat!(
        "insert into email_reports (item_id, organization_id, application_id, connection_id, attempts, next_attempt_at) ",
        numbers!(
            "20000",
            concat!(
                "select 'msg_report_' || i, 'org_' || t, 'app_' || t, 'conn_' || t || '_3', 0, 1767225600000 + i \
         from (select i, ",
                owner!(),
                " as t from n) as s"
            )
        )
    ),
    concat!(
        "insert into oauth_clients (id, organization_id, application_id, provider, client_id, settings, endpoints, scopes, version, \
         created_at, updated_at) ",
        numbers!(
            "20000",
            concat!(
                "select 'oac_' || i, 'org_' || t, 'app_' || t, 'provider-' || i, 'client', '{}', '{}', '{}', 1, 0, 0 from (select i, ",
                owner!(),
                " as t from n) as s"
            )
        )
    ),
    concat!(
        "insert into application_redirects (organization_id, application_id, uri, created_at) ",
        numbers!(
            "20000",
            concat!(
                "select 'org_' || t, 'app_' || t, 'https://app.example.test/' || i, 0 from (select i, ",
                owner!(),
                " as t from n) as s"
            )
        )
    ),
    concat!(
        "insert into authorizations (state_hash, organization_id, application_id, api_key_id, provider, oauth_client_id, \
         oauth_client_version, redirect_uri, callback_uri, requires_iss, endpoints, requested_scopes, provider_scopes, options, secrets, \
         created_at, expires_at, code_hash) ",
        numbers!(
            "100000",
            concat!(
                "select 'state-' || i, 'org_' || t, 'app_' || t, 'key', 'sandbox', 'oac', 1, 'https://app.example.test/', \
         'https://host.example.test/', 0, '{}', '[]', '[]', '{}', '', 1767225600000 + i, 1767225600000 + i, \
         case when i % 2 = 0 then 'code-' || i end from (select i, ",
                owner!(),
                " as t from n) as s"
            )
        )
    ),
    concat!(
        "insert into token_revocations (id, organization_id, application_id, provider, grant_client, grant_key, token, created_at) ",
        numbers!(
            "20000",
            concat!(
                "select 'rvk_' || i, 'org_' || t, 'app_' || t, 'sandbox', 'client', 'grant-' || i, '', 0 from (select i, ",
                owner!(),
                " as t from n) as s"
            )
        )
    ),
    concat!(
        "insert into token_grants (id, organization_id, application_id, connection_id, api_key_id, scopes, refresh_hash, generation, \
         created_at, last_used_at, expires_at) ",
        numbers!(
            "100000",
            concat!(
                "select 'grt_' || i, 'org_' || t, 'app_' || t, 'conn_' || (100000 + i % 20000), 'key_' || (100000 + i % 10000), '[]', \
         'refresh-' || i, 0, 1767225600000 + i, 1767225600000 + i, 1767225600000 + i from (select i, ",
                owner!(),
                " as t from n) as s"
            )
        )
    ),
];
