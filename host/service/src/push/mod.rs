//! Notifications that providers post to this service (Google's channels, subscriptions of Microsoft Graph). A notification is a hint: it
//! makes a pull due, and nothing that it says is believed. `connections::watch_reach` says where it can come to, `notification` reads it
//! by the `[push]` of the connector's manifest, `jwt` verifies the token of a whole request, `recipients` finds the applications that it is
//! for, and `receive` compares it with the watches. `wanted_watches` says what is to be watched, `connections::watch_expiry` when a watch is
//! renewed, `watch_rows` makes their rows, and `stop` ends those of a connection. The job `renew_job` starts, renews and stops them.

pub mod jwt;
pub mod notification;
pub mod receive;
pub mod recipients;
pub mod renew_job;
pub mod stop;
pub mod wanted_watches;
pub mod watch_rows;
