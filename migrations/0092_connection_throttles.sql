-- Until when a provider wants parts of an account to be left alone, each a bucket of `[limits]` of the connector's manifest. What holds for the
-- whole account stays in `connections.throttled_until`, where hosts of the version before look for it too.
create table connection_throttles (
    connection_id text not null references connections (id),
    bucket text not null,
    -- Milliseconds since 1970; a past time: nothing waits.
    until bigint not null,
    primary key (connection_id, bucket)
);
