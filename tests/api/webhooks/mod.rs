//! Webhooks by example.

mod absence;
mod changes;
mod convergence;
mod deliveries;
mod delivery;
mod desk;
mod drain;
mod headers;
mod hostile;
mod kills;
mod libraries;
mod listen;
mod operations;
mod ordered;
mod replay;
mod replay_range;
mod restarts;
mod rights;
mod rotation;
mod schedule;
mod test_event;
mod wrong_input;
