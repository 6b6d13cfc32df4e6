//! The data of a message, read when the message is written.

use base::error::Result;
use model::Instant;
use model::email::EmailAddress;
use model::scheduling::booking::{Booking, BookingStatus};
use model::scheduling::event_type::EventType;
use storage::jobs::Job;
use storage::scheduling::bookings::{self, BookingRow};
use storage::scheduling::event_types;
use storage::scheduling::mail::{self, InvitationRow};

use crate::app::App;
use crate::bookings::host_decision::DecisionUrls;
use crate::bookings::invitee_words::shown_name;
use crate::bookings::notify::kind::{MailKey, MailKind, MailRole};
use crate::bookings::notify::sender::{self, Sender};
use crate::bookings::{handle, manage_token, schedules, state, titles};
use crate::connections;
use crate::locale::Language;
use crate::locale::dates::Hours;

/// Most hosts of one booking that get messages.
const MAX_HOSTS: usize = 100;

/// A host to whom a message goes.
#[derive(Clone, Debug, PartialEq)]
pub struct NotifiedHost {
    pub connection_id: String,
    pub address: EmailAddress,
}

/// A booking with all data of a message.
#[derive(Clone)]
pub struct MessageContext {
    pub row: BookingRow,
    /// The booking, with the status and the times of the row.
    pub booking: Booking,
    /// The event type, in its current state or that of its deletion, with the hours of its shared schedule.
    pub event_type: EventType,
    /// Whether the event type can no longer be booked.
    pub is_closed: bool,
    pub sender: Sender,
    /// The hosts, if the message is for them.
    pub hosts: Vec<NotifiedHost>,
    /// Links by which the one host who gets the message decides.
    pub decision: Option<DecisionUrls>,
    /// The invitation that the recipients have.
    pub invitation: Option<InvitationRow>,
    /// The address of the page to change the booking: for its invitee only.
    pub manage_url: String,
    /// The address of the booking page of the event type.
    pub booking_url: String,
    /// The recipients' language.
    pub language: Language,
    /// The recipients' clock (12 or 24 hours).
    pub hours: Hours,
    /// The time of writing, Unix ms.
    pub now: i64,
}

impl MessageContext {
    /// Reads the data. None: the message is not to be sent, because its change was superseded, because the booking's people were purged, or
    /// because no account can send it.
    pub async fn read(app: &App, job: &Job, key: &MailKey) -> Result<Option<MessageContext>> {
        let reader = app.db.reader();
        let Some(row) = bookings::find(reader, &job.tenant, &key.booking_id).await? else { return Ok(None) };
        let mut booking: Booking = serde_json::from_str(&row.body)?;
        booking.status = state::parse_status(&row.status)?;
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
        let Some(sender) = sender::find_sender(app, &row.tenant, organizer, &event_type).await? else {
            tracing::debug!(booking = %row.id, "no account may send the messages about a booking");
            return Ok(None);
        };
        let hosts = match key.role {
            MailRole::Hosts => hosts(app, &row, &booking, &event_type).await?,
            MailRole::Invitee | MailRole::Guests => Vec::new(),
        };
        let chosen = row.clock_hours.and_then(Hours::of_number);
        let (language, hours) = match key.role {
            MailRole::Hosts => (Language::English, Hours::TwentyFour),
            MailRole::Invitee | MailRole::Guests => {
                let locale = booking.invitee.locale.as_deref().unwrap_or_default();
                (Language::preferred(locale), chosen.unwrap_or_default())
            }
        };
        let invitation = mail::find(reader, &row.id, key.role.as_str()).await?;
        let address = app.config.public_address();
        let token = manage_token::token(&app.keyring, &row);
        let look = link_query(language, chosen);
        let handle = handle::for_application(app, &row.tenant.application_id).await?;
        Ok(Some(MessageContext {
            manage_url: format!("{address}/book/b/{token}?{look}"),
            booking_url: format!("{address}/book/{handle}/{}?{look}", booking.slug),
            row,
            booking,
            event_type,
            is_closed,
            sender,
            hosts,
            decision: None,
            invitation,
            language,
            hours,
            now: app.now(),
        }))
    }

    /// The same data with the account that sent the invitation as sender, if that may still send: many calendars accept the cancellation of
    /// an invitation only from it.
    pub async fn from_who_invited(&self, app: &App) -> Result<MessageContext> {
        let Some(sent) = &self.invitation else { return Ok(self.clone()) };
        let found = sender::that_sends(app, &self.row.tenant, &sent.connection_id, &self.event_type).await?;
        let found = found.filter(|sender| connections::usable(&sender.connection).is_ok());
        Ok(MessageContext { sender: found.unwrap_or_else(|| self.sender.clone()), ..self.clone() })
    }

    /// The address of a page below the booking's own.
    pub fn page_of_invitee(&self, page: &str) -> String {
        match self.manage_url.split_once('?') {
            Some((path, query)) => format!("{path}/{page}?{query}"),
            None => format!("{}/{page}", self.manage_url),
        }
    }

    /// Whether the booking is pending.
    pub fn is_pending(&self) -> bool {
        self.booking.status == BookingStatus::Pending
    }

    /// Whether the message asks hosts to confirm or decline the booking.
    pub fn asks_hosts(&self, key: &MailKey) -> bool {
        let is_request = matches!(key.kind, MailKind::Pending | MailKind::Rescheduled);
        key.role == MailRole::Hosts && is_request && self.is_pending()
    }

    /// The booking's title for this role.
    pub fn title(&self, role: MailRole) -> String {
        match role {
            MailRole::Hosts => titles::for_host(&self.booking, &self.event_type).to_owned(),
            MailRole::Invitee | MailRole::Guests => {
                titles::for_invitee(&self.booking, &self.event_type, self.language)
            }
        }
    }

    /// The recipients, without invalid addresses.
    pub fn recipients(&self, role: MailRole) -> Vec<EmailAddress> {
        let mut all = self.people(role);
        all.retain(|person| ::mail::check::email(&person.email).is_ok());
        all
    }

    /// Invitees and guests, without names that could become links: names appear in header fields, and in invitations that others read.
    fn people(&self, role: MailRole) -> Vec<EmailAddress> {
        let invitee = &self.booking.invitee;
        match role {
            MailRole::Invitee => vec![valid_address(shown_name(invitee.name.as_deref()), &invitee.email)],
            MailRole::Guests => {
                // An address that is given twice, or is also the invitee's, gets one message.
                let mut known = vec![::mail::address::folded(&invitee.email)];
                let mut guests = Vec::new();
                for guest in &self.booking.guests {
                    let folded = ::mail::address::folded(&guest.email);
                    if !known.contains(&folded) {
                        known.push(folded);
                        guests.push(valid_address(shown_name(guest.name.as_deref()), &guest.email));
                    }
                }
                guests
            }
            MailRole::Hosts => self.hosts.iter().map(|host| host.address.clone()).collect(),
        }
    }
}

/// The query of a link to a page in this language, with the chosen clock.
fn link_query(language: Language, hours: Option<Hours>) -> String {
    let lang = format!("lang={}", language.tag());
    hours.map_or(lang.clone(), |hours| format!("{lang}&hc={}", hours.number()))
}

/// An address with a name that is valid in a header field.
pub fn valid_address(name: Option<&str>, email: &str) -> EmailAddress {
    ::mail::foreign::address(&EmailAddress { name: name.map(str::to_owned), email: email.to_owned() })
}

/// The addresses of the assigned hosts.
async fn hosts(
    app: &App,
    row: &BookingRow,
    booking: &Booking,
    event_type: &EventType,
) -> Result<Vec<NotifiedHost>> {
    let ids: Vec<String> = booking.host_ids.iter().take(MAX_HOSTS).cloned().collect();
    let found = connections::find_all(app, &row.tenant, &ids).await?;
    let host = |id: String| {
        let address = sender::address_of(found.get(&id)?, event_type)?;
        Some(NotifiedHost { connection_id: id, address })
    };
    Ok(ids.into_iter().filter_map(host).collect())
}
