//! Bookable event types, schedules and bookings. Tables: `migrations/0070_scheduling.sql`; that no host is in two places at a
//! time is the database's own rule (`migrations/0071_reserved_times.*.sql`).
//!
//! A transaction that books takes its locks in this order: the event type, the connections of its hosts by id, the meeting, the
//! log.

pub mod applications;
pub mod bookings;
pub mod erasure;
pub mod event_types;
pub mod host_gone;
pub mod links;
pub mod made;
pub mod mail;
pub mod meeting_events;
pub mod meetings;
pub mod notices;
pub mod pending;
pub mod reserved_times;
pub mod rotation;
pub mod schedules;
