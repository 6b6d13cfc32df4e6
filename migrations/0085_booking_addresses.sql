-- The addresses of mail that bookings of the last hour write to: the booking page, and keys that stand in pages, make an address some bookings
-- an hour, whether it is their invitee's or a guest's. Rows older than that are of no use, and go.
create table booking_addresses (
    booking_id text not null,
    -- Folded: the same text for all spellings of an address.
    address text not null,
    -- The same without its tag (`+…`, RFC 5233): what bookings are counted by.
    mailbox text not null,
    organization_id text not null,
    application_id text not null,
    -- When the booking was made.
    created_at bigint not null,
    primary key (booking_id, address)
);
create index booking_addresses_by_mailbox on booking_addresses (application_id, mailbox, created_at);
create index booking_addresses_by_age on booking_addresses (created_at);

-- Invitees of the last hour before the change go on counting.
insert into booking_addresses (booking_id, address, mailbox, organization_id, application_id, created_at)
select id, invitee_email, invitee_email, organization_id, application_id, created_at from bookings
where invitee_email <> '' and created_at > (select coalesce(max(created_at), 0) - 3600000 from bookings);

-- Its question is asked of the new table.
drop index bookings_made_by_invitee;
