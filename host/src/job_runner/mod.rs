//! Jobs: what a kind of job is (`kind`), one turn of a job (`turn`), and how turns are shared between applications and classes.

pub mod fair_share;
pub mod kind;
pub mod permits;
pub mod turn;
