//! The connectors that come with the program.

use std::path::PathBuf;

use crate::app::config::Config;

/// Where the build puts connectors: below the current directory, or, for a binary that is started from elsewhere, beside it.
pub fn find() -> Option<PathBuf> {
    let here = Config::default().connectors_dir?;
    let beside = || Some(std::env::current_exe().ok()?.parent()?.parent()?.join("connectors/bundle"));
    match here.is_dir() {
        true => Some(here),
        false => beside().filter(|dir| dir.is_dir()).or(Some(here)),
    }
}
