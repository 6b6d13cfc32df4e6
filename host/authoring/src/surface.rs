//! The surface that a new project begins with.

use std::fmt;
use std::str::FromStr;

use crate::fault::Fault;
use crate::language::Language;

/// A surface that templates exist for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateSurface {
    Tasks,
    Calendar,
    Contacts,
}

impl TemplateSurface {
    /// All of them, as the command line spells them.
    pub const ALL: [(&str, TemplateSurface); 3] = [
        ("tasks", TemplateSurface::Tasks),
        ("calendar", TemplateSurface::Calendar),
        ("contacts", TemplateSurface::Contacts),
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            TemplateSurface::Tasks => "tasks",
            TemplateSurface::Calendar => "calendar",
            TemplateSurface::Contacts => "contacts",
        }
    }

    /// Returns the folders of the archive whose files make a project: a file of a later one replaces that of an earlier one. Fails if there
    /// is no such template in the language.
    pub(crate) fn folders(self, language: Language) -> Result<Vec<String>, Fault> {
        let base = format!("templates/{language}");
        match (self, language) {
            (TemplateSurface::Tasks, _) => Ok(vec![base]),
            (_, Language::Rust | Language::TypeScript) => {
                Ok(vec![base, format!("templates/shared/{language}"), format!("templates/{self}/{language}")])
            }
            (_, Language::JavaScript) => Err(Fault::new(
                format!("there is no template for {self} in {language}"),
                "write --lang typescript, which has one; for JavaScript, remove the types from its files",
            )),
        }
    }

    /// Returns a text of the template for tasks with this surface in it.
    pub(crate) fn put_into(self, text: &str) -> String {
        let (things, capital) = match self {
            TemplateSurface::Tasks => return text.to_owned(),
            TemplateSurface::Calendar => ("calendars and events", "Calendars and events"),
            TemplateSurface::Contacts => ("address books and contacts", "Address books and contacts"),
        };
        text.replace("\"tasks@1.0.0\"", &format!("\"{self}@1.0.0\""))
            .replace("task lists and tasks", things)
            .replace("Task lists and tasks", capital)
    }
}

impl fmt::Display for TemplateSurface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TemplateSurface {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let found = TemplateSurface::ALL.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, surface)| surface).ok_or_else(|| {
            let names: Vec<&str> = TemplateSurface::ALL.iter().map(|(name, _)| *name).collect();
            let help = match text {
                "email" => "begin with --surface tasks, and implement Email in place of Tasks".to_owned(),
                _ => format!("write --surface {}", names.join(" or --surface ")),
            };
            Fault::new(format!("there is no template for \"{text}\""), help)
        })
    }
}
