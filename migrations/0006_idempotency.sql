-- One row per Idempotency-Key of an application, method and path. It is claimed before the work and answered in the
-- transaction of the effect. `fence` tells whose claim it is: a claim that was taken over cannot be answered by its first
-- owner any more. The stored answer is sealed, because the answer to a new API key holds the key.
create table idempotency (
    application_id text not null,
    scope text not null,
    fingerprint text not null,
    fence text not null,
    owner text not null,
    claimed_at bigint not null,
    lease_until bigint not null,
    answered_at bigint,
    status bigint,
    headers text,
    answer text,
    primary key (application_id, scope)
);
create index idempotency_by_age on idempotency (claimed_at);
