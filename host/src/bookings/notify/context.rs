//! What is known of a booking at the moment at which a message about it is written.

use base::error::Result;
use model::Instant;
use model::email::EmailAddress;
use model::scheduling::booking::{Booking, BookingStatus};
use model::scheduling::event_type::EventType;
use storage::connections as connection_table;
use storage::jobs::Job;
use storage::scheduling::bookings::{self, BookingRow};
use storage::scheduling::event_types;
use storage::scheduling::mail::{self, InvitationRow};

use crate::app::App;
use crate::bookings::invitee_words::shown_name;
use crate::bookings::notify::kind::{MailKey, MailRole};
use crate::bookings::notify::sender::{self, Sender};
use crate::bookings::{handle, manage_token, schedules, state};
use crate::connections;
use crate::locale::Language;

/// Hosts of one booking that are told.
const MAX_HOSTS: usize = 100;

/// A booking with all that a message says of it.
#[derive(Clone)]
pub struct MessageContext {
    pub row: BookingRow,
    /// With the status and the times of the row.
    pub booking: Booking,
    /// As it is, or was when it was deleted, with the hours of the shared schedule that it names.
    pub event_type: EventType,
    /// Nobody can book it any more.
    pub is_closed: bool,
    pub sender: Sender,
    /// The hosts, if the message is for them.
    pub hosts: Vec<EmailAddress>,
    /// The invitation that those have whom the message is for.
    pub invitation: Option<InvitationRow>,
    /// Where the booking can be changed: for its invitee alone.
    pub manage_url: String,
    /// Where the event type can be booked.
    pub booking_url: String,
    /// That of the people whom the message is for.
    pub language: Language,
}

impl MessageContext {
    /// Reads what there is. None: the message is not to be sent, because its change was overtaken by another one, because the booking's
    /// people were forgotten, or because nobody can send it.
    pub async fn read(app: &App, job: &Job, key: &MailKey) -> Result<Option<MessageContext>> {
        let reader = app.db.reader();
        let Some(row) = bookings::find(reader, &job.tenant, &key.booking_id).await? else { return Ok(None) };
        let mut booking: Booking = serde_json::from_str(&row.body)?;
        booking.status = state::named(&row.status)?;
        booking.start = Instant::from_millis(row.start_at);
        booking.end = Instant::from_millis(row.end_at);
        if row.invitee_email.is_empty() || !key.holds(&booking, app.now()) {
            return Ok(None);
        }
        let found = event_types::find_ever(reader, &row.tenant, &row.event_type_id).await?;
        let is_deleted = found.as_ref().is_none_or(|found| found.deleted_at.is_some());
        let found: Option<EventType> = found.map(|found| serde_json::from_str(&found.body)).transpose()?;
        let is_closed = is_deleted || found.as_ref().is_none_or(|event_type| !event_type.active);
        let mut event_type = found.unwrap_or_default();
        schedules::resolve(reader, &row.tenant, &mut event_type).await?;
        let organizer = booking.organizer_connection_id.as_deref();
        let Some(sender) = sender::of(app, &row.tenant, organizer, &event_type).await? else {
            tracing::debug!(booking = %row.id, "no account may send what is to be told of a booking");
            return Ok(None);
        };
        let hosts = match key.role {
            MailRole::Hosts => hosts(app, &row, &booking, &event_type).await?,
            MailRole::Invitee | MailRole::Guests => Vec::new(),
        };
        let language = match key.role {
            MailRole::Hosts => Language::English,
            MailRole::Invitee | MailRole::Guests => {
                Language::preferred(booking.invitee.locale.as_deref().unwrap_or_default())
            }
        };
        let invitation = mail::find(reader, &row.id, key.role.as_str()).await?;
        let address = app.config.public_address();
        let token = manage_token::token(&app.keyring, &row);
        let lang = language.tag();
        let handle = handle::of(app, &row.tenant.application_id).await?;
        Ok(Some(MessageContext {
            manage_url: format!("{address}/book/b/{token}?lang={lang}"),
            booking_url: format!("{address}/book/{handle}/{}?lang={lang}", booking.slug),
            row,
            booking,
            event_type,
            is_closed,
            sender,
            hosts,
            invitation,
            language,
        }))
    }

    /// The same from the account that sent the invitation, if that may still send: from others many calendars do not take it that it is taken
    /// back.
    pub async fn from_who_invited(&self, app: &App) -> Result<MessageContext> {
        let Some(sent) = &self.invitation else { return Ok(self.clone()) };
        let found = sender::that_sends(app, &self.row.tenant, &sent.connection_id, &self.event_type).await?;
        let found = found.filter(|sender| connections::usable(&sender.connection).is_ok());
        Ok(MessageContext { sender: found.unwrap_or_else(|| self.sender.clone()), ..self.clone() })
    }

    /// It waits for its host.
    pub fn is_pending(&self) -> bool {
        self.booking.status == BookingStatus::Pending
    }

    /// What the booking is called.
    pub fn title(&self) -> &str {
        if self.booking.title.is_empty() { &self.event_type.title } else { &self.booking.title }
    }

    /// Whom the message goes to, without addresses that no message can have.
    pub fn recipients(&self, role: MailRole) -> Vec<EmailAddress> {
        let mut all = self.people(role);
        all.retain(|person| ::mail::check::email(&person.email).is_ok());
        all
    }

    /// Invitees and guests without names that lead somewhere: they stand in header fields, and in invitations that others read.
    fn people(&self, role: MailRole) -> Vec<EmailAddress> {
        let invitee = &self.booking.invitee;
        match role {
            MailRole::Invitee => vec![named(shown_name(invitee.name.as_deref()), &invitee.email)],
            MailRole::Guests => {
                // Somebody who is named twice, or who is the invitee too, gets one message.
                let mut known = vec![::mail::address::folded(&invitee.email)];
                let mut guests = Vec::new();
                for guest in &self.booking.guests {
                    let folded = ::mail::address::folded(&guest.email);
                    if !known.contains(&folded) {
                        known.push(folded);
                        guests.push(named(shown_name(guest.name.as_deref()), &guest.email));
                    }
                }
                guests
            }
            MailRole::Hosts => self.hosts.clone(),
        }
    }
}

/// An address with a name that can be written into a header field.
pub fn named(name: Option<&str>, email: &str) -> EmailAddress {
    ::mail::foreign::address(&EmailAddress { name: name.map(str::to_owned), email: email.to_owned() })
}

/// The addresses of the hosts who were assigned.
async fn hosts(
    app: &App,
    row: &BookingRow,
    booking: &Booking,
    event_type: &EventType,
) -> Result<Vec<EmailAddress>> {
    let mut hosts = Vec::new();
    for id in booking.host_ids.iter().take(MAX_HOSTS) {
        let found = connection_table::find(app.db.reader(), &row.tenant, id).await?;
        hosts.extend(found.and_then(|connection| sender::address_of(&connection, event_type)));
    }
    Ok(hosts)
}
