//! Words of the audit logs.

use crate::admin::texts::macros::page_texts;

page_texts! {
    /// The columns of a log.
    AuditTexts, ENGLISH, {
        title: "Audit log",
        caption: "What people changed here. Kept for 400 days.",
        caption_system: "What people changed in this installation. Kept for 400 days.",
        action: "Action",
        who: "Who",
        on: "On",
        at: "When",
        from: "From",
        none: "Nothing yet",
        none_text: "Changes to keys, applications, members and settings are listed here, with who made them and when.",
        by_command: "command line",
        by_key: "API key",
    }
}
