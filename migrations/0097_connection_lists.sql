-- Connections of an application, in pages: by state, and by their address. The first one also answers what the index before it answered.
create index connections_by_state on connections (application_id, status, id) where deleted_at is null;
create index connections_by_email on connections (application_id, email, id) where deleted_at is null and email is not null;
drop index connections_by_status;
