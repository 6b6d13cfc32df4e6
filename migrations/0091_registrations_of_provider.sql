-- The registrations of a provider for all applications: notifications of a provider are proved by an account that the operator named in one of
-- them.
create index oauth_clients_by_provider on oauth_clients (provider);
