//! Words of the search.

use crate::admin::texts::macros::page_texts;

page_texts! {
    /// The results of a search.
    SearchTexts, ENGLISH, {
        title: "Search",
        none: "Nothing with this ID",
        none_text: "There is nothing with the ID {q}, or you don't have access to it.",
        empty: "Find an ID or email",
        empty_text: "Paste the ID of an organization, application, key, account, webhook, event or request. Administrators can also search for the email address of an operator.",
    }
}
