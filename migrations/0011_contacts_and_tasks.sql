-- Contacts and tasks: lists by name, search, and items that name each other.

-- What other items of the collection call it (a UID); null where nothing is named so.
alter table items add column uid text;
-- What lists order by where that is a text: a folded name, a position. In hexadecimal, so that the collation of a database has
-- no say in it. Empty for what is never listed so.
alter table items add column sort_text text not null default '';
-- What free text is looked for in: folded, without accents.
alter table items add column search_text text not null default '';
-- 1: a task that is neither completed nor cancelled.
alter table items add column is_open bigint not null default 0;
create index items_by_uid on items (parent_id, uid) where uid is not null;
create index items_by_text on items (parent_id, kind, sort_text, id, is_open) where deleted_at is null and sort_text <> '';
create index items_by_text_in_connection on items (connection_id, kind, sort_text, id) where deleted_at is null and sort_text <> '';
create index items_by_text_in_application on items (application_id, kind, sort_text, id) where deleted_at is null and sort_text <> '';
-- The feed of a whole surface of a connection begins with a walk over these.
create index items_by_connection on items (connection_id, kind, id);

-- What an item can be looked up by exactly: an address, a number, a group.
create table item_keys (
    application_id text not null,
    connection_id text not null,
    item_id text not null,
    name text not null,
    value text not null,
    primary key (item_id, name, value)
);
create index item_keys_by_value on item_keys (application_id, name, value);
create index item_keys_by_connection on item_keys (connection_id);

-- Who names whom, as the provider names it: a group its members, a task its parent. Either may come first, so whose id a name
-- stands for is found out whenever one of the two changes.
create table item_refs (
    connection_id text not null,
    parent_id text not null,
    from_id text not null,
    to_uid text not null,
    -- The order in which they are named.
    position bigint not null,
    primary key (from_id, to_uid)
);
create index item_refs_by_uid on item_refs (parent_id, to_uid);
create index item_refs_by_connection on item_refs (connection_id);

-- Parts of an item that have ids of their own: steps and links of a task. The provider's id of one is unique in its item.
create table item_parts (
    id text primary key,
    connection_id text not null,
    item_id text not null,
    kind text not null,
    external_id text not null,
    created_at bigint not null,
    unique (item_id, kind, external_id)
);
create index item_parts_by_connection on item_parts (connection_id);

-- The feed of a whole surface of a connection.
drop index log_by_connection;
create index log_by_connection on log (connection_id, sequence);
