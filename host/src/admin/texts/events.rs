//! Words of events.

use crate::admin::texts::macros::page_texts;

page_texts! {
    /// The list of events.
    EventListTexts, ENGLISH, {
        title: "Events",
        caption: "Newest first. Events are kept for at least 30 days.",
        kind: "Type",
        at: "Time",
        account: "Account",
        resource: "Resource",
        origin: "Origin",
        none: "No events yet",
        none_text: "Each change that Switchboard finds or makes is an event: new mail, a moved meeting, a booking. Webhooks receive them.",
        connect: "Connect account",
        none_found: "No matching events",
        none_found_text: "There are no events with this type and account, or you don't have access to the account.",
        none_here: "None of the 5,000 events here match. Older ones may.",
        show_all: "Show all events",
        filter: "Filter",
        apply: "Apply",
        account_id: "Account ID",
        initial: "Initial sync",
        initial_hidden: "Hide",
        initial_shown: "Show",
        all_types: "All",
        mail: "Mail",
        calendars: "Calendars and their events",
        contacts: "Contacts",
        tasks: "Tasks",
        bookings: "Bookings",
        accounts: "Accounts and their sync",
        live: "New events appear by themselves.",
        paused: "Paused.",
        ended: "New events don't appear any more. Reload the page.",
        news: "New events: {n}",
        pause: "Pause",
        resume: "Resume",
        reload: "Reload",
        by_provider: "Provider",
        by_api: "API",
        by_system: "Switchboard",
        by_backfill: "Initial sync",
    }
}

page_texts! {
    /// An event.
    EventPageTexts, ENGLISH_PAGE, {
        id: "ID",
        change: "Change",
        fields: "Changed fields",
        parent: "Collection",
        received: "Webhooks",
        received_caption: "Deliveries of this event, those that were sent again included.",
        webhook: "Webhook",
        delivery: "Delivery",
        first: "First",
        replay: "Sent again",
        no_webhook: "No webhook has been sent this event.",
        only_first: "Only the first 100 webhooks are shown.",
        body: "Body",
        body_hidden: "Only developers and owners can see the body.",
    }
}
