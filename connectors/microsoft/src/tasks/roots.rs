//! Addresses of task lists and tasks.

use connector_sdk::http::Request;
use connector_sdk::{Context, Outcome};

use crate::calendar::info::MailboxInfo;
use crate::odata::root;

/// The path of the lists below the account.
const LISTS: [&str; 2] = ["todo", "lists"];
/// The parts of a task, which come only where they are asked for.
const PARTS: &str = "checklistItems,linkedResources";

/// Returns an address below the task lists.
pub fn lists(below: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    root::me(&[&LISTS[..], below].concat(), query)
}

/// Returns the path of a list's tasks below the account.
pub fn path(list: &str) -> [&str; 4] {
    ["todo", "lists", list, "tasks"]
}

/// Returns an address below the tasks of a list.
pub fn tasks(list: &str, below: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    root::me(&[&path(list)[..], below].concat(), query)
}

/// Returns the request for a task with its steps and links.
pub fn task_request(list: &str, id: &str) -> Outcome<Request> {
    Ok(Request::get(tasks(list, &[id], &[("$expand", PARTS)])?))
}

/// The IANA name of the zone in which the account's days begin.
pub fn mailbox_zone(context: &Context) -> String {
    MailboxInfo::of_call(context, None).time_zone
}
