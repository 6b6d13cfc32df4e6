//! Requests of the ten tenants of `seed`: 50,000 of them, of which a tenth are errors and a hundredth are faults, and 20,000 bodies.

/// The statements, after those of `seed`.
pub const STATEMENTS: &[&str] = &[
    "insert into request_log (application_id, id, key_id, at, method, route, path, status, ms, ip, error_code, bytes_in, bytes_out, has_bodies) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 49999) \
     select 'app_' || case when i % 10 < 6 then 0 else 1 + i % 9 end, 'req_' || (1000000 + i), 'key_' || (100000 + i % 497), i, 'GET', \
     '/v1/calendars', '/v1/calendars', case when i % 100 = 0 then 500 when i % 10 = 3 then 404 else 200 end, 3, '127.0.0.1', \
     case when i % 10 = 3 then 'not_found' end, 0, 900, case when i < 20000 then 1 else 0 end from n",
    "insert into request_bodies (application_id, id, at, sealed) \
     with recursive n(i) as (select 0 union all select i + 1 from n where i < 19999) \
     select 'app_' || case when i % 10 < 6 then 0 else 1 + i % 9 end, 'req_' || (1000000 + i), i, 'sealed' from n",
];
