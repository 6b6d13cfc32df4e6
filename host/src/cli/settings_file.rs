//! The file with settings, and files with a secret.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::de::DeserializeOwned;

/// Reads settings from a TOML file. The error names the file, the line and the fault.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the settings in {}", path.display()))?;
    parse(&text).with_context(|| format!("cannot use the settings in {}", path.display()))
}

/// Reads settings from TOML.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T> {
    match toml::from_str(text) {
        Ok(settings) => Ok(settings),
        Err(e) => {
            // The crate's own text spans several lines with a drawing; the first lines of its message are enough.
            let line = e
                .span()
                .map_or(0, |span| text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1);
            bail!("line {line}: {}", e.message().trim().replace('\n', ": "))
        }
    }
}

/// The content of a file with a secret, without the line end that editors add.
pub fn read_secret(path: &Path) -> Result<String> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let secret = text.trim();
    ensure!(!secret.is_empty(), "{} is empty", path.display());
    Ok(secret.to_owned())
}
