//! Operators of the ten organizations of `seed`, with 100,000 sessions and as many entries of the audit log.

/// The statements, to run after those of `seed`.
pub const STATEMENTS: &[&str] = &[
    "insert into operators (id, email, email_key, name, is_admin, password_hash, totp_step, recovery, sessions_from, disabled_at, created_at, updated_at) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 19999) \
     select 'opr_' || (100000 + i), 'Ada' || i || '@example.com', 'ada' || i || '@example.com', 'Ada', case when i % 100 = 0 then 1 else 0 end, \
     'hash', 0, '[]', 0, case when i % 50 = 1 then 1 end, i, i from n",
    "insert into operator_roles (operator_id, organization_id, role, created_at) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 19999) \
     select 'opr_' || (100000 + i), 'org_' || case when i % 10 < 6 then 0 else 1 + i % 9 end, \
     case when i % 3 = 0 then 'owner' when i % 3 = 1 then 'developer' else 'viewer' end, i from n",
    "insert into operator_sessions (hash, id, operator_id, method, created_at, seen_at, ends_at, fresh_at, ip, user_agent, wrong_codes) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 99999) \
     select 'cookie ' || i, 'ops_' || i, 'opr_' || (100000 + case when i < 200 then 0 else i % 20000 end), \
     case when i % 10 = 9 then 'half' else 'password' end, i, i, 1000 + i, i, '127.0.0.1', 'test', 0 from n",
    "insert into operator_links (hash, id, kind, email, email_key, is_admin, roles, drops_factor, created_at, expires_at) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 19999) \
     select 'token ' || i, 'opl_' || i, case when i < 10 then 'first' when i % 2 = 0 then 'invite' else 'reset' end, \
     case when i >= 10 then 'Ada' || i || '@example.com' end, case when i >= 10 then 'ada' || i || '@example.com' end, 0, '{}', 0, i, 1000 + i \
     from n",
    "insert into sign_in_failures (subject, tries, wait_until, at) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 19999) select 'subject ' || i, 6, i, i from n",
    "insert into audit_log (organization_id, id, at, actor_kind, actor_id, actor_name, act, target, details) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 99999) \
     select case when i % 10 = 9 then '' else 'org_' || (i % 9) end, 'aud_' || (100000 + i), i, 'operator', 'opr_' || (100000 + i % 20000), 'Ada', \
     'key_created', 'key_' || i, '{}' from n",
    "insert into api_key_old_secrets (hash, key_id, prefix, last4, created_at, expires_at) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 9999) \
     select 'old hash ' || i, 'key_' || (100000 + i), 'uc_live_abcdef', '0000', 0, 5000000 + i from n",
];
