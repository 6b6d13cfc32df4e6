//! A case: one promise of every connector.

use std::pin::Pin;

use runtime::Surface;

use crate::bench::{Bench, Outcome};

/// One promise.
#[derive(Clone, Copy)]
pub struct Case {
    pub id: &'static str,
    /// The group of the case in reports.
    pub group: &'static str,
    /// The promise, in a sentence.
    pub title: &'static str,
    pub(crate) run: for<'a> fn(&'a mut Bench) -> RunningCase<'a>,
}

impl Case {
    /// Returns the surface that the case needs; none: it is for every connector.
    pub fn surface(&self) -> Option<Surface> {
        match self.group {
            "email" => Some(Surface::Email),
            "calendar" => Some(Surface::Calendar),
            "contacts" => Some(Surface::Contacts),
            _ => None,
        }
    }
}

/// A case that runs.
pub(crate) type RunningCase<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// Builds a case of its id, its group, its title and the function that runs it; a case for the items of several surfaces also gets the
/// kind of its items.
macro_rules! case {
    ($id:literal, $group:literal, $title:literal, $run:path) => {
        Case { id: $id, group: $group, title: $title, run: |bench| Box::pin($run(bench)) }
    };
    ($id:literal, $group:literal, $title:literal, $run:path, $kind:path) => {
        Case { id: $id, group: $group, title: $title, run: |bench| Box::pin($run(bench, &$kind)) }
    };
}

pub(crate) use case;
