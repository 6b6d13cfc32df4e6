//! Webhooks: who subscribes to what (`subscription`, `restart`), which events there are and who wants them (`kinds`, `matchers`), what is
//! sent (`payload`), how it is signed (`sign`), what an attempt comes to (`attempt`), how much memory the bodies of attempts have
//! (`body_budget`), when the next one is and how its endpoint stands (`health`), and what is sent once more (`replay`).
//! A subscription rests on an API key (`rights`) and ends with it (`ending`).
//! Their owners read what became of notifications (`deliveries`), and try an endpoint (`test_event`). Attempts are counted (`figures`).
//! Who wants no webhook reads the log of events itself, by pages (`events`) or as a stream (`stream`). People read it newest first (`recent`), and
//! watch it (`live_list`).

pub mod attempt;
mod body_budget;
pub mod compiled_filters;
pub mod deliveries;
pub mod delivery;
pub mod ending;
mod event_head;
pub mod events;
pub mod fanout;
pub mod figures;
pub mod health;
mod input;
mod key_watch;
pub mod live_list;
mod masking;
pub mod notification_types;
pub mod payload;
pub mod reactivation;
pub mod recent;
pub mod replay;
mod rights;
mod secrets;
pub mod sign;
pub mod stream;
pub mod subscription;
pub mod subscription_update;
pub mod test_event;
pub mod view;
