-- The live connections of one account: a second one is refused.
create index connections_by_account on connections (application_id, provider, external_account_id, id) where deleted_at is null;
