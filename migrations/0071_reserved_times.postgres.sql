-- No host is in two places at a time. Two buffers may overlap, nothing else may. Ranges of the core alone, so that no extension is needed:
-- the same host, and overlapping times, and not both of them buffers (a meeting's side is unbounded, a buffer's is a point of its own).
-- `insert … on conflict do nothing` leaves out what would break the rule: 0 rows change.
alter table reserved_times add constraint reserved_times_exclusive exclude using gist (
    int8range(hashtextextended(connection_id, 0), hashtextextended(connection_id, 0), '[]') with &&,
    int8range(start_at, end_at) with &&,
    (case when is_buffer = 0 then int8range(null, null)
        else int8range(hashtextextended(id, 1), hashtextextended(id, 1), '[]') end) with &&
);
