-- Bookings are listed by their invitee and by their status, too.
-- One expression each: with two columns SQLite prefers `bookings_of_application`, which is shorter and reads every booking of the time.
create index bookings_by_invitee on bookings ((application_id || '/' || invitee_email), start_at, id);
create index bookings_by_status on bookings ((application_id || '/' || status), start_at, id);

-- Which bookings are over without having been ended, and which were not confirmed in time: what a lost job would have done.
create index bookings_ahead on bookings (end_at) where status in ('pending', 'confirmed');
create index bookings_to_confirm on bookings (confirm_by) where status = 'pending';

-- What is forgotten after its time.
create index bookings_erased on bookings (end_at) where erased_at is not null;
create index reserved_times_by_end on reserved_times (end_at);

-- Events of meetings that do not take place, and that are still in their calendars.
create index meeting_events_unwanted on meeting_events (connection_id) where is_wanted = 0 and event_id is not null;
