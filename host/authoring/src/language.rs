//! The languages of connector projects.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use crate::fault::Fault;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    Rust,
    TypeScript,
    JavaScript,
}

impl Language {
    /// All languages, as the command line and `project.toml` spell them.
    pub const ALL: [(&str, Language); 3] = [
        ("rust", Language::Rust),
        ("typescript", Language::TypeScript),
        ("javascript", Language::JavaScript),
    ];

    /// The folder in the archive whose SDK a project in this language gets as `vendor`.
    pub(crate) fn vendor(self) -> &'static str {
        match self {
            Language::Rust => "vendor",
            Language::TypeScript | Language::JavaScript => "vendor-js",
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::TypeScript => "typescript",
            Language::JavaScript => "javascript",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Language {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let found = Language::ALL.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, language)| language).ok_or_else(|| {
            let names: Vec<&str> = Language::ALL.iter().map(|(name, _)| *name).collect();
            Fault::new(
                format!("there is no template in \"{text}\""),
                format!("write --lang {}", names.join(" or --lang ")),
            )
        })
    }
}
