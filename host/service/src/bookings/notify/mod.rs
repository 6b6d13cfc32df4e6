//! Mail about bookings: what is sent to whom when a booking is made, confirmed, moved or ended, and before it begins.
//!
//! A message is a job from the moment of the change: `queue` enqueues it in the transaction that changes the booking, under a key that
//! names the change and whom the message is for (`kind`). Its turn (`send`) reads what is known by then, finds the account that sends (`sender`),
//! writes the message (`draft`, `message_text`, `content`, `plain_text`, `html`, `texts`) with its invitation (`invitation`), and puts it into the outbox in one transaction with the
//! end of the job, and takes back what nobody has yet and is not so any more (`overtaken`): so each message comes into the outbox once, and the outbox sends it once (`crate::sending`). `reminder`
//! and `remind` are for what comes with the time. What is to be told has a row beside its job (`storage::scheduling::notices`), by which
//! `bookings::reconcile` finds what lost its job.

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
