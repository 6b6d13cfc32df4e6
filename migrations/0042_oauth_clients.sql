-- A provider as the operator registered it for one application: the OAuth client (RFC 6749, section 2) that the provider knows
-- us as there.
create table oauth_clients (
    id text primary key,
    organization_id text not null references organizations (id),
    application_id text not null references applications (id),
    -- The connector's name.
    provider text not null,
    client_id text not null,
    -- Sealed; null for a public client.
    client_secret text,
    -- `post`, `basic` or `none`; null: as the connector's manifest says.
    client_auth text,
    -- JSON: values of the settings that the operator gives.
    settings text not null,
    -- JSON: URLs that replace the manifest's.
    endpoints text not null,
    -- JSON: our scope to the provider's scopes, in place of the manifest's.
    scopes text not null,
    -- Counted up with every change.
    version bigint not null,
    disabled_at bigint,
    created_at bigint not null,
    updated_at bigint not null,
    unique (application_id, provider)
);

-- Where an application's users may return to after they connected an account: compared byte for byte (RFC 9700, section 2.1).
create table application_redirects (
    organization_id text not null,
    application_id text not null references applications (id),
    uri text not null,
    created_at bigint not null,
    primary key (application_id, uri)
);

-- Authorization requests, from the URL that a client received to the user's return, and to the code that the client exchanges.
create table authorizations (
    -- HMAC of our `state`.
    state_hash text primary key,
    organization_id text not null,
    application_id text not null,
    api_key_id text not null,
    provider text not null,
    oauth_client_id text not null,
    oauth_client_version bigint not null,
    redirect_uri text not null,
    callback_uri text not null,
    -- What `iss` of the return is compared with (RFC 9207), and whether it has to be there (0 or 1).
    issuer text,
    requires_iss bigint not null,
    -- JSON: the URLs as they were resolved; the return uses these.
    endpoints text not null,
    -- JSON arrays.
    requested_scopes text not null,
    provider_scopes text not null,
    -- The connection that is authorized again; null for a new one.
    connection_id text,
    -- JSON.
    options text not null,
    -- Sealed: PKCE verifier, nonce, the client's `state`. Empty once it is finished.
    secrets text not null,
    -- PKCE (RFC 7636, method S256) of the client of ours.
    code_challenge text,
    created_at bigint not null,
    expires_at bigint not null,
    -- The host that works on the return, and since when. The fence is counted up with every claim.
    claimed_by text,
    claimed_at bigint,
    fence bigint not null default 0,
    finished_at bigint,
    -- JSON.
    outcome text,
    -- HMAC of the code that our client exchanges for tokens.
    code_hash text,
    code_expires_at bigint,
    code_used_at bigint,
    grant_id text
);
create index authorizations_age on authorizations (created_at);
create unique index authorizations_code on authorizations (code_hash) where code_hash is not null;
