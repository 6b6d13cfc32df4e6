-- An account that a user let this service into and that waits for the client's code (RFC 7636): sealed, and null once it is connected or
-- dropped.
alter table authorizations add column account text;
-- The grant of its tokens, as in `connections`: a grant that an account waits with is not revoked.
alter table authorizations add column grant_client text;
alter table authorizations add column grant_key text;
create index authorizations_grant_client on authorizations (grant_client) where grant_client is not null;
create index authorizations_grant on authorizations (grant_key) where grant_key is not null;
