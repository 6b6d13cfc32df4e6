//! The headings of the document, each with a sentence about what stands under it.

/// A heading, and what stands under it.
struct Heading {
    name: &'static str,
    description: &'static str,
}

const fn heading(name: &'static str, description: &'static str) -> Heading {
    Heading { name, description }
}

const HEADINGS: [Heading; 23] = [
    heading("API keys", "Keys of your application: create, list, rotate and revoke them."),
    heading(
        "Administration",
        "The installation: organizations, applications, operators, jobs, hosts and the audit log.",
    ),
    heading("Authorization", "Accounts that are connected by OAuth, and access tokens for your own clients."),
    heading("Calendar sync", "Following a calendar: start, read what changed, start again."),
    heading("Calendars", "The calendars of connected accounts."),
    heading("Checklist items", "The steps inside a task."),
    heading(
        "Connections",
        "Accounts at providers that users have connected, with their state and what they can do.",
    ),
    heading("Contact books", "The address books of connected accounts."),
    heading("Contact groups", "Groups of contacts, with their members."),
    heading("Contact sync", "Following the contacts of an account: start, read what changed, start again."),
    heading(
        "Contacts",
        "People in the address books of connected accounts, their photos, and those that may be the same person.",
    ),
    heading("Email", "Messages, threads, drafts, folders, labels and attachments; sending and tracking."),
    heading("Email sync", "Following a mailbox: start, read what changed, start again."),
    heading(
        "Events",
        "Events of calendars with their invitations, and the log of everything that happened, as a list and as a stream.",
    ),
    heading("Free and busy", "Busy times of people, and times at which all of them are free."),
    heading("Providers", "Addresses to which providers send their notifications; not for your own use."),
    heading(
        "Scheduling",
        "Event types that others can book, their links and schedules, free slots and bookings.",
    ),
    heading("Task links", "References from a task to web pages and other resources."),
    heading("Task lists", "The task lists of connected accounts."),
    heading("Task sync", "Following a task list: start, read what changed, start again."),
    heading("Tasks", "Tasks of a list, with subtasks and their order."),
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
