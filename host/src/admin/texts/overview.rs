//! Words of an application's first hour.

use crate::admin::texts::macros::page_texts;

page_texts! {
    /// The steps from a key to the first event, and figures.
    OverviewTexts, ENGLISH, {
        title: "Overview",
        start: "Get started",
        done: "{done} of {all} done",
        key: "Create an API key",
        key_text: "A key lets your server call the API. You choose what it may do.",
        key_button: "Create key",
        account: "Connect an account",
        account_text: "An account is a mailbox, calendar or address book of one of your users.",
        account_button: "Connect account",
        account_by_api: "Or paste this into a terminal, with the key that you saved:",
        account_sandbox: "This server has a sandbox: alice is one of its test accounts.",
        account_provider: "Users connect their accounts by OAuth: this returns the address to send them to. Register the provider first with `switchboard apps provider`.",
        call: "Make your first request",
        call_text: "Paste this into a terminal, with the key that you saved. It lists the application's accounts.",
        webhook: "Add a webhook",
        webhook_text: "A webhook tells your server about new mail, changed events and bookings within seconds.",
        webhook_button: "Create webhook",
        webhook_by_api: "Or paste this into a terminal, with an address of yours:",
        event: "Receive your first event",
        event_text: "Change something in a connected account, or send a message to it. The event arrives at your webhook within seconds.",
        ticks: "This step ticks itself.",
        key_note: "1 key | {n} keys",
        account_note: "1 account | {n} accounts",
        webhook_note: "1 webhook | {n} webhooks",
        today: "Today",
        requests: "Requests",
        accounts: "Accounts",
        accounts_bad: "{n} needs attention | {n} need attention",
        accounts_good: "All active",
        accounts_none: "None yet",
        webhooks: "Webhooks",
        webhooks_bad: "{n} not active",
        webhooks_good: "All active",
        webhooks_none: "None yet",
        keys: "Keys",
        keys_text: "Active",
        since_midnight: "Since midnight, UTC",
        for_viewers: "Ask a developer or owner to do this step.",
    }
}
