-- No host is in two places at a time. Two buffers may overlap, nothing else may. What would break the rule is not inserted: 0 rows change.
-- No row is longer than 24 hours (the API bounds durations and buffers), so a few rows of one host are looked at.
create trigger reserved_times_exclusive before insert on reserved_times when exists (
    select 1 from reserved_times o where o.connection_id = new.connection_id and o.start_at < new.end_at
    and o.start_at >= new.start_at - 86400000 and o.end_at > new.start_at and (o.is_buffer = 0 or new.is_buffer = 0)
)
begin
    select raise(ignore);
end;
