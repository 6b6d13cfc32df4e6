//! Calendars as folders of events.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::calendar::types::{Access, Calendar, Event, VideoService};
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
        self.main
    }

    fn is_locked(&self) -> bool {
        self.locked
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
        let mut document = json!(folder.head);
        document["etag"] = json!(etag(folder.seq));
        document
    }
}

impl Collection for Event {
    fn begin(id: String, account: &Account, now: String) -> Calendar {
        Calendar {
            id,
            zone: account.zone.clone(),
            mine: true,
            access: Access::Owner,
            video_services: vec![VideoService::SandboxMeet],
            created_at: now,
            ..Calendar::default()
        }
    }

    fn patched(base: &Calendar, patch: &Map<String, Value>, now: &str) -> Result<Calendar, Problem> {
        Ok(Calendar { updated_at: now.to_owned(), ..write::calendar(base, patch)? })
    }

    fn check_delete(folder: &Folder<Self>, _: bool) -> Result<(), Problem> {
        match folder.head.main {
            true => Err(Problem::forbidden("mainCalendar", "the main calendar cannot be deleted")),
            false => Ok(()),
        }
    }

    /// All-day events if the time zone differs: days begin at another moment in another zone, so those events have changed for
    /// clients that sync.
    fn moved(folder: &Folder<Self>, new: &Calendar) -> Vec<Arc<Self>> {
        let is_moved = new.zone != folder.head.zone;
        folder.live().filter(|e| is_moved && e.is_all_day()).cloned().collect()
    }
}
