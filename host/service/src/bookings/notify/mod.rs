//! Mail about bookings: messages when a booking is made, confirmed, rescheduled or ended, and before it begins.
//!
//! A message is a job from the moment of the change: `queue` enqueues it in the transaction that changes the booking, under a key that
//! names the change and the recipients (`kind`). Its run (`send`) reads the current data (`context`), finds the account that sends
//! (`sender`), writes the message (`draft`, `message_text`, `content`, `plain_text`, `html`, `texts`) with its invitation (`invitation`),
//! puts it into the outbox in one transaction with the end of the job, and cancels unsent messages that it supersedes (`superseded`): so
//! each message comes into the outbox once, and the outbox sends it once (`crate::sending`). `reminder` and `remind` are for reminders.
//! Each message has a row beside its job (`storage::scheduling::notices`), by which `bookings::reconcile` finds messages whose job was
//! lost.

mod content;
pub mod context;
mod draft;
mod html;
mod invitation;
pub mod kind;
pub mod message_text;
mod plain_text;
pub mod queue;
pub mod remind;
pub mod reminder;
pub mod send;
pub mod sender;
pub mod superseded;
mod texts;

#[cfg(test)]
mod tests;
