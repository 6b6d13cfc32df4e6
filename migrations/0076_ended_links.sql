-- Links by which nobody can book any more are forgotten after a time.
create index booking_links_expiring on booking_links (expires_at) where expires_at is not null;
create index booking_links_used_up on booking_links (updated_at) where uses_left <= 0;
