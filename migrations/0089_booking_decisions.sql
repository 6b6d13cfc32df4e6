-- When the booking was last confirmed or rejected, so that a link in the host's mail tells what has happened; null: never, or before this
-- column was there.
alter table bookings add column decided_at bigint;
-- The connection of the host who did that by such a link; null: an API key did.
alter table bookings add column decided_by text;
