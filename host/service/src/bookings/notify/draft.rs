//! The messages of one run before they are put into the outbox: rendered, with the calendar invitation, and with the Message-IDs of earlier
//! messages that they supersede.

use base::error::Result;
use model::email::EmailHeader;
use storage::scheduling::mail::InvitationRow;

use crate::app::App;
use crate::app::event_log::Origin;
use crate::bookings::host_decision;
use crate::bookings::notify::context::MessageContext;
use crate::bookings::notify::invitation;
use crate::bookings::notify::kind::{MailKey, MailRole};
use crate::bookings::notify::message_text::{self, MessageText};
use crate::bookings::notify::superseded::{name_of, name_of_host, overtaken, overtaken_of_hosts};
use crate::resources::mail::compose::message_id;
use crate::sending::message::OutgoingMessage;
use crate::sending::submit::{self, PreparedSubmission, Submission};

/// The calendar part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calendar {
    Nothing,
    Request,
    Cancel,
}

/// The change of the stored invitation.
#[derive(Clone)]
pub enum InvitationNote {
    AsItIs,
    Sent(InvitationRow),
    TakenBack,
}

/// A message that can be put into the outbox.
#[derive(Clone)]
pub struct DraftMessage {
    pub ready: PreparedSubmission,
    pub message_id: String,
}

/// Messages that are put into the outbox together.
#[derive(Clone)]
pub struct Draft {
    /// One; or one for each host, if each has a link of their own.
    pub messages: Vec<DraftMessage>,
    pub connection_id: String,
    /// The Message-IDs of the messages that they supersede.
    pub overtakes: Vec<String>,
    pub booking_id: String,
    /// The booking's version that the messages were written from: if it changes, they are written again.
    pub version: i64,
    pub role: MailRole,
    pub before: Option<InvitationRow>,
    pub kept: InvitationNote,
    /// Whether the job is done with them.
    pub is_last: bool,
}

/// The message that cancels the invitation of a former organizer.
pub async fn replacement(app: &App, key: &MailKey, facts: &MessageContext) -> Result<Draft> {
    let mut facts = facts.clone();
    if let Some(sent) = &facts.invitation {
        // The title contains the former organizer's name.
        facts.booking.organizer_connection_id = Some(sent.connection_id.clone());
    }
    let facts = &facts;
    let sent = facts.invitation.as_ref();
    let cancelled = sent.map(|sent| itip::cancel(&invitation::cancellation(facts, sent, app.now())));
    let name = format!("booking/{}/replaced/{}/{}", key.booking_id, key.sequence, key.role.as_str());
    let calendar = cancelled.map(|text| ("CANCEL", text));
    let text = message_text::of_replacement(facts, key.role);
    let built = build(app, key, facts, &name, text, calendar).await?;
    Ok(Draft { kept: InvitationNote::TakenBack, is_last: false, ..draft(key, facts, vec![built]) })
}

/// The message about the change; one for each host if they are asked to decide.
pub async fn message(app: &App, key: &MailKey, facts: &MessageContext, calendar: Calendar) -> Result<Draft> {
    let now = app.now();
    let (text, kept) = match (calendar, &facts.invitation) {
        (Calendar::Request, _) => {
            let invite = invitation::request(facts, key.role, now);
            let sent = invitation::invitation_row(facts, key.role, now);
            (Some(("REQUEST", itip::request(&invite))), InvitationNote::Sent(sent))
        }
        (Calendar::Cancel, Some(sent)) => {
            let invite = invitation::cancellation(facts, sent, now);
            (Some(("CANCEL", itip::cancel(&invite))), InvitationNote::TakenBack)
        }
        (Calendar::Cancel | Calendar::Nothing, _) => (None, InvitationNote::AsItIs),
    };
    let is_invitation = calendar == Calendar::Request;
    let mut messages = Vec::new();
    for (name, facts) in split_by_recipient(app, key, facts) {
        let letter = message_text::of_change(&facts, key, is_invitation);
        messages.push(build(app, key, &facts, &name, letter, text.clone()).await?);
    }
    Ok(Draft { kept, ..draft(key, facts, messages) })
}

/// The message's name, or those of one message for each host: a decision link belongs to one host.
fn split_by_recipient(app: &App, key: &MailKey, facts: &MessageContext) -> Vec<(String, MessageContext)> {
    let name = name_of(&key.booking_id, key.kind, key.sequence, key.role);
    if !facts.asks_hosts(key) {
        return vec![(name, facts.clone())];
    }
    let is_alone = facts.hosts.len() == 1;
    let of_host = facts.hosts.iter().map(|host| {
        let id = &host.connection_id;
        let own = if is_alone { name.clone() } else { name_of_host(&name, id) };
        let decision = Some(host_decision::urls(app, &facts.row, id));
        (own, MessageContext { hosts: vec![host.clone()], decision, ..facts.clone() })
    });
    of_host.filter(|(_, facts)| !facts.recipients(key.role).is_empty()).collect()
}

fn draft(key: &MailKey, facts: &MessageContext, messages: Vec<DraftMessage>) -> Draft {
    let mut earlier = overtaken(key, &facts.event_type.notifications.reminders);
    if key.role == MailRole::Hosts {
        let hosts = facts.hosts.iter().map(|host| host.connection_id.as_str());
        let of_hosts = overtaken_of_hosts(&earlier, hosts);
        earlier.extend(of_hosts);
    }
    let from = &facts.sender.from;
    Draft {
        messages,
        connection_id: facts.sender.connection.id.clone(),
        overtakes: earlier.iter().map(|name| message_id(name, Some(&from.email))).collect(),
        booking_id: facts.row.id.clone(),
        version: facts.row.version,
        role: key.role,
        before: facts.invitation.clone(),
        kept: InvitationNote::AsItIs,
        is_last: true,
    }
}

/// Builds the message with this name, from which its Message-ID is derived: a repeated attempt has the same one.
async fn build(
    app: &App,
    key: &MailKey,
    facts: &MessageContext,
    name: &str,
    letter: MessageText,
    calendar: Option<(&'static str, String)>,
) -> Result<DraftMessage> {
    let from = &facts.sender.from;
    let message_id = message_id(name, Some(&from.email));
    let mut outgoing = ::mail::build::Outgoing {
        message_id: message_id.clone(),
        date: app.clock.now(),
        from: vec![from.clone()],
        to: facts.recipients(key.role),
        subject: Some(letter.subject),
        text: Some(letter.text),
        html: Some(letter.html),
        // Suppresses absence notices (RFC 3834).
        headers: vec![EmailHeader { name: "Auto-Submitted".to_owned(), value: "auto-generated".to_owned() }],
        ..::mail::build::Outgoing::default()
    };
    if key.role == MailRole::Hosts && facts.decision.is_none() {
        // A host's answer goes to the invitee. An answer that quotes decision links must not go there.
        outgoing.reply_to = facts.recipients(MailRole::Invitee);
    }
    if let Some((method, text)) = calendar {
        // Programs that do not show invitations show a file.
        outgoing.attachments.push(::mail::build::OutgoingFile {
            filename: Some("invite.ics".to_owned()),
            content_type: Some("application/ics".to_owned()),
            content: text.clone().into_bytes(),
            ..::mail::build::OutgoingFile::default()
        });
        outgoing.calendar = Some(::mail::build::CalendarPart { method, text });
    }
    let built = ::mail::build::build(&outgoing);
    let built =
        built.map_err(|e| anyhow::anyhow!("a message about a booking: {}: {}", e.field, e.message))?;
    let composed = OutgoingMessage { outgoing, built, original: None };
    let connection = &facts.sender.connection;
    // The links of one host must not be in the sent mail of another one, whose account sends them.
    let is_own = facts.hosts.iter().all(|host| host.connection_id == connection.id);
    let save_to_sent = facts.decision.is_none() || is_own;
    let submission = Submission { save_to_sent, ..Submission::default() };
    let ready = submit::prepare(app, connection, composed, submission, Origin::System).await?;
    Ok(DraftMessage { ready, message_id })
}
