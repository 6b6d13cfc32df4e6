-- The invitation that was sent of a booking and that stands in calendars by now (iTIP): what changes it or takes it back has to name the
-- same object of the same organizer, and a later revision. There is none where the host's provider invites by itself.
create table booking_invitations (
    booking_id text not null,
    -- Who has it: invitee or guests.
    role text not null,
    organization_id text not null,
    application_id text not null,
    -- RFC 5545 UID and SEQUENCE.
    i_cal_uid text not null,
    sequence bigint not null,
    -- The address that ORGANIZER named.
    organizer_email text not null,
    -- The account that has this address.
    connection_id text not null,
    created_at bigint not null,
    updated_at bigint not null,
    primary key (booking_id, role)
);
