-- Until when a provider wants to be left alone by a connection (its Retry-After), in milliseconds since 1970. Nothing of the connection
-- calls the provider before; null or a past time: nothing waits.
alter table connections add column throttled_until bigint;
