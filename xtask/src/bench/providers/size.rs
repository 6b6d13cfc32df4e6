//! The size of a connector's component, as users have it.

use std::fs;

use anyhow::{Context, Result};

use crate::bench::providers::ProviderProfile;
use crate::bench::table::{FigureTarget, Row};
use crate::connectors;

/// Bytes of a megabyte.
const MEGABYTE: f64 = 1_000_000.0;
const MAX_MEGABYTES: f64 = 2.5;

/// One row.
pub fn run(profile: &ProviderProfile) -> Result<Row> {
    let component = connectors::bundle().join(format!("{0}/{0}.wasm", profile.connector));
    let size =
        fs::metadata(&component).with_context(|| format!("cannot read {}", component.display()))?.len();
    Ok(Row {
        what: format!("size of the component of the connector to {}", profile.title),
        ours: format!("{size} B"),
        baseline: "–".to_owned(),
        figure: size as f64 / MEGABYTE,
        unit: " MB".to_owned(),
        target: FigureTarget::AtMost(MAX_MEGABYTES),
    })
}
