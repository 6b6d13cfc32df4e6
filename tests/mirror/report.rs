//! Differences, by class.

use std::collections::BTreeMap;
use std::fmt;

use crate::meant;

/// The maximum length of a shown value.
const SHOWN: usize = 300;
/// The maximum examples of a class.
const EXAMPLES: usize = 5;

/// A difference: its class (`event.attendees.role`), its object, and a description.
#[derive(Debug)]
pub struct Difference {
    pub class: String,
    pub object: String,
    pub what: String,
}

#[derive(Debug, Default)]
pub struct Report {
    /// Objects that both sides read.
    pub compared: usize,
    pub differences: Vec<Difference>,
}

impl Report {
    pub fn add(&mut self, class: impl Into<String>, object: &str, what: impl fmt::Display) {
        let what = what.to_string().chars().take(SHOWN).collect();
        self.differences.push(Difference { class: class.into(), object: object.to_owned(), what });
    }

    /// Returns the number of unintended differences.
    pub fn unmeant(&self) -> usize {
        self.differences.iter().filter(|difference| meant::reason(difference).is_none()).count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut classes: BTreeMap<(bool, &str), Vec<&Difference>> = BTreeMap::new();
        for difference in &self.differences {
            let is_meant = meant::reason(difference).is_some();
            classes.entry((is_meant, &difference.class)).or_default().push(difference);
        }
        writeln!(f, "{} objects compared, {} differences", self.compared, self.differences.len())?;
        for ((_, class), all) in classes {
            let reason = all.first().and_then(|first| meant::reason(first));
            writeln!(
                f,
                "{:6} {class}{}",
                all.len(),
                reason.map(|why| format!(" (meant: {why})")).unwrap_or_default()
            )?;
            for one in all.iter().take(EXAMPLES) {
                writeln!(f, "         {}: {}", one.object, one.what)?;
            }
        }
        Ok(())
    }
}
