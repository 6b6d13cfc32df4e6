//! Calendars as folders of events.

use std::sync::Arc;

use model::calendar::{AccessRole, Calendar as CalendarBody, ConferenceProvider};
use serde_json::{Map, Value, json};

use crate::calendar::types::{Calendar, Event};
use crate::calendar::write::{self, View};
use crate::collections::Collection;
use crate::kind::Kind;
use crate::ops::{Op, Put, PutHead};
use crate::problem::Problem;
use crate::receipts::etag;
use crate::record::{Account, Folder, Folders, Head, Record};

impl Head for Calendar {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_main(&self) -> bool {
        self.body.is_primary
    }

    fn is_locked(&self) -> bool {
        self.body.read_only
    }
}

impl Record for Event {
    type Head = Calendar;
    const KIND: Kind = Kind::Event;

    fn id(&self) -> &str {
        &self.id
    }

    fn folders(account: &Account) -> &Folders<Self> {
        &account.calendars
    }

    fn folders_mut(account: &mut Account) -> &mut Folders<Self> {
        &mut account.calendars
    }

    fn head_op(op: PutHead<Calendar>) -> Op {
        Op::Calendar(op)
    }

    fn put_op(op: Put<Self>) -> Op {
        Op::Event(op)
    }

    fn show(&self, folder: &Folder<Self>, mail: &str, seq: u64) -> Value {
        View { mail, calendar: &folder.head, seq }.event(self)
    }

    fn show_folder(folder: &Folder<Self>) -> Value {
        let calendar = &folder.head;
        let mut document = json!(calendar.body);
        document["id"] = json!(calendar.id);
        document["etag"] = json!(etag(folder.seq));
        document["apart"] = json!(calendar.apart);
        document["createdAt"] = json!(calendar.created_at);
        document["updatedAt"] = json!(calendar.updated_at);
        document
    }
}

impl Collection for Event {
    fn begin(id: String, account: &Account, now: String) -> Calendar {
        let body = CalendarBody {
            time_zone: Some(account.zone.clone()),
            is_owned: true,
            access_role: AccessRole::Owner,
            conference_types: vec![ConferenceProvider::Other],
            ..CalendarBody::default()
        };
        Calendar { id, body, created_at: now, ..Calendar::default() }
    }

    fn patched(base: &Calendar, patch: &Map<String, Value>, now: &str) -> Result<Calendar, Problem> {
        Ok(Calendar { updated_at: now.to_owned(), ..write::calendar(base, patch)? })
    }

    fn check_delete(folder: &Folder<Self>, _: bool) -> Result<(), Problem> {
        match folder.head.body.is_primary {
            true => Err(Problem::forbidden("mainCalendar", "the main calendar cannot be deleted")),
            false => Ok(()),
        }
    }

    /// All-day events if the time zone differs: days begin at another moment in another zone, so those events have changed for
    /// clients that sync.
    fn moved(folder: &Folder<Self>, new: &Calendar) -> Vec<Arc<Self>> {
        let is_moved = new.zone_name() != folder.head.zone_name();
        folder.live().filter(|e| is_moved && e.is_all_day()).cloned().collect()
    }
}
