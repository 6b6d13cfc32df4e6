//! Notifications that providers post to this service (Google's channels, subscriptions of Microsoft Graph). A notification is a hint: it
//! makes a pull due, and nothing that it says is believed. `reach` says where it can come to, `notification` reads it by the `[push]` of
//! the connector's manifest, `jwt` verifies the token of a whole request, `receive` holds it against the watches, `watching` says
//! what is to be watched, `life` when a watch is renewed, `rows` makes their rows, and `stop` ends those of a connection. The job `renew`
//! (`push::renew_job`) starts, renews and stops them.

pub mod jwt;
pub mod notification;
pub mod receive;
pub mod renew_job;
pub mod stop;
pub mod wanted_watches;
pub mod watch_rows;
