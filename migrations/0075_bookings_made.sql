-- How many bookings an address made lately: the booking page takes some an hour.
create index bookings_made_by_invitee on bookings (application_id, invitee_email, created_at);
