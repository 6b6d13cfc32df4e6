-- The people who run the installation, and the developers of its applications. `email_key` is the same text for all spellings of an
-- address. `password_hash` is a PHC string; without one an operator signs in by a link alone. `totp_secret` is sealed, and `totp_step` the
-- last time step whose code was used. `recovery` is a JSON array with HMACs of unused recovery codes.
create table operators (
    id text primary key,
    email text not null,
    email_key text not null unique,
    name text not null,
    is_admin bigint not null,
    password_hash text,
    totp_secret text,
    totp_step bigint not null,
    recovery text not null,
    oidc_issuer text,
    oidc_subject text,
    language text,
    time_zone text,
    theme text,
    -- Sessions that began before then are over.
    sessions_from bigint not null,
    last_sign_in_at bigint,
    last_sign_in_ip text,
    disabled_at bigint,
    created_at bigint not null,
    updated_at bigint not null
);
create unique index operators_by_subject on operators (oidc_issuer, oidc_subject) where oidc_subject is not null;
create index operators_of_admins on operators (is_admin, id) where disabled_at is null;

-- `role`: owner, developer, viewer.
create table operator_roles (
    operator_id text not null references operators (id),
    organization_id text not null references organizations (id),
    role text not null,
    created_at bigint not null,
    primary key (operator_id, organization_id)
);
create index operator_roles_of_organization on operator_roles (organization_id, operator_id);

-- `hash` is an HMAC of the cookie, useless without the master key. `method`: password, code, recovery, link, oidc; or `half` for somebody who
-- has given a password, and no code of the second factor yet. `flash` is a code and ids, never a text or a secret.
create table operator_sessions (
    hash text primary key,
    id text not null unique,
    operator_id text not null references operators (id),
    method text not null,
    created_at bigint not null,
    seen_at bigint not null,
    ends_at bigint not null,
    fresh_at bigint not null,
    ip text not null,
    user_agent text not null,
    flash text,
    -- Of a half session: the subject in sign_in_failures whose tries its codes count as, and the wrong codes so far.
    subject text,
    wrong_codes bigint not null
);
create index operator_sessions_of on operator_sessions (operator_id, created_at);
create index operator_sessions_over on operator_sessions (ends_at);

-- Links that are given out once. `kind`: first (makes the first operator), invite, reset (sets a new password). `roles` is a JSON object of
-- roles by organization.
create table operator_links (
    hash text primary key,
    id text not null unique,
    kind text not null,
    email text,
    email_key text,
    is_admin bigint not null,
    roles text not null,
    -- Of a reset: it also takes the second factor away.
    drops_factor bigint not null,
    created_by text,
    created_by_name text,
    created_at bigint not null,
    expires_at bigint not null
);
create index operator_links_over on operator_links (expires_at);
create index operator_links_first on operator_links (kind) where kind = 'first';
create index operator_links_of_address on operator_links (email_key, created_at) where email_key is not null;

-- Tries to sign in since the last success, by an HMAC of the address, whether or not anybody has it, or of a device that was used before.
create table sign_in_failures (
    subject text primary key,
    tries bigint not null,
    wait_until bigint not null,
    at bigint not null
);
create index sign_in_failures_over on sign_in_failures (at);
