//! Webhooks: subscriptions (`subscription`, `restart`), event types and the subscriptions that match them (`kinds`, `matchers`), bodies
//! (`payload`), signatures (`sign`), attempts and their outcomes (`attempt`), the memory for bodies (`body_budget`), retries and the health
//! of endpoints (`health`), and replays (`replay`). A subscription depends on an API key (`rights`) and ends with it (`ending`). Clients
//! list deliveries (`deliveries`) and send a test event (`test_event`). Attempts are counted (`figures`). Clients without a webhook read
//! the event log in pages (`events`) or as a stream (`stream`). The panel shows it newest first (`recent`) and live (`live_list`).

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
