-- The keys that a key made: one that is bound to connections manages those alone.
create index api_keys_of_maker on api_keys (application_id, created_by);
