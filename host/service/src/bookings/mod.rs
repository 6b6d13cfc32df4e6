//! Bookings: `event_types` are the templates and `schedules` their hours, `links` looks them up for people who book, `slots` finds
//! available times, and `create` books a slot, on which `decide` decides. `engine_input` and `rotation` read the input of the engine
//! (`rules` and the crate `scheduling`), `event_write` writes bookings into calendars, by the steps of `event_step`.
//!
//! Changes of a booking: `confirm` (for hosts by the links of `host_decision`), `cancel` and `reschedule` are requests, `timed_transitions`
//! come with the time, `host_changes` from the host's calendar (`relocation` finds an event that was moved to another calendar, `all_day`
//! handles one without a time), as does the link that `conference` awaits and `join_link` adds to bookings; `state` holds the status
//! transitions, `locked_meeting` and `change` are shared by all of them, and `notify` sends mail.

pub mod all_day;
pub mod brand;
pub mod calendar_subscriptions;
pub mod cancel;
pub mod change;
pub mod conference;
pub mod confirm;
pub mod create;
pub mod decide;
pub mod engine_input;
pub mod event_body;
pub mod event_failure;
pub mod event_step;
pub mod event_type_rights;
pub mod event_types;
pub mod event_write;
pub mod faults;
pub mod handle;
pub mod host_changes;
pub mod host_decision;
pub mod host_removed;
pub mod hosts;
pub mod input;
pub mod invitee_limit;
pub mod invitee_words;
pub mod join_link;
pub mod links;
pub mod list;
pub mod locked_meeting;
pub mod manage_token;
mod meeting_move;
pub mod new_booking;
pub mod notify;
pub mod policy;
pub mod reconcile;
pub mod relocation;
pub mod reschedule;
mod reschedule_decision;
pub mod rotation;
pub mod rules;
pub mod schedules;
pub mod slots;
pub mod state;
pub mod timed_transitions;
pub mod titles;
pub mod update;
pub mod view;
