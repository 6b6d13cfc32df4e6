//! The guides: Markdown files of `docs/`, which are pages here and files in the repository.

/// A guide.
pub struct Guide {
    /// The last part of its address.
    pub name: &'static str,
    pub title: &'static str,
    pub markdown: &'static str,
}

/// The guides in the order of the list of pages.
pub const GUIDES: &[Guide] = &[
    Guide {
        name: "authentication",
        title: "Authentication",
        markdown: include_str!("../../../../docs/guides/authentication.md"),
    },
    Guide {
        name: "errors",
        title: "Handling errors",
        markdown: include_str!("../../../../docs/guides/errors.md"),
    },
    Guide { name: "pages", title: "Pagination", markdown: include_str!("../../../../docs/guides/pages.md") },
    Guide {
        name: "idempotency",
        title: "Idempotency",
        markdown: include_str!("../../../../docs/guides/idempotency.md"),
    },
    Guide {
        name: "versions",
        title: "Versions",
        markdown: include_str!("../../../../docs/guides/versions.md"),
    },
    Guide { name: "sync", title: "Sync", markdown: include_str!("../../../../docs/guides/sync.md") },
    Guide { name: "webhooks", title: "Webhooks", markdown: include_str!("../../../../docs/webhooks.md") },
    Guide {
        name: "sending-mail",
        title: "Sending mail",
        markdown: include_str!("../../../../docs/guides/sending-mail.md"),
    },
    Guide {
        name: "recurrence",
        title: "Recurrence",
        markdown: include_str!("../../../../docs/guides/recurrence.md"),
    },
    Guide {
        name: "time-zones",
        title: "Time zones",
        markdown: include_str!("../../../../docs/guides/time-zones.md"),
    },
    Guide {
        name: "scheduling",
        title: "Scheduling",
        markdown: include_str!("../../../../docs/guides/scheduling.md"),
    },
    Guide {
        name: "browsers",
        title: "Browsers",
        markdown: include_str!("../../../../docs/guides/browsers.md"),
    },
    Guide {
        name: "assistants",
        title: "Assistants",
        markdown: include_str!("../../../../docs/guides/assistants.md"),
    },
    Guide {
        name: "providers",
        title: "Providers",
        markdown: include_str!("../../../../docs/guides/providers.md"),
    },
    Guide { name: "sandbox", title: "Sandbox", markdown: include_str!("../../../../docs/sandbox.md") },
];

/// The guide of this name.
pub fn find(name: &str) -> Option<&'static Guide> {
    GUIDES.iter().find(|guide| guide.name == name)
}
