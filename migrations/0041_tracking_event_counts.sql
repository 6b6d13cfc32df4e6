-- How many hits (opens, clicks) and how many arrivals (replies, bounces, complaints) a tracking record has. Both are capped, and what
-- is at its cap is known without counting.
alter table tracking add column hits bigint not null default 0;
alter table tracking add column arrivals bigint not null default 0;
update tracking set
    hits = (select count(*) from tracking_events e where e.tracking_id = tracking.id and e.kind in ('open', 'click')),
    arrivals = (select count(*) from tracking_events e where e.tracking_id = tracking.id and e.kind not in ('open', 'click'));
-- Counts by kind, and what is shown beside a record's newest events: replies, bounces and complaints.
create index tracking_events_by_kind on tracking_events (tracking_id, kind, at);
