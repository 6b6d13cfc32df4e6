-- Hours of the clock that the invitee chose on the booking page, 12 or 24; null: none was chosen. Mail to the invitee and guests, and the
-- pages of the booking, write times by it.
alter table bookings add column clock_hours bigint;
