//! Notifications: when data of an account changes, the provider posts to the address that the account has registered, as the channels of
//! Google Calendar do. A notification is an HTTP/1.1 request without a body:
//!
//! | header | value |
//! |---|---|
//! | `x-sandbox-channel` | the id of the watch |
//! | `x-sandbox-token` | the secret that was given with the watch |
//! | `x-sandbox-state` | `sync`: the watch has begun; `exists`: something has changed; `not_exists`: the watched folder is gone |
//! | `x-sandbox-resource` | the watched resource: `calendars/{calendar}/events`, `calendars`, `books/{book}/cards`, `mail`, … |
//!
//! * Any status but 429 and 5xx ends the delivery; those, and no answer within five seconds, are retried after 1, 2 and 4 seconds.
//! * Changes during a notification of the same watch cause one more. A notification that was not accepted when the
//!   service stops is not sent later.
//! * Notifications are sent without TLS and to this machine alone. A service that knows its own address sends them to no other; where
//!   `address` has the service's public origin, they go to its own address.

pub mod delivery;
pub mod notices;
pub mod routes;
pub mod watches;
