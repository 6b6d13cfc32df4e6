//! Notifications that providers post to this service (Google's channels, subscriptions of Microsoft Graph). A notification is a hint: it
//! makes a pull due, and its content is not trusted. `connections::watch_reach` determines the address, `notification` parses it by the
//! `[push]` of the connector's manifest, `jwt` verifies the token of a whole request, `recipients` finds the applications that it is for,
//! and `receive` compares it with the watches. `wanted_watches` determines the scopes to watch, `connections::watch_expiry` the renewal
//! times, `watch_rows` creates the rows, and `stop` ends the watches of a connection. The job `renew_job` starts, renews and stops them.

pub mod jwt;
pub mod notification;
pub mod receive;
pub mod recipients;
pub mod renew_job;
pub mod stop;
pub mod wanted_watches;
pub mod watch_rows;
