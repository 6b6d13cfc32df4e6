//! The provider's JSON of task lists and todos, as far as it is mapped.

use model::Instant;
use serde::{Deserialize, Serialize};

use crate::native::{object, words};

object! {
    List {
        #[serde(skip_serializing)]
        id: String,
        #[serde(skip_serializing)]
        etag: Option<String>,
        title: String,
        colour: Option<String>,
        main: bool,
        flagged: bool,
        mine: bool,
        shared: bool,
        locked: bool,
        rank: i64,
        todos: Option<i64>,
        open: Option<i64>,
    }
}

object! {
    Todo {
        #[serde(skip_serializing)]
        id: String,
        #[serde(skip_serializing)]
        etag: Option<String>,
        #[serde(skip_serializing)]
        deleted: bool,
        #[serde(skip_serializing)]
        list: String,
        parent: Option<String>,
        title: String,
        body: Body,
        state: TodoState,
        importance: Option<Importance>,
        percent: Option<i64>,
        start_day: Option<String>,
        due: Due,
        alarm_at: Option<Instant>,
        done_at: Option<Instant>,
        repeat: Vec<String>,
        tags: Vec<String>,
        people: Vec<Assigned>,
        position: Option<String>,
        has_files: bool,
        steps: Vec<Step>,
        links: Vec<Link>,
        web_link: Option<String>,
        created_at: Option<String>,
        updated_at: Option<String>,
    }
}

object! {
    Body {
        text: Option<String>,
        markup: Markup,
    }
}

words! {
    Markup = model::tasks::NotesFormat {
        Plain = Text,
        Html = Html,
    }
}

words! {
    TodoState = model::tasks::TaskStatus {
        Open = NeedsAction,
        Started = InProgress,
        Done = Completed,
        Blocked = Waiting,
        Later = Deferred,
        Dropped = Cancelled,
    }
}

words! {
    Importance = model::tasks::TaskPriority {
        Usual = Normal,
        Minor = Low,
        Major = High,
    }
}

object! {
    Due {
        day: Option<String>,
        clock: Option<String>,
        zone: Option<String>,
    }
}

object! {
    Assigned {
        mail: Option<String>,
        label: Option<String>,
    }
}

object! {
    Step {
        #[serde(skip_serializing)]
        id: String,
        title: String,
        done: bool,
        #[serde(skip_serializing)]
        done_at: Option<Instant>,
        position: Option<String>,
        #[serde(skip_serializing)]
        created_at: Instant,
    }
}

object! {
    Link {
        #[serde(skip_serializing)]
        id: String,
        about: About,
        url: Option<String>,
        label: Option<String>,
        app: Option<String>,
        reference: Option<String>,
        foreign_id: Option<String>,
        #[serde(skip_serializing)]
        created_at: Instant,
    }
}

words! {
    About = model::tasks::LinkedType {
        Page = Url,
        Mail = EmailMessage,
        Event = CalendarEvent,
        Card = Contact,
    }
}
