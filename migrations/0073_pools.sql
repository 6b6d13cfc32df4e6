-- To whom the latest meetings of an event type were given, for hosts who take turns.
create index meetings_by_creation on meetings (event_type_id, created_at) where released_at is null;

-- Which bookings of an event type wait for their confirmation: without a reservation they are not in the way of others.
create index bookings_pending on bookings (event_type_id, start_at) where status = 'pending';

-- An event type has any number of links, which are listed by their slugs.
create index booking_links_of_event_type on booking_links (event_type_id, slug);
drop index booking_links_by_event_type;
