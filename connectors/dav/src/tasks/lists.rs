//! Task lists: listing, making, changing, deleting.

use connector_sdk::{Answer, Context, Failure, Outcome, code};
use model::tasks::{TaskList, TaskListRole};
use model::wire::{ChangesRequest, CollectionDelete, CollectionWrite, Mutated, Source, Sources, Warning};
use serde_json::json;
use url::Url;

use crate::collection::changed::FieldSet;
use crate::collection::make::{Properties, collection_source};
use crate::ical::colors;
use crate::ical::todo::reader::NAME;
use crate::tasks::TaskSession;
use crate::webdav::Name;
use crate::webdav::components::{self, holds};
use crate::webdav::multistatus::Member;
use crate::webdav::xml::{APPLE, CALDAV, CALENDARSERVER, DAV, Element};

const COLOR: Name = (APPLE, "calendar-color");
const ORDER: Name = (APPLE, "calendar-order");
/// Properties that are requested of a list.
const NAMES: [Name; 7] = [
    (DAV, "resourcetype"),
    (DAV, "displayname"),
    (DAV, "owner"),
    (DAV, "current-user-privilege-set"),
    components::SET,
    COLOR,
    ORDER,
];

pub fn list(cx: &Context, _: ChangesRequest) -> Outcome<Answer<Sources>> {
    let session = TaskSession::new(cx, None)?;
    let found = session.lists()?;
    let sources = found.iter().map(|(id, list)| collection_source(id.clone(), list, None));
    Ok(Answer::whole(Sources {
        sources: sources.collect::<Outcome<Vec<Source>>>()?,
        enumeration: true,
        ..Sources::default()
    }))
}

pub fn create(cx: &Context, args: CollectionWrite<TaskList>) -> Outcome<Mutated> {
    let session = TaskSession::new(cx, None)?;
    let properties = properties(&args.body, &FieldSet(&args.changed));
    let (url, warnings) = session.make(&components::only(NAME), &args.body.name, &properties)?;
    session.read_mutated(&url, warnings)
}

pub fn update(cx: &Context, args: CollectionWrite<TaskList>) -> Outcome<Mutated> {
    let session = TaskSession::new(cx, None)?;
    let id = args.source.as_deref().ok_or_else(|| Failure::invalid("source is missing"))?;
    let url = session.client.url(id)?;
    session.patch(&url, &properties(&args.body, &FieldSet(&args.changed)))?;
    session.read_mutated(&url, Vec::new())
}

/// A collection for events, too, is a calendar: deleting a list of tasks must not delete events.
pub fn delete(cx: &Context, args: CollectionDelete) -> Outcome<Mutated> {
    let session = TaskSession::new(cx, None)?;
    let url = session.client.url(&args.source)?;
    match session.client.propfind(&url, "0", &NAMES[..5], "reading a task list") {
        Ok(found) if holds(&found.clone().single(), "VEVENT") => {
            let failure = Failure::conflict("the task list is a calendar, too; delete it as one");
            Err(failure.with_detail(json!({ "reason": "invalid_state" })))
        }
        Err(failure) if failure.code != code::NOT_FOUND => Err(failure),
        _ => session.remove(args),
    }
}

fn properties(list: &TaskList, changed: &FieldSet) -> Properties {
    let mut all = Properties::default();
    if changed.has("name") {
        all.text((DAV, "displayname"), Some(&list.name));
    }
    if changed.has("color") {
        all.text(COLOR, list.color.as_deref());
    }
    if changed.has("sortOrder") {
        all.text(ORDER, Some(&list.sort_order.to_string()));
    }
    all
}

impl TaskSession<'_> {
    /// The account's lists by external id, one of them perhaps the default.
    fn lists(&self) -> Outcome<Vec<(String, TaskList)>> {
        let listed = self.listed(&NAMES)?;
        let mut found: Vec<(String, TaskList)> =
            listed.iter().filter_map(|(home, member)| self.task_list(home, member)).collect();
        let default = self.default_list().filter(|id| found.iter().any(|(found, _)| found == id));
        if let Some(default) = default.or_else(|| likely_default(&found)) {
            for (id, list) in &mut found {
                list.role = (*id == default).then_some(TaskListRole::Default);
            }
        }
        Ok(found)
    }

    fn read_mutated(&self, url: &Url, warnings: Vec<Warning>) -> Outcome<Mutated> {
        let id = self.client.id(url);
        let found = self.lists()?.into_iter().find(|(found, _)| *found == id);
        let (id, list) = found.ok_or_else(|| Failure::not_found("there is no task list with this id"))?;
        let source = collection_source(id.clone(), &list, None)?;
        Ok(Mutated { item: Some(id), sources: vec![source], warnings, ..Mutated::default() })
    }

    /// `schedule-default-tasks-URL` of the inbox: what Apple's servers have beside RFC 6638 section 9.2, CalendarServer in its own
    /// namespace, iCloud in CalDAV's.
    fn default_list(&self) -> Option<String> {
        let name = "schedule-default-tasks-URL";
        self.inbox_href(&[(CALENDARSERVER, name), (CALDAV, name)])
    }

    /// A member of a home as a list; none where it is something else, or holds no tasks.
    fn task_list(&self, at: &Url, member: &Member) -> Option<(String, TaskList)> {
        if !self.is_collection(member) || !holds(member, NAME) {
            return None;
        }
        let id = self.client.id_of(at, &member.href)?;
        let rights = self.rights(at, member);
        // Apple's sharing marks what others can see on the collection itself.
        let marked = |kind: &Element| {
            ["shared", "shared-owner"].iter().any(|name| kind.child(CALENDARSERVER, name).is_some())
        };
        let list = TaskList {
            name: member.text(DAV, "displayname").unwrap_or(TaskSession::folder(&id)).to_owned(),
            is_owner: rights.owned,
            is_shared: !rights.owned || member.property(DAV, "resourcetype").is_some_and(marked),
            read_only: !rights.write,
            color: member.text(APPLE, "calendar-color").and_then(colors::hex),
            sort_order: member.text(APPLE, "calendar-order").and_then(|text| text.parse().ok()).unwrap_or(0),
            ..TaskList::default()
        };
        Some((id, list))
    }
}

/// The default where the server names none: a list whose folder is called so. Another is never guessed, not even the only list: a
/// default cannot be deleted, and the list may have been created just now.
fn likely_default(found: &[(String, TaskList)]) -> Option<String> {
    let usable = || found.iter().filter(|(_, list)| list.is_owner && !list.read_only);
    ["tasks", "default"]
        .iter()
        .find_map(|name| usable().find(|(id, _)| TaskSession::folder(id).eq_ignore_ascii_case(name)))
        .map(|(id, _)| id.clone())
}
