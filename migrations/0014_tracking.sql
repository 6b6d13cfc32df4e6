-- What became known of sent messages after they left: opens, clicks, replies, bounces, complaints.
create table tracking (
    id text primary key,
    organization_id text not null,
    application_id text not null,
    connection_id text not null references connections (id),
    message_id text not null,
    label text,
    -- 1: counted.
    opens bigint not null,
    links bigint not null,
    replies bigint not null,
    -- JSON: the addresses that the links of the message lead to, in its order.
    urls text not null,
    -- When the message was handed over; null before.
    sent_at bigint,
    expires_at bigint not null,
    created_at bigint not null
);
create index tracking_by_message on tracking (message_id);
create index tracking_by_connection on tracking (connection_id);

-- One line for each thing that happened. Counts are made of them.
create table tracking_events (
    id text primary key,
    tracking_id text not null,
    kind text not null,
    at bigint not null,
    link_index bigint,
    -- Cut to a network.
    ip text,
    user_agent text,
    classification text not null,
    reason text,
    -- JSON: of whom, and what was said.
    detail text
);
create index tracking_events_by_record on tracking_events (tracking_id, at);

-- Messages that may report on messages that were sent from here: to be read.
create table email_reports (
    item_id text primary key,
    organization_id text not null,
    application_id text not null,
    connection_id text not null,
    attempts bigint not null,
    next_attempt_at bigint not null
);
create index email_reports_due on email_reports (next_attempt_at);
create index email_reports_by_connection on email_reports (connection_id);
