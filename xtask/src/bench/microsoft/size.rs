//! The size of the connector's component, as users have it.

use anyhow::Result;

use crate::bench::microsoft::MICROSOFT;
use crate::bench::providers::size;
use crate::bench::rig::Rig;
use crate::bench::table::Row;

/// One row.
pub fn run(_rig: &Rig) -> Result<Vec<Row>> {
    Ok(vec![size::run(&MICROSOFT)?])
}
