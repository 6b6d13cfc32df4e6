//! Jobs: the description of a kind of job (`kind`), one run of a job (`turn`), the limits of parallel runs (`permits`) and their order
//! among applications (`fair_share`), and the runner that claims due jobs and runs them (`runner`). Each host has a lease (`lease`): when a
//! host is gone, another one takes over its jobs within nine seconds.

pub mod fair_share;
pub mod kind;
pub mod lease;
pub mod listen;
pub mod permits;
pub mod runner;
pub mod turn;
