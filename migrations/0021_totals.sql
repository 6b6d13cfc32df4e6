-- What is counted often is counted when it changes, in the transaction of the change.

-- The live items of each kind in each collection (empty: directly in the connection): how many can be listed, how many of them are open,
-- and the bytes of their bodies.
create table item_totals (
    connection_id text not null,
    parent_id text not null,
    kind text not null,
    organization_id text not null,
    application_id text not null,
    items bigint not null,
    open bigint not null,
    bytes bigint not null,
    primary key (connection_id, parent_id, kind)
);
create index item_totals_of_application on item_totals (application_id, connection_id, bytes);
insert into item_totals (connection_id, parent_id, kind, organization_id, application_id, items, open, bytes)
select connection_id, parent_id, kind, organization_id, application_id,
    sum(case when sort_text <> '' then 1 else 0 end),
    sum(case when sort_text <> '' then is_open else 0 end),
    sum(octet_length(body))
from items where deleted_at is null
group by connection_id, parent_id, kind, organization_id, application_id;

-- Changes per day stand among the requests, with the outcome `change`. Those that the log still has are counted here; the day of an
-- instant is its civil date (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days).
insert into usage (organization_id, application_id, key_id, day, surface, outcome, requests)
select organization_id, application_id, '',
    (year + case when month <= 2 then 1 else 0 end) || '-' || case when month < 10 then '0' else '' end || month
        || '-' || case when mday < 10 then '0' else '' end || mday,
    '', 'change', n
from (
    select organization_id, application_id, n, year, yday - (153 * march_month + 2) / 5 + 1 as mday,
        case when march_month < 10 then march_month + 3 else march_month - 9 end as month
    from (
        select organization_id, application_id, n, year, yday, (5 * yday + 2) / 153 as march_month
        from (
            select organization_id, application_id, n, year_of_era + era * 400 as year,
                day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100) as yday
            from (
                select organization_id, application_id, n, era, day_of_era,
                    (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365 as year_of_era
                from (
                    select organization_id, application_id, n, days / 146097 as era, days - days / 146097 * 146097 as day_of_era
                    from (
                        select organization_id, application_id, at / 86400000 + 719468 as days, count(*) as n
                        from log group by organization_id, application_id, at / 86400000 + 719468
                    ) as by_day
                ) as by_era
            ) as by_year_of_era
        ) as by_year
    ) as by_month
) as by_date;
