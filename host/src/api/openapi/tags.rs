//! The headings of the document, each with a sentence about what stands under it.

/// A heading, and what stands under it.
struct Heading {
    name: &'static str,
    description: &'static str,
}

const fn heading(name: &'static str, description: &'static str) -> Heading {
    Heading { name, description }
}

const HEADINGS: [Heading; 25] = [
    heading("API keys", "Keys of your application: create, list, rotate and revoke them."),
    heading(
        "Administration",
        "The installation: organizations, applications, operators, jobs, hosts and the audit log.",
    ),
    heading("Authorization", "Accounts that are connected by OAuth, and access tokens for your own clients."),
    heading("Calendar sync", "Sync of a calendar: start it, read changes, read everything again."),
    heading("Calendars", "The calendars of connected accounts."),
    heading("Checklist items", "The steps inside a task."),
    heading(
        "Connections",
        "Accounts at providers that users have connected, with their state and what they can do.",
    ),
    heading("Contact books", "The address books of connected accounts."),
    heading("Contact groups", "Groups of contacts, with their members."),
    heading("Contact sync", "Sync of an account's contacts: start it, read changes, read everything again."),
    heading(
        "Contacts",
        "People in the address books of connected accounts, their photos, and suggestions for merging duplicates.",
    ),
    heading("Email", "Messages, threads, drafts, folders, labels and attachments; sending and tracking."),
    heading("Email sync", "Sync of a mailbox: start it, read changes, read everything again."),
    heading(
        "Event log",
        "Everything that happened in your application: what webhooks send, as a list and as a stream.",
    ),
    heading("Events", "The events of calendars, with their invitations and conferences."),
    heading("Free and busy", "Busy times of people, and times at which all of them are free."),
    heading(
        "Providers",
        "The providers whose accounts can be connected, and the addresses to which they send their notifications.",
    ),
    heading(
        "Scheduling",
        "Event types that others can book, their links and schedules, free slots and bookings.",
    ),
    heading("Task links", "References from a task to web pages and other resources."),
    heading("Task lists", "The task lists of connected accounts."),
    heading("Task sync", "Sync of a task list: start it, read changes, read everything again."),
    heading("Tasks", "Tasks of a list, with subtasks and their order."),
    heading(
        "Test mode",
        "Operations for test keys: make calls of the sandbox fail, deliver messages and create events there.",
    ),
    heading("Usage", "Figures about the requests and accounts of your application."),
    heading("Webhooks", "Subscriptions that receive events by HTTP, their deliveries, tests and replays."),
];

/// The sentence about a heading; empty for one that the table lacks.
pub fn description(name: &str) -> &'static str {
    HEADINGS.iter().find(|heading| heading.name == name).map_or("", |heading| heading.description)
}

#[cfg(test)]
mod tests {
    use super::{HEADINGS, description};
    use crate::api;

    #[test]
    fn every_heading_is_described_and_used() {
        let operations = api::operations();
        let bare: Vec<&str> =
            operations.iter().map(|o| o.tag).filter(|tag| description(tag).is_empty()).collect();
        assert!(bare.is_empty(), "tags.rs lacks {bare:?}");
        let is_used = |name: &str| operations.iter().any(|o| o.tag == name);
        let unused: Vec<&str> = HEADINGS.iter().map(|h| h.name).filter(|name| !is_used(name)).collect();
        assert!(unused.is_empty(), "no operation stands under {unused:?}");
    }
}
