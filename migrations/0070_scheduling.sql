-- Opening hours that several event types share.
create table schedules (
    id text primary key,
    organization_id text not null,
    application_id text not null,
    name text not null,
    -- JSON: the Schedule.
    body text not null,
    metadata text not null,
    etag text not null,
    deleted_at bigint,
    created_at bigint not null,
    updated_at bigint not null
);
create index schedules_of_application on schedules (application_id, id) where deleted_at is null;

-- Templates that people book.
create table event_types (
    id text primary key,
    organization_id text not null,
    application_id text not null,
    -- JSON: the EventType as the API has it, without metadata.
    body text not null,
    -- The shared schedule that it uses.
    schedule_id text,
    metadata text not null,
    etag text not null,
    -- Counted up with every change; slot tokens name it.
    version bigint not null,
    -- How often each host was chosen is counted from here on.
    rotation_since bigint not null,
    -- Deleted ones stay while a booking names them.
    deleted_at bigint,
    created_at bigint not null,
    updated_at bigint not null
);
create index event_types_of_application on event_types (application_id, id) where deleted_at is null;
create index event_types_by_schedule on event_types (schedule_id) where schedule_id is not null and deleted_at is null;

-- Which connections are hosts of which event types: what a connection that goes away is looked up by.
create table event_type_hosts (
    event_type_id text not null,
    connection_id text not null references connections (id),
    organization_id text not null,
    application_id text not null,
    created_at bigint not null,
    updated_at bigint not null,
    primary key (event_type_id, connection_id)
);
create index event_type_hosts_by_connection on event_type_hosts (connection_id);

-- Public names of event types. A slug is unique within its application.
create table booking_links (
    application_id text not null,
    slug text not null,
    organization_id text not null,
    event_type_id text not null,
    -- 1: it is the event type's own slug.
    is_primary bigint not null,
    -- Bookings that it is still good for; null: any number.
    uses_left bigint,
    expires_at bigint,
    -- It was ended, and answers as if it did not exist.
    ended_at bigint,
    created_at bigint not null,
    updated_at bigint not null,
    primary key (application_id, slug)
);
create index booking_links_by_event_type on booking_links (event_type_id);

-- Time that hosts spend: one row for each slot that was taken, however many people have a seat in it.
create table meetings (
    id text primary key,
    organization_id text not null,
    application_id text not null,
    event_type_id text not null,
    start_at bigint not null,
    end_at bigint not null,
    -- As the event type had them when the slot was taken.
    buffer_before_ms bigint not null,
    buffer_after_ms bigint not null,
    -- JSON array of connection ids, the organizer first.
    hosts text not null,
    seats bigint not null,
    seats_taken bigint not null,
    i_cal_uid text not null,
    -- RFC 5545 SEQUENCE: goes up with every move.
    sequence bigint not null,
    -- It does not take place, and takes nobody's time.
    released_at bigint,
    created_at bigint not null,
    updated_at bigint not null
);
create index meetings_by_time on meetings (event_type_id, start_at) where released_at is null;
create index meetings_by_uid on meetings (application_id, i_cal_uid);

-- What blocks a host's time: the meeting itself and each of its buffers is a row. Rows are inserted and deleted, never updated.
create table reserved_times (
    -- meeting/connection/0 to 2: the meeting, the time before it, the time after it.
    id text primary key,
    organization_id text not null,
    application_id text not null,
    meeting_id text not null,
    connection_id text not null references connections (id),
    -- The calendar that the meeting is written to.
    calendar_id text not null,
    start_at bigint not null,
    end_at bigint not null,
    is_buffer bigint not null,
    created_at bigint not null,
    updated_at bigint not null
);
create index reserved_times_by_host on reserved_times (connection_id, start_at);
-- One person can be two connections that read the same calendar.
create index reserved_times_by_calendar on reserved_times (calendar_id, start_at);
create index reserved_times_by_meeting on reserved_times (meeting_id);

-- The meeting in each host's calendar: what is wanted, and how far it has got.
create table meeting_events (
    meeting_id text not null,
    connection_id text not null,
    organization_id text not null,
    application_id text not null,
    calendar_id text not null,
    -- Known once it is written.
    event_id text,
    i_cal_uid text not null,
    -- 0: the event is to be gone.
    is_wanted bigint not null,
    -- `pending`, `written`, `failed` or `deleted`.
    status text not null,
    -- The meeting's sequence that the calendar has; -1 before the first write.
    written_sequence bigint not null,
    attempts bigint not null,
    error text,
    next_attempt_at bigint,
    created_at bigint not null,
    updated_at bigint not null,
    primary key (meeting_id, connection_id)
);
create index meeting_events_due on meeting_events (next_attempt_at) where next_attempt_at is not null;
create index meeting_events_by_event on meeting_events (event_id) where event_id is not null;

-- One invitee's seat in a meeting.
create table bookings (
    id text primary key,
    organization_id text not null,
    application_id text not null,
    event_type_id text not null,
    meeting_id text not null,
    -- `pending`, `confirmed`, `rejected`, `cancelled`, `expired` or `completed`.
    status text not null,
    start_at bigint not null,
    end_at bigint not null,
    -- In lower case, by which the bookings of one address are counted.
    invitee_email text not null,
    -- JSON: the Booking as the API has it, without what other columns and tables hold.
    body text not null,
    metadata text not null,
    etag text not null,
    version bigint not null,
    -- Pending ones expire then.
    confirm_by bigint,
    -- Counted up to make the links of the invitee invalid.
    manage_version bigint not null,
    -- What names the invitee was erased then.
    erased_at bigint,
    created_at bigint not null,
    updated_at bigint not null
);
create index bookings_of_application on bookings (application_id, start_at, id);
create index bookings_of_event_type on bookings (event_type_id, start_at, id);
create index bookings_of_meeting on bookings (meeting_id);
create index bookings_to_erase on bookings (end_at) where erased_at is null;
create index bookings_of_invitee on bookings (event_type_id, invitee_email, end_at) where status in ('pending', 'confirmed');

-- The application in the addresses of booking pages; null: its id without the prefix, in lower case.
alter table applications add column handle text;
create unique index applications_by_handle on applications (handle) where handle is not null;
