//! The style and the script of the documentation. Their addresses change with their text, so that browsers keep them.

use std::sync::LazyLock;

use crate::web::assets::{content_hash, without_comments};

/// The style of all pages.
pub const STYLE: &str = include_str!("docs.css");
/// The script of all pages, a module.
pub static SCRIPT: LazyLock<String> = LazyLock::new(|| without_comments(include_str!("docs.js")));
static HASH: LazyLock<String> = LazyLock::new(|| content_hash(&[STYLE, &SCRIPT]));
static STYLE_PATH: LazyLock<String> = LazyLock::new(|| format!("/docs/assets/{}/docs.css", *HASH));
static SCRIPT_PATH: LazyLock<String> = LazyLock::new(|| format!("/docs/assets/{}/docs.js", *HASH));

/// The address of the style.
pub fn style_path() -> &'static str {
    &STYLE_PATH
}

/// The address of the script.
pub fn script_path() -> &'static str {
    &SCRIPT_PATH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_loads_nothing() {
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    }
}
