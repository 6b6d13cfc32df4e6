//! `switchboard connector new`.

use std::path::{Path, PathBuf};

use anyhow::Result;
use authoring::{ConnectorName, Language, SDK_VERSION, TemplateSurface, create};
use clap::Args;
use serde_json::json;

use crate::cli::output::answer;

/// Create a connector project: a working connector, its tests and the SDK
///
/// Works without a network. The SDK of this version is copied into the project's folder `vendor`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  switchboard connector new notes --lang rust
  switchboard connector new notes --lang typescript
  switchboard connector new my-calendar --lang rust --surface calendar")]
pub struct New {
    /// The connector's name: lower-case letters, digits and "-"
    #[arg(value_name = "NAME")]
    name: String,
    /// The language: rust, typescript or javascript
    #[arg(long, value_name = "LANGUAGE")]
    lang: String,
    /// The kind of data: tasks, calendar or contacts
    #[arg(long, value_name = "SURFACE", default_value = "tasks")]
    surface: String,
    /// Folder in which the project's folder is created
    #[arg(long = "in", value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl New {
    pub fn run(self) -> Result<()> {
        let name: ConnectorName = self.name.parse()?;
        let language: Language = self.lang.parse()?;
        let surface: TemplateSurface = self.surface.parse()?;
        let created = create(&name, language, surface, &self.folder)?;
        let folder = created.folder.strip_prefix(Path::new(".")).unwrap_or(&created.folder).display();
        if self.json {
            let shown = json!({ "name": name.as_str(), "language": language.as_str(), "surface": surface.as_str(), "folder": created.folder, "files": created.files, "sdk": SDK_VERSION });
            return answer(&serde_json::to_string_pretty(&shown)?);
        }
        answer(&format!(
            "created {folder}/ ({language}): {} files, SDK {SDK_VERSION} in vendor/\n\
             next:\n  \
             cd {folder}\n  \
             switchboard connector test        # builds it and checks it against what hosts rely on\n  \
             switchboard connector install build/{name}\n\
             {}",
            created.files.len(),
            first_build(language)
        ))
    }
}

/// The duration of a first build without any cache, in words.
fn first_build(language: Language) -> &'static str {
    match language {
        Language::Rust => {
            "the first build takes 1 to 3 minutes: it compiles the SDK's dependencies; later ones take seconds"
        }
        Language::TypeScript | Language::JavaScript => {
            "the first build takes up to a minute: npm installs the tools; later ones take seconds"
        }
    }
}
