//! Jobs: what a kind of job is (`kind`), one turn of a job (`turn`), how turns are shared between applications and classes, and the runner
//! that claims what is due and gives each job its turn (`runner`). Each host has a lease (`lease`): when a host is gone, another one takes over
//! what it ran within nine seconds.

pub mod fair_share;
pub mod kind;
pub mod lease;
pub mod listen;
pub mod permits;
pub mod runner;
pub mod turn;
