-- What is true of the whole installation: `keyring_id` tells which master key its secrets are sealed with, so that a host with
-- another one is refused before it stores what the others cannot open.
create table installation (
    name text primary key,
    value text not null
);
