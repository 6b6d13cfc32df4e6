//! The scopes that calls need, after the tables "Permissions" of the Microsoft Graph reference.

/// The surface of a path behind `/me`, as `GraphAccount::absent` names it; none for what every account has.
pub fn surface_of(path: &[&str]) -> Option<&'static str> {
    match path.first().copied().unwrap_or_default() {
        "messages" | "mailFolders" | "sendMail" | "outlook" => Some("mail"),
        "calendar" | "calendars" | "calendarGroups" | "calendarView" | "events" => Some("calendar"),
        "contacts" | "contactFolders" => Some("contacts"),
        "todo" => Some("todo"),
        // The settings are the mailbox's.
        "mailboxSettings" => Some("mail"),
        _ => None,
    }
}

/// Scopes of which a token needs one for a call; `path` is behind `/me`.
pub fn needed(verb: &str, path: &[&str]) -> &'static [&'static str] {
    let reads = verb == "GET";
    match path {
        ["sendMail"] | ["messages" | "mailFolders", .., "send" | "reply" | "replyAll" | "forward"] => {
            &["Mail.Send"]
        }
        ["messages" | "mailFolders", ..] if reads => &["Mail.Read", "Mail.ReadWrite"],
        ["messages" | "mailFolders", ..] => &["Mail.ReadWrite"],
        ["outlook" | "mailboxSettings", ..] if reads => {
            &["MailboxSettings.Read", "MailboxSettings.ReadWrite"]
        }
        ["outlook" | "mailboxSettings", ..] => &["MailboxSettings.ReadWrite"],
        ["calendar" | "calendars", .., "getSchedule"] => {
            &["Calendars.ReadBasic", "Calendars.Read", "Calendars.ReadWrite"]
        }
        ["calendar" | "calendars" | "calendarGroups" | "calendarView" | "events", ..] if reads => {
            &["Calendars.Read", "Calendars.ReadWrite", "Calendars.ReadBasic"]
        }
        ["calendar" | "calendars" | "calendarGroups" | "calendarView" | "events", ..] => {
            &["Calendars.ReadWrite"]
        }
        ["contacts" | "contactFolders", ..] if reads => &["Contacts.Read", "Contacts.ReadWrite"],
        ["contacts" | "contactFolders", ..] => &["Contacts.ReadWrite"],
        ["todo", ..] if reads => &["Tasks.Read", "Tasks.ReadWrite"],
        ["todo", ..] => &["Tasks.ReadWrite"],
        _ if reads => &["User.Read", "User.ReadWrite"],
        _ => &["User.ReadWrite"],
    }
}
