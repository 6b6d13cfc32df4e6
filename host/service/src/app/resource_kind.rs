//! The kinds of resources, and the properties in which they differ: names, scopes, paths and connector operations.

use base::error::Result;
use base::ids;
use runtime::{Surface, Verb};
use storage::items::{Family, Item};

/// The kind of a stored resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceKind {
    Calendar,
    Event,
    ContactBook,
    Contact,
    ContactGroup,
    TaskList,
    Task,
    EmailFolder,
    EmailLabel,
    EmailMessage,
    /// A message that is being composed.
    EmailDraft,
}

/// All kinds, in the order of `ROWS`.
const ALL: [ResourceKind; 11] = [
    ResourceKind::Calendar,
    ResourceKind::Event,
    ResourceKind::ContactBook,
    ResourceKind::Contact,
    ResourceKind::ContactGroup,
    ResourceKind::TaskList,
    ResourceKind::Task,
    ResourceKind::EmailFolder,
    ResourceKind::EmailLabel,
    ResourceKind::EmailMessage,
    ResourceKind::EmailDraft,
];

/// The operations of a connector for a kind (tables: `model::wire`).
#[derive(Clone, Copy, Debug)]
pub struct Ops {
    /// Lists the records, or the changes since a cursor.
    pub pull: (Verb, &'static str),
    /// Reads one record; collections come whole with every pull.
    pub get: &'static str,
    /// Reads many records at once; empty where no `changes` operation returns ids first.
    pub batch_get: &'static str,
    pub create: &'static str,
    pub update: &'static str,
    pub delete: &'static str,
}

/// The properties of a kind.
struct KindRow {
    name: &'static str,
    resource_type: &'static str,
    /// The noun for messages to people.
    noun: &'static str,
    id: ids::Kind,
    surface: Surface,
    /// The kind of its collection, and the field that names the collection.
    parent: Option<(ResourceKind, &'static str)>,
    ops: Ops,
}

/// Returns the row of a mail kind: all of a mailbox is read by one operation.
const fn mail(name: &'static str, resource_type: &'static str, noun: &'static str, id: ids::Kind) -> KindRow {
    let ops = Ops {
        pull: (Verb::Changes, "mail"),
        get: "messages.get",
        batch_get: "",
        create: "messages.append",
        update: "messages.update",
        delete: "messages.delete",
    };
    KindRow { name, resource_type, noun, id, surface: Surface::Email, parent: None, ops }
}

/// In the order of `ResourceKind`.
static ROWS: [KindRow; ALL.len()] = [
    KindRow {
        name: "calendar",
        resource_type: "calendar",
        noun: "calendar",
        id: ids::Kind::Calendar,
        surface: Surface::Calendar,
        parent: None,
        ops: Ops {
            pull: (Verb::Fetch, "calendars.list"),
            get: "",
            batch_get: "",
            create: "calendars.create",
            update: "calendars.update",
            delete: "calendars.delete",
        },
    },
    KindRow {
        name: "event",
        resource_type: "calendar.event",
        noun: "event",
        id: ids::Kind::Event,
        surface: Surface::Calendar,
        parent: Some((ResourceKind::Calendar, "calendarId")),
        ops: Ops {
            pull: (Verb::Changes, "events"),
            get: "events.get",
            batch_get: "events.batchGet",
            create: "events.create",
            update: "events.update",
            delete: "events.delete",
        },
    },
    KindRow {
        name: "contact_book",
        resource_type: "contact_book",
        noun: "contact book",
        id: ids::Kind::ContactBook,
        surface: Surface::Contacts,
        parent: None,
        ops: Ops {
            pull: (Verb::Fetch, "books.list"),
            get: "",
            batch_get: "",
            create: "books.create",
            update: "books.update",
            delete: "books.delete",
        },
    },
    KindRow {
        name: "contact",
        resource_type: "contact",
        noun: "contact",
        id: ids::Kind::Contact,
        surface: Surface::Contacts,
        parent: Some((ResourceKind::ContactBook, "bookId")),
        ops: Ops {
            pull: (Verb::Changes, "contacts"),
            get: "contacts.get",
            batch_get: "contacts.batchGet",
            create: "contacts.create",
            update: "contacts.update",
            delete: "contacts.delete",
        },
    },
    KindRow {
        name: "contact_group",
        resource_type: "contact_group",
        noun: "contact group",
        id: ids::Kind::ContactGroup,
        surface: Surface::Contacts,
        parent: Some((ResourceKind::ContactBook, "bookId")),
        ops: Ops {
            pull: (Verb::Changes, "contacts"),
            get: "contacts.get",
            batch_get: "contacts.batchGet",
            create: "groups.create",
            update: "groups.update",
            delete: "groups.delete",
        },
    },
    KindRow {
        name: "task_list",
        resource_type: "task_list",
        noun: "task list",
        id: ids::Kind::TaskList,
        surface: Surface::Tasks,
        parent: None,
        ops: Ops {
            pull: (Verb::Fetch, "lists.list"),
            get: "",
            batch_get: "",
            create: "lists.create",
            update: "lists.update",
            delete: "lists.delete",
        },
    },
    KindRow {
        name: "task",
        resource_type: "task",
        noun: "task",
        id: ids::Kind::Task,
        surface: Surface::Tasks,
        parent: Some((ResourceKind::TaskList, "taskListId")),
        ops: Ops {
            pull: (Verb::Changes, "tasks"),
            get: "tasks.get",
            batch_get: "tasks.batchGet",
            create: "tasks.create",
            update: "tasks.update",
            delete: "tasks.delete",
        },
    },
    mail("email_folder", "email.folder", "folder", ids::Kind::Folder),
    mail("email_label", "email.label", "label", ids::Kind::Label),
    mail("email_message", "email.message", "message", ids::Kind::Message),
    mail("email_draft", "email.draft", "draft", ids::Kind::Draft),
];

impl ResourceKind {
    fn row(self) -> &'static KindRow {
        &ROWS[self as usize]
    }

    /// Returns the value of the row's `kind` column and of a connector's `Item.kind`.
    pub fn as_str(self) -> &'static str {
        self.row().name
    }

    /// Returns the resource type in the log and in webhooks.
    pub fn resource_type(self) -> &'static str {
        self.row().resource_type
    }

    /// Returns the noun for messages to people: `contact book`.
    pub fn noun(self) -> &'static str {
        self.row().noun
    }

    pub fn id_kind(self) -> ids::Kind {
        self.row().id
    }

    pub fn surface(self) -> Surface {
        self.row().surface
    }

    pub fn ops(self) -> Ops {
        self.row().ops
    }

    /// Parses a `kind`.
    pub fn parse(kind: &str) -> Option<ResourceKind> {
        ALL.into_iter().find(|k| k.as_str() == kind)
    }

    /// Returns the kind of a row. Fails for an unknown one.
    pub fn from_item(item: &Item) -> Result<ResourceKind> {
        let kind = ResourceKind::parse(&item.kind);
        Ok(kind.ok_or_else(|| anyhow::anyhow!("a row of an unknown kind: {}", item.kind))?)
    }

    /// Returns the kind of the collection that contains it; none for a collection.
    pub fn collection(self) -> Option<ResourceKind> {
        self.row().parent.map(|(kind, _)| kind)
    }

    pub fn is_collection(self) -> bool {
        self.contents() != self
    }

    /// Whether it belongs to a mailbox.
    pub fn is_mail(self) -> bool {
        self.surface() == Surface::Email
    }

    /// Returns the field that names its collection.
    pub fn parent_field(self) -> Option<&'static str> {
        self.row().parent.map(|(_, field)| field)
    }

    /// Returns the kind of a collection's members; for any other kind, the kind itself.
    pub fn contents(self) -> ResourceKind {
        match self {
            ResourceKind::Calendar => ResourceKind::Event,
            ResourceKind::ContactBook => ResourceKind::Contact,
            ResourceKind::TaskList => ResourceKind::Task,
            other => other,
        }
    }

    /// Returns the names of the kinds that are read together with this one, itself included: groups come with the contacts of their book.
    pub fn family(self) -> Family {
        let (contact, group) = (ResourceKind::Contact.as_str(), ResourceKind::ContactGroup.as_str());
        match self {
            ResourceKind::Contact | ResourceKind::ContactGroup => [contact, group, contact, group],
            ResourceKind::EmailFolder
            | ResourceKind::EmailLabel
            | ResourceKind::EmailMessage
            | ResourceKind::EmailDraft => [
                ResourceKind::EmailFolder,
                ResourceKind::EmailLabel,
                ResourceKind::EmailMessage,
                ResourceKind::EmailDraft,
            ]
            .map(ResourceKind::as_str),
            other => [other.as_str(); 4],
        }
    }

    /// Returns the scope that reading requires.
    pub fn read_scope(self) -> &'static str {
        match self.surface() {
            Surface::Email => "email.read",
            Surface::Calendar => "calendar.read",
            Surface::Contacts => "contacts.read",
            Surface::Tasks => "tasks.read",
            Surface::Lifecycle | Surface::Watch => "connections.read",
        }
    }

    /// Returns the scope that changing requires.
    pub fn write_scope(self) -> &'static str {
        match self.surface() {
            Surface::Email => "email.write",
            Surface::Calendar => "calendar.write",
            Surface::Contacts => "contacts.write",
            Surface::Tasks => "tasks.write",
            Surface::Lifecycle | Surface::Watch => "connections.write",
        }
    }

    /// Returns the API path of a stored resource.
    pub fn path(self, item: &Item) -> String {
        let id = &item.id;
        match self {
            ResourceKind::Calendar => format!("/v1/calendars/{id}"),
            ResourceKind::Event => format!("/v1/calendars/{}/events/{id}", item.parent_id),
            ResourceKind::ContactBook => format!("/v1/contact-books/{id}"),
            ResourceKind::Contact => format!("/v1/contacts/{id}"),
            ResourceKind::ContactGroup => format!("/v1/contact-groups/{id}"),
            ResourceKind::TaskList => format!("/v1/task-lists/{id}"),
            ResourceKind::Task => format!("/v1/task-lists/{}/tasks/{id}", item.parent_id),
            ResourceKind::EmailMessage => format!("/v1/email/messages/{id}"),
            ResourceKind::EmailDraft => format!("/v1/email/drafts/{id}"),
            ResourceKind::EmailFolder => "/v1/email/folders".to_owned(),
            ResourceKind::EmailLabel => "/v1/email/labels".to_owned(),
        }
    }
}
