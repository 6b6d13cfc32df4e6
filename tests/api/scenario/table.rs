//! The table of README.md with what accounts can do at each provider: made of their capabilities, and compared with them.
//!
//! `SWITCHBOARD_WRITE_README=1 cargo xtask test -- -p switchboard-tests --test api scenario::table::` writes it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::scenario::accounts::{
    ConnectedAccount, DavAccount, GoogleAccount, MicrosoftAccount, SandboxAccount,
};
use crate::scenario::support::capabilities;

/// The lines around the table.
const BEGIN: &str = "<!-- table of operations: written by tests/api/scenario/table.rs -->\n";
const END: &str = "<!-- end of the table of operations -->\n";

/// The groups of operations, each with the members of capabilities that it consists of.
const GROUPS: [(&str, &[&str]); 21] = [
    ("mail: read, search", &["/operations/read", "/operations/search"]),
    ("mail: flags, keywords", &["/operations/modifyFlags", "/features/keywords"]),
    ("mail: folders", &["/features/folders", "/operations/move"]),
    ("mail: labels", &["/features/labels"]),
    ("mail: trash, delete for good", &["/operations/delete", "/operations/permanentDelete"]),
    ("mail: drafts", &["/operations/createDraft", "/operations/sendDraft"]),
    (
        "mail: send, schedule, cancel",
        &["/operations/send", "/operations/scheduleSend", "/operations/cancelScheduled"],
    ),
    ("mail: add messages", &["/operations/appendMessage"]),
    (
        "calendars: create, change, delete",
        &[
            "/calendar/operations/createCalendar",
            "/calendar/operations/updateCalendar",
            "/calendar/operations/deleteCalendar",
        ],
    ),
    (
        "calendars: events, series",
        &[
            "/calendar/operations/createEvent",
            "/calendar/operations/updateEvent",
            "/calendar/operations/deleteEvent",
            "/calendar/operations/recurrence",
            "/calendar/operations/thisAndFollowing",
        ],
    ),
    (
        "calendars: guests, answers, invitations by the provider",
        &["/calendar/features/attendees", "/calendar/operations/respond", "/calendar/features/scheduling"],
    ),
    ("calendars: conferences", &["/calendar/operations/conference"]),
    (
        "calendars: busy times, also of others",
        &["/calendar/operations/freeBusy", "/calendar/operations/freeBusyByEmail"],
    ),
    (
        "contacts: create, change, delete",
        &[
            "/contacts/operations/createContact",
            "/contacts/operations/updateContact",
            "/contacts/operations/deleteContact",
        ],
    ),
    (
        "contacts: groups",
        &[
            "/contacts/operations/createGroup",
            "/contacts/operations/updateGroup",
            "/contacts/operations/deleteGroup",
        ],
    ),
    (
        "contacts: create, change, delete books",
        &[
            "/contacts/operations/createBook",
            "/contacts/operations/updateBook",
            "/contacts/operations/deleteBook",
        ],
    ),
    ("contacts: photos, stars", &["/contacts/features/photos", "/contacts/features/starred"]),
    (
        "tasks: create, change, delete lists",
        &["/tasks/operations/createList", "/tasks/operations/updateList", "/tasks/operations/deleteList"],
    ),
    (
        "tasks: create, change, delete, subtasks, order",
        &[
            "/tasks/operations/createTask",
            "/tasks/operations/updateTask",
            "/tasks/operations/deleteTask",
            "/tasks/features/subtasks",
            "/tasks/features/ordering",
        ],
    ),
    (
        "tasks: more than title, notes and due day",
        &[
            "/tasks/features/startDate",
            "/tasks/features/dueTime",
            "/tasks/features/priority",
            "/tasks/features/percentComplete",
            "/tasks/features/recurrence",
            "/tasks/features/categories",
            "/tasks/features/assignees",
            "/tasks/features/reminders",
        ],
    ),
    ("tasks: checklists, links", &["/tasks/operations/checklistItems", "/tasks/operations/links"]),
];

/// A column of the table; without capabilities where the provider's server is not up.
struct ProviderColumn {
    title: &'static str,
    capabilities: Option<Value>,
}

/// Returns `yes` where an account can do all of a group, `partial` where some of it, else `no`.
fn support(capabilities: &Value, members: &[&str]) -> &'static str {
    let is_true = |member: &&&str| capabilities.pointer(member) == Some(&Value::Bool(true));
    match members.iter().filter(is_true).count() {
        0 => "no",
        count if count == members.len() => "yes",
        _ => "partial",
    }
}

/// The table. A column without capabilities stays as it is in `old`.
fn render(columns: &[ProviderColumn], old: &str) -> String {
    let titles: Vec<&str> = columns.iter().map(|column| column.title).collect();
    let mut table = format!("| | {} |\n|---|{}\n", titles.join(" | "), "---|".repeat(titles.len()));
    for (group, members) in GROUPS {
        let cells = columns.iter().enumerate().map(|(number, column)| match &column.capabilities {
            Some(capabilities) => support(capabilities, members),
            None => old_cell(old, group, number),
        });
        let cells: Vec<&str> = cells.collect();
        table.push_str(&format!("| {group} | {} |\n", cells.join(" | ")));
    }
    table
}

/// A cell of the table in README.md; `?` where it has none.
fn old_cell<'a>(old: &'a str, group: &str, column: usize) -> &'a str {
    let line = old.lines().find_map(|line| line.strip_prefix("| ")?.strip_prefix(group)?.strip_prefix(" | "));
    line.and_then(|line| line.trim_end_matches('|').split('|').nth(column)).map_or("?", str::trim)
}

fn readme() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the workspace");
    root.join("README.md")
}

async fn columns() -> Vec<ProviderColumn> {
    let (mut google, mut microsoft, mut imap, mut jmap, mut dav) = (None, None, None, None, None);
    if let Some(account) = GoogleAccount::connect().await {
        google = Some(capabilities(&account, account.desk()).await);
    }
    if let Some(account) = MicrosoftAccount::connect().await {
        microsoft = Some(capabilities(&account, account.desk()).await);
    }
    if let Some(account) = DavAccount::with_imap().await {
        imap = Some(capabilities(&account, account.mail()).await);
        dav = Some(capabilities(&account, account.desk()).await);
    }
    if let Some(account) = DavAccount::with_jmap().await {
        jmap = Some(capabilities(&account, account.mail()).await);
    }
    let all = [
        ("Google", google),
        ("Microsoft", microsoft),
        ("IMAP", imap),
        ("JMAP", jmap),
        ("CalDAV, CardDAV", dav),
    ];
    all.into_iter().map(|(title, capabilities)| ProviderColumn { title, capabilities }).collect()
}

/// The table is what accounts at the fakes of Google and Microsoft Graph, on Dovecot, Cyrus and Radicale can do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_readme_has_what_accounts_can_do() {
    let text = fs::read_to_string(readme()).expect("README.md");
    let (before, rest) = text.split_once(BEGIN).expect("the table's first line");
    let (old, after) = rest.split_once(END).expect("the table's last line");
    let table = render(&columns().await, old);
    if env::var_os("SWITCHBOARD_WRITE_README").is_some() {
        fs::write(readme(), format!("{before}{BEGIN}{table}{END}{after}")).expect("README.md can be written");
        return;
    }
    assert_eq!(
        old, table,
        "the table in README.md is stale: SWITCHBOARD_WRITE_README=1 cargo xtask test -- -p switchboard-tests --test api scenario::table::"
    );
}

/// The sandbox has everything: each member that a group names is one of the capabilities.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sandbox_can_do_everything() {
    let account = SandboxAccount::connect().await;
    let able = capabilities(&account, account.desk()).await;
    let lacks: Vec<&str> = GROUPS
        .iter()
        .flat_map(|(_, members)| *members)
        .copied()
        .filter(|member| support(&able, &[*member]) == "no")
        .collect();
    assert_eq!(lacks, Vec::<&str>::new(), "{able:#}");
}

#[test]
fn a_column_without_capabilities_stays() {
    let old = "| | A | B |\n|---|---|---|\n| mail: read, search | partial | no |\n";
    let first = ProviderColumn { title: "A", capabilities: None };
    let whole = serde_json::json!({ "operations": { "read": true, "search": true } });
    let second = ProviderColumn { title: "B", capabilities: Some(whole) };
    let table = render(&[first, second], old);
    assert!(
        table.starts_with("| | A | B |\n|---|---|---|\n| mail: read, search | partial | yes |\n"),
        "{table}"
    );
    assert!(table.contains("| mail: labels | ? | no |\n"), "{table}");
}
