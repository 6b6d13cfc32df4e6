//! The messages that one call has read, each once, with the folder in which it is.

use std::collections::{HashMap, HashSet};

use model::Instant;
use model::wire::Source;

use crate::mail::message::{bare_source, partial, received_at, source};
use crate::mail::native::Message;
use crate::odata::stamp::stamp;

/// A message of a page.
pub struct ReadMessage {
    pub message: Message,
    pub folder: String,
    /// It is reported whole.
    pub is_whole: bool,
}

/// The messages of a call.
#[derive(Default)]
pub struct MessageCollection {
    list: Vec<ReadMessage>,
    /// The position in the list of each message.
    by_id: HashMap<String, usize>,
    /// Messages that two folders have.
    pub doubtful: Vec<String>,
}

impl MessageCollection {
    /// Adds a message. One that is in two folders moved while they were read: it has to be looked for.
    pub fn add(&mut self, read: ReadMessage) {
        let id = read.message.id.clone();
        match self.by_id.get(&id).and_then(|at| self.list.get_mut(*at)) {
            Some(earlier) => {
                let is_moved = earlier.folder != read.folder;
                if read.is_whole || !earlier.is_whole {
                    *earlier = read;
                }
                if is_moved {
                    self.doubtful.push(id);
                }
            }
            None => {
                self.by_id.insert(id, self.list.len());
                self.list.push(read);
            }
        }
    }

    pub fn count(&self) -> usize {
        self.list.len()
    }

    pub fn has(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    pub fn get_mut(&mut self, id: &str) -> Option<&mut ReadMessage> {
        self.by_id.get(id).and_then(|at| self.list.get_mut(*at))
    }

    /// The names of the categories of all messages.
    pub fn categories(&self) -> impl Iterator<Item = &String> {
        let all = self.list.iter().flat_map(|read| read.message.categories.iter().flatten());
        all.filter(|name| !name.is_empty())
    }

    /// The messages that are reported whole and have files, which their page did not list.
    pub fn without_files(&self) -> Vec<String> {
        let is_short = |read: &&ReadMessage| {
            let message = &read.message;
            read.is_whole && message.has_attachments == Some(true) && message.attachments.is_none()
        };
        self.list.iter().filter(is_short).map(|read| read.message.id.clone()).collect()
    }

    /// Returns the messages as sources, newest first, but for those that are gone. `is_by_name`: their names alone.
    pub fn into_sources(mut self, gone: &HashSet<String>, is_by_name: bool) -> Vec<Source> {
        self.list.retain(|read| !gone.contains(&read.message.id));
        for read in &mut self.list {
            read.message.parent_folder_id = Some(read.folder.clone());
        }
        self.list.sort_by_key(|read| std::cmp::Reverse(received_at(&read.message)));
        let message = |read: &ReadMessage| match (is_by_name, read.is_whole) {
            (true, _) => bare_source(&read.message.id),
            (false, true) => source(&read.message),
            (false, false) => partial(&read.message),
        };
        self.list.iter().map(message).collect()
    }
}

/// The time at which a message came into the mailbox, milliseconds since 1970. One that does not say is taken for new.
pub fn created_ms(message: &Message) -> i64 {
    let created = message.created_date_time.as_deref().and_then(|text| stamp(text).ok().flatten());
    created.map_or(i64::MAX, Instant::as_millis)
}
