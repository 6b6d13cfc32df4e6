//! The manifest of a connector, against which values on the command line are checked.

use anyhow::Result;
use runtime::{Manifest, Store, manifest_text};
use service::app;
use service::app::config::Config;

use crate::cli::bundle;
use crate::cli::refusal::failure;

/// The manifest of the connector that a server with this configuration would load: the installed one, else the bundled one.
pub fn find(config: &Config, name: &str) -> Result<Manifest> {
    let installed = app::connector_dir(config);
    if installed.exists()
        && let Some(manifest) = Store::open(&installed)?.manifest(name)?
    {
        return Ok(manifest);
    }
    let folder = config.connectors_dir.as_deref();
    // Another connector of the folder that cannot be read does not matter here.
    let bundled = folder.into_iter().flat_map(bundle::manifests);
    let mut bundled = bundled.filter_map(|path| Manifest::parse(&manifest_text(&path).ok()?).ok());
    match bundled.find(|manifest| manifest.name == name) {
        Some(manifest) => Ok(manifest),
        None => Err(failure(
            format!("the connector {name} is neither installed nor in the folder of bundled connectors"),
            "name the folder that it is in with --connectors",
        )),
    }
}
