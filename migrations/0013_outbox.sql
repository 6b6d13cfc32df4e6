-- Messages on their way out. A row is there before anything is said to a provider, and stays when the message is sent: what became of it
-- is looked up here. `id` is the id of the message.
create table outbox (
    id text primary key,
    organization_id text not null,
    application_id text not null,
    connection_id text not null references connections (id),
    -- The draft that it was.
    draft_id text,
    -- `queued`, `sending`, `sent`, `partially_failed`, `failed`, `bounced` or `cancelled`, as the message shows it.
    state text not null,
    internet_message_id text not null,
    -- JSON: the sender, how the copy is kept, what is tracked.
    options text not null,
    -- JSON: what became of each recipient.
    recipients text not null,
    send_at bigint,
    -- When to try (again); null: there is nothing to do.
    next_attempt_at bigint,
    attempts bigint not null,
    -- The provider may have taken it: from then on it is looked for, and never sent again.
    handed_over_at bigint,
    -- Who works on it, and until when nobody else may.
    claimed_by text,
    claimed_until bigint,
    created_at bigint not null,
    updated_at bigint not null
);
create index outbox_due on outbox (next_attempt_at) where next_attempt_at is not null;
create index outbox_by_message_id on outbox (connection_id, internet_message_id);

-- The bytes of a message that is to be sent, in pieces: mail is text.
create table outbox_contents (
    id text not null,
    position bigint not null,
    piece text not null,
    primary key (id, position)
);
