//! The event types that `trigger` can make happen.

use model::sync::Surface;

use crate::cli::output::table;
use crate::cli::refusal::{WRONG_USAGE, exit_failure};

/// Most letters in which a name may differ from the one that is meant.
const MAX_EDITS: usize = 3;

/// An event type that a test key can make happen in the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriggerType {
    pub name: &'static str,
    /// The effect in the account.
    pub effect: &'static str,
    /// The part of the account that changes.
    pub surface: Surface,
}

const TYPES: [TriggerType; 4] = [
    TriggerType {
        name: "email.message.created",
        effect: "a message arrives in the inbox",
        surface: Surface::Email,
    },
    TriggerType {
        name: "calendar.event.created",
        effect: "an event is added to the main calendar",
        surface: Surface::Calendar,
    },
    TriggerType {
        name: "contact.created",
        effect: "a contact is added to the main contact book",
        surface: Surface::Contacts,
    },
    TriggerType {
        name: "task.created",
        effect: "a task is added to the main task list",
        surface: Surface::Tasks,
    },
];

impl TriggerType {
    /// Returns the type of this name.
    ///
    /// # Errors
    /// Exit code 2, with similar names and the list of all.
    pub fn parse(name: &str) -> anyhow::Result<TriggerType> {
        if let Some(found) = TYPES.into_iter().find(|one| one.name == name) {
            return Ok(found);
        }
        let all = TYPES.map(|one| one.name).join(", ");
        let help = match similar(name).as_slice() {
            [] => format!("the types are {all}"),
            names => format!("did you mean {}? The types are {all}", names.join(" or ")),
        };
        Err(exit_failure(WRONG_USAGE, format!("the event type {name:?} cannot be triggered"), help))
    }

    /// The name of the surface, as connections have it.
    pub fn surface_name(self) -> &'static str {
        match self.surface {
            Surface::Email => "email",
            Surface::Calendar => "calendar",
            Surface::Contacts => "contacts",
            Surface::Tasks => "tasks",
        }
    }
}

/// All types as a table: each name with its effect.
pub fn list() -> String {
    let rows = TYPES.map(|one| vec![one.name.to_owned(), one.effect.to_owned()]);
    table(&rows)
}

/// The names that are like this one, the most similar first: a few letters differ, or one has a word of the other.
fn similar(name: &str) -> Vec<&'static str> {
    let name = name.to_ascii_lowercase();
    let distance = |one: &TriggerType| {
        let edits = edits(&name, one.name);
        let shares_word =
            name.split('.').any(|word| one.name.split('.').any(|own| own == word && own != "created"));
        (edits <= MAX_EDITS || shares_word).then_some(edits)
    };
    let mut found: Vec<(usize, &str)> =
        TYPES.iter().filter_map(|one| Some((distance(one)?, one.name))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, name)| name).collect()
}

/// The letters to insert, remove or replace that turn one text into the other.
fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut costs: Vec<usize> = (0..=other.len()).collect();
    // A name far longer than any type differs anyway.
    for (row, letter) in one.chars().take(64).enumerate() {
        let mut diagonal = row;
        let mut left = row + 1;
        let mut next = vec![left];
        for (own, above) in other.iter().zip(costs.iter().skip(1)) {
            let replaced = diagonal + usize::from(*own != letter);
            left = replaced.min(above + 1).min(left + 1);
            diagonal = *above;
            next.push(left);
        }
        costs = next;
    }
    costs.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use model::test_mode::TestEventType;

    use super::*;
    use crate::cli::refusal::{exit_code, render};

    #[test]
    fn every_type_of_the_api_can_be_triggered() {
        let parsed = TYPES.map(|one| serde_json::from_value::<TestEventType>(one.name.into()).unwrap());
        // A type that is new in the API needs a row.
        for kind in parsed {
            match kind {
                TestEventType::MessageCreated
                | TestEventType::CalendarEventCreated
                | TestEventType::ContactCreated
                | TestEventType::TaskCreated => {}
            }
        }
        assert_eq!(TriggerType::parse("task.created").unwrap().surface_name(), "tasks");
    }

    #[test]
    fn an_unknown_type_gets_similar_names_and_the_list() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(similar("email.mesage.created"), ["email.message.created"]);
        assert_eq!(similar("Task.create"), ["task.created"]);
        assert_eq!(similar("email.opened"), ["email.message.created"]);
        assert!(similar("booking.created").is_empty());
        let refused = TriggerType::parse("contacts.created").unwrap_err();
        let text = render(&refused);
        assert_eq!(exit_code(&refused), WRONG_USAGE);
        assert!(
            text.contains("did you mean contact.created? The types are email.message.created, "),
            "{text}"
        );
    }
}
