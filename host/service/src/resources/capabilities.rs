//! Capabilities of a connection: the connector's surfaces and features, limited to the scopes that the account granted.

use std::collections::BTreeMap;

use base::error::{Result, not_found};
use model::bounds;
use model::capabilities::{
    Alias, Capabilities, EmailFeatures, EmailLimits, EmailOperations, MissingOperation, MissingReason,
    SurfaceCapabilities,
};
use model::wire::calendar::CalendarFeatures;
use model::wire::contacts::ContactsFeatures;
use model::wire::email::MailFeatures;
use model::wire::tasks::TasksFeatures;
use runtime::Surface;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use storage::connections::Connection;

use crate::app::App;
use crate::app::live_channels::Channel;
use crate::connections::account::{is_address, printable};
use crate::connections::provider_call::fetch;
use crate::connections::request_context::RequestContext;
use crate::connections::{find, granted, usable};
use crate::sync::schedule;

/// Bytes of the files of a message to send.
const MAX_FILE_BYTES: i64 = bounds::mail::MAX_FILE_BYTES as i64;
/// Recipients of a message to send.
const MAX_RECIPIENTS: i64 = bounds::mail::MAX_RECIPIENTS as i64;

/// Addresses that a connector may name to send from.
const ALIASES: usize = 500;

/// Returns the capabilities of a connection. Asks the connector for features that its manifest does not settle.
pub async fn for_connection(app: &App, asker: &RequestContext, connection_id: &str) -> Result<Capabilities> {
    if !asker.may_use(connection_id) {
        return Err(not_found("connection"));
    }
    let connection = &find(app, &asker.tenant, connection_id).await?;
    let mut capabilities = Capabilities {
        connection_id: connection.id.clone(),
        provider: connection.provider.clone(),
        connector_version: connection.connector_version.clone(),
        evaluated_at: app.clock.now(),
        ..Capabilities::default()
    };
    let mut mail = match has(connection, Surface::Email) {
        true => features(app, connection, asker, Surface::Email).await?,
        false => MailFeatures::default(),
    };
    // A server can advertise push and then not deliver it: the result of the last attempt to listen counts.
    if mail.push {
        let watched = schedule::watched_by_rows(app, &connection.id).await?;
        mail.push = watched.is_none_or(|watched| watched.channel != Channel::None);
    }
    email(app, connection, mail, &mut capabilities);
    if has(connection, Surface::Calendar) {
        capabilities.calendar = Some(calendar(app, connection, asker).await?);
    }
    if has(connection, Surface::Contacts) {
        capabilities.contacts = Some(contacts(app, connection, asker).await?);
    }
    if has(connection, Surface::Tasks) {
        capabilities.tasks = Some(tasks(app, connection, asker).await?);
    }
    Ok(capabilities)
}

fn has(connection: &Connection, surface: Surface) -> bool {
    connection.surfaces.iter().any(|s| s == surface.as_str())
}

/// Returns the reason why an operation is not available. A surface that the provider lacks lacks all of its operations.
fn missing(connection: &Connection, surface: &str, operation: &str, scope: &str) -> MissingOperation {
    let reason = if !connection.surfaces.iter().any(|s| s == surface) {
        MissingReason::ProviderUnsupported
    } else if usable(connection).is_err() {
        MissingReason::ConnectionNotActive
    } else if granted(connection, scope).is_err() {
        MissingReason::ScopeNotGranted
    } else {
        MissingReason::ProviderUnsupported
    };
    MissingOperation { operation: operation.to_owned(), reason, required_scopes: vec![scope.to_owned()] }
}

/// The field of the answer that holds an operation.
type Field = fn(&mut EmailOperations) -> &mut bool;

/// Fills in the mail operations: those of the provider, and those that the host adds.
fn email(app: &App, connection: &Connection, mail: MailFeatures, capabilities: &mut Capabilities) {
    let is_here = has(connection, Surface::Email);
    // The host sends scheduled messages itself, whatever the provider offers.
    let can: [(CapabilityRow, Field); 13] = [
        (("read", is_here, "email.read"), |o| &mut o.read),
        // Without a search at the provider, the local copy is searched.
        (("search", is_here, "email.read"), |o| &mut o.search),
        (("nativeSearch", mail.native_search, "email.read"), |o| &mut o.native_search),
        (("modifyFlags", mail.modify_flags, "email.write"), |o| &mut o.modify_flags),
        (("move", mail.move_messages, "email.write"), |o| &mut o.move_message),
        (("delete", mail.delete, "email.write"), |o| &mut o.delete),
        (("permanentDelete", mail.permanent_delete, "email.write"), |o| &mut o.permanent_delete),
        (("createDraft", mail.drafts, "email.write"), |o| &mut o.create_draft),
        (("sendDraft", mail.drafts && mail.send, "email.send"), |o| &mut o.send_draft),
        (("send", mail.send, "email.send"), |o| &mut o.send),
        (("scheduleSend", mail.send, "email.send"), |o| &mut o.schedule_send),
        (("cancelScheduled", mail.send, "email.send"), |o| &mut o.cancel_scheduled),
        (("appendMessage", mail.append, "email.write"), |o| &mut o.append_message),
    ];
    for ((operation, supported, scope), field) in can {
        let works = supported && usable(connection).is_ok() && granted(connection, scope).is_ok();
        *field(&mut capabilities.operations) = works;
        if !works {
            capabilities.missing.push(missing(connection, "email", operation, scope));
        }
    }
    let tracks = mail.send && app.config.can_track();
    capabilities.features = EmailFeatures {
        folders: mail.folders,
        labels: mail.labels,
        multi_folder: mail.multi_folder,
        threads: mail.threads,
        keywords: mail.keywords,
        importance: mail.importance,
        raw_mime: mail.append,
        send_as_alias: mail.send_as_alias,
        delegated_send: mail.delegated_send,
        open_tracking: tracks,
        link_tracking: tracks,
        bounce_detection: mail.bounce_detection,
        read_receipts: false,
        push: mail.push,
        delta: mail.delta,
    };
    if is_here {
        capabilities.limits = EmailLimits {
            max_message_bytes: mail.max_message_bytes,
            max_attachment_bytes: Some(MAX_FILE_BYTES),
            max_recipients: Some(mail.max_recipients.map_or(MAX_RECIPIENTS, |m| m.min(MAX_RECIPIENTS))),
            max_send_per_day: mail.max_send_per_day,
            page_size: Some(bounds::list::MAX_LIMIT),
        };
    }
    let aliases = mail.aliases.into_iter().filter(|alias| is_address(&alias.email)).take(ALIASES);
    let named = |alias: Alias| {
        let name = alias.name.map(|name| printable(&name)).filter(|name| !name.is_empty());
        Alias { name, ..alias }
    };
    capabilities.aliases = aliases.map(named).collect();
}

/// Returns the features that the connector reports for a surface; the defaults for a connection that is not usable.
async fn features<F>(
    app: &App,
    connection: &Connection,
    asker: &RequestContext,
    surface: Surface,
) -> Result<F>
where
    F: DeserializeOwned + Default + Send,
{
    // A connection that is not usable still has an answer: nothing works, and why.
    match usable(connection) {
        Ok(()) => fetch(app, connection, asker, surface, "capabilities", &json!({})).await,
        Err(_) => Ok(F::default()),
    }
}

/// An operation, whether the provider has it, and the scope that it needs.
type CapabilityRow = (&'static str, bool, &'static str);

fn describe_surface(
    connection: &Connection,
    surface: Surface,
    can: &[CapabilityRow],
    features: &[(&str, Value)],
) -> SurfaceCapabilities {
    let mut answer = SurfaceCapabilities::default();
    for (operation, supported, scope) in can {
        let works = *supported && usable(connection).is_ok() && granted(connection, scope).is_ok();
        answer.operations.insert((*operation).to_owned(), works);
        if !works {
            answer.missing.push(missing(connection, surface.as_str(), operation, scope));
        }
    }
    answer.features = features.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    answer.limits = BTreeMap::from([("pageSize".to_owned(), Some(bounds::list::MAX_LIMIT))]);
    answer
}

async fn calendar(app: &App, connection: &Connection, asker: &RequestContext) -> Result<SurfaceCapabilities> {
    let has: CalendarFeatures = features(app, connection, asker, Surface::Calendar).await?;
    let can = [
        ("read", true, "calendar.read"),
        ("freeBusy", true, "calendar.read"),
        ("freeBusyByEmail", has.free_busy_by_email, "calendar.read"),
        ("createEvent", true, "calendar.write"),
        ("updateEvent", true, "calendar.write"),
        ("deleteEvent", true, "calendar.write"),
        ("recurrence", has.recurrence, "calendar.write"),
        ("thisAndFollowing", has.this_and_following, "calendar.write"),
        ("respond", has.rsvp, "calendar.write"),
        ("conference", !has.conference.is_empty(), "calendar.write"),
        ("createCalendar", has.create_calendar, "calendar.write"),
        ("updateCalendar", has.update_calendar, "calendar.write"),
        ("deleteCalendar", has.delete_calendar, "calendar.write"),
    ];
    let told = [
        ("attendees", json!(has.attendees)),
        ("scheduling", json!(has.scheduling)),
        ("reminders", json!(has.reminders)),
        ("attachments", json!(has.attachments)),
        ("conferenceTypes", json!(has.conference)),
        ("push", json!(has.push)),
        ("delta", json!(has.delta)),
    ];
    Ok(describe_surface(connection, Surface::Calendar, &can, &told))
}

async fn contacts(app: &App, connection: &Connection, asker: &RequestContext) -> Result<SurfaceCapabilities> {
    let has: ContactsFeatures = features(app, connection, asker, Surface::Contacts).await?;
    let can = [
        ("read", true, "contacts.read"),
        ("search", true, "contacts.read"),
        ("mergeSuggestions", true, "contacts.read"),
        ("createContact", has.create_contact, "contacts.write"),
        ("updateContact", has.create_contact, "contacts.write"),
        ("deleteContact", has.create_contact, "contacts.write"),
        ("createGroup", has.groups, "contacts.write"),
        ("updateGroup", has.groups, "contacts.write"),
        ("deleteGroup", has.groups, "contacts.write"),
        ("createBook", has.create_book, "contacts.write"),
        ("updateBook", has.update_book, "contacts.write"),
        ("deleteBook", has.delete_book, "contacts.write"),
    ];
    let told = [
        ("groups", json!(has.groups)),
        ("photos", json!(has.photos)),
        ("starred", json!(has.starred)),
        ("push", json!(has.push)),
        ("delta", json!(has.delta)),
    ];
    Ok(describe_surface(connection, Surface::Contacts, &can, &told))
}

async fn tasks(app: &App, connection: &Connection, asker: &RequestContext) -> Result<SurfaceCapabilities> {
    let has: TasksFeatures = features(app, connection, asker, Surface::Tasks).await?;
    let can = [
        ("read", true, "tasks.read"),
        ("search", true, "tasks.read"),
        ("createTask", true, "tasks.write"),
        ("updateTask", true, "tasks.write"),
        ("deleteTask", true, "tasks.write"),
        ("checklistItems", has.checklist_items, "tasks.write"),
        ("links", has.links, "tasks.write"),
        ("createList", has.create_list, "tasks.write"),
        ("updateList", has.update_list, "tasks.write"),
        ("deleteList", has.delete_list, "tasks.write"),
    ];
    let told = [
        ("subtasks", json!(has.subtasks)),
        ("startDate", json!(has.start_date)),
        ("dueTime", json!(has.due_time)),
        ("priority", json!(has.priority)),
        ("percentComplete", json!(has.percent_complete)),
        ("recurrence", json!(has.recurrence)),
        ("categories", json!(has.categories)),
        ("assignees", json!(has.assignees)),
        ("reminders", json!(has.reminders)),
        ("ordering", json!(has.ordering)),
        ("push", json!(has.push)),
        ("delta", json!(has.delta)),
    ];
    Ok(describe_surface(connection, Surface::Tasks, &can, &told))
}
