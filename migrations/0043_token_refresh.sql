-- Tokens of OAuth that are renewed, and tokens that are revoked at their provider.

-- Hash of the authorization server's origin and our client id there; and of these and the account: connections with one value share a
-- grant at most providers. Compared across tenants, since two applications may use one client.
alter table connections add column grant_client text;
alter table connections add column grant_key text;
-- The host that asks for new tokens, and until when it has the right to.
alter table connections add column refresh_claimed_by text;
alter table connections add column refresh_claimed_until bigint;
-- The authorization server is not asked before then, after so many failures in a row.
alter table connections add column refresh_blocked_until bigint;
alter table connections add column refresh_failures bigint not null default 0;
-- When the refresh token is over, where the provider tells.
alter table connections add column refresh_token_expires_at bigint;
create index connections_grant_client on connections (grant_client) where grant_client is not null;
create index connections_grant on connections (grant_key) where grant_key is not null;

-- Tokens of accounts that were disconnected, or were let in and not connected. A job of the kind `revoke` works on each and removes it.
create table token_revocations (
    id text primary key,
    organization_id text not null,
    application_id text not null,
    -- The connector's name.
    provider text not null,
    grant_client text not null,
    -- Null: whose account it was is not known.
    grant_key text,
    -- Sealed.
    token text not null,
    created_at bigint not null
);
