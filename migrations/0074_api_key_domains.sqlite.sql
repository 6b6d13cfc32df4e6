-- Sites that may call the API from a browser: a row for each allowed domain of each key that works. A browser asks beforehand without a key
-- (a CORS preflight), so what it is answered depends on the site's host alone, whosever the key is.
create table api_key_domains (
    key_id text not null,
    -- An exact host name, in lower case.
    domain text not null,
    -- When the key expires; the largest number for a key that does not. Revoking a key removes its rows.
    live_until bigint not null,
    primary key (key_id, domain)
);
create index api_key_domains_by_domain on api_key_domains (domain, live_until);
create index api_key_domains_by_end on api_key_domains (live_until);

insert into api_key_domains (key_id, domain, live_until)
select distinct k.id, d.value, coalesce(k.expires_at, 9223372036854775807)
from api_keys k, json_each(k.allowed_domains) d where k.revoked_at is null;
