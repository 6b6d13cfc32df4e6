//! Events as Graph answers them.

use chrono::{NaiveDate, NaiveDateTime};
use serde_json::{Map, Value, json};

use crate::graph::calendar::body_text;
use crate::graph::calendar::book::{CalendarBook, EventKey};
use crate::graph::calendar::instances::{self, EventShape, EventType};
use crate::graph::calendar::span::{AskedZone, seven_decimals};
use crate::graph::calendar::zones;
use crate::graph::call::GraphCall;
use crate::graph::errors::GraphError;
use crate::graph::ids;

/// Stored members that are answered as they are.
const PLAIN: [&str; 21] = [
    "categories",
    "reminderMinutesBeforeStart",
    "isReminderOn",
    "hasAttachments",
    "subject",
    "importance",
    "sensitivity",
    "isCancelled",
    "responseRequested",
    "showAs",
    "onlineMeetingUrl",
    "isOnlineMeeting",
    "onlineMeetingProvider",
    "allowNewTimeProposals",
    "isDraft",
    "hideAttendees",
    "responseStatus",
    "location",
    "locations",
    "attendees",
    "organizer",
];

/// A reader of events: its mailbox, and the preferences of its request.
pub struct EventReader<'r> {
    book: &'r CalendarBook,
    call: &'r GraphCall,
    asked: AskedZone,
}

impl<'r> EventReader<'r> {
    /// The reader of a call.
    ///
    /// # Errors
    /// It asks for times in a zone that Exchange does not know: 400.
    pub fn new(book: &'r CalendarBook, call: &'r GraphCall) -> Result<EventReader<'r>, GraphError> {
        let asked = AskedZone::read(call.prefer.time_zone.as_deref())?;
        Ok(EventReader { book, call, asked })
    }

    /// The id of an event for this reader.
    pub fn id(&self, key: EventKey) -> String {
        let place = self.book.items.get(&key.number).map_or(0, |item| item.place);
        self.call.id_of(&key.to_string(), place)
    }

    /// An event with every member that Graph answers unasked, and those of others that `$select` names.
    pub fn show(&self, shape: &EventShape<'_>) -> Value {
        let item = shape.item;
        let mut event = self.head(shape);
        for name in PLAIN {
            let value = shape.members.get(name).cloned().unwrap_or(Value::Null);
            event.insert(name.to_owned(), value);
        }
        let html = shape.members.get("body").and_then(Value::as_str).unwrap_or_default();
        let (start, end) = shape.span.shown(&self.asked);
        let recurrence = match shape.kind {
            EventType::SeriesMaster => item.series.as_ref().map(|series| series.recurrence.clone()),
            _ => None,
        };
        let mut put = |name: &str, value: Value| event.insert(name.to_owned(), value);
        put("bodyPreview", body_text::preview(html).into());
        put("body", body_text::shown(html, self.call.prefer.text_bodies));
        put("start", start);
        put("end", end);
        put("isAllDay", shape.span.is_all_day.into());
        put("recurrence", recurrence.unwrap_or(Value::Null));
        put("isOrganizer", self.book.is_organizer(item).into());
        put("onlineMeeting", self.meeting(shape));
        if self.selects("originalStart") {
            put("originalStart", self.original_start(shape));
        }
        self.add_links(&mut event, &item.calendar);
        Value::Object(event)
    }

    /// Ids, versions and what kind of event it is.
    fn head(&self, shape: &EventShape<'_>) -> Map<String, Value> {
        let (item, key) = (shape.item, shape.key());
        let id = self.id(key);
        let zone = |name: &str, own: &str| match item.text(name) {
            "" => own.to_owned(),
            odd => odd.to_owned(),
        };
        let series_id = shape.date.map(|_| self.id(EventKey::item(item.number)));
        let occurrence_id = shape.date.map(|date| self.occurrence_id(item.number, date));
        let uid = match shape.date {
            // The UID of an occurrence has its day in it.
            Some(date) => format!("{}{}", item.uid, date.format("%Y%m%d")),
            None => item.uid.clone(),
        };
        let head = json!({
            "@odata.etag": item.etag(),
            "id": id,
            "createdDateTime": zones::stamp(item.created_ms, item.number),
            "lastModifiedDateTime": zones::stamp(item.modified_ms, item.changed),
            "changeKey": ids::change_key(item.changed),
            "transactionId": item.transaction_id,
            "originalStartTimeZone": zone("originalStartTimeZone", &shape.span.start_zone),
            "originalEndTimeZone": zone("originalEndTimeZone", &shape.span.end_zone),
            "iCalUId": uid,
            "uid": item.uid,
            "seriesMasterId": series_id,
            "occurrenceId": occurrence_id,
            "type": shape.kind.name(),
            "webLink": format!("https://outlook.office365.com/owa/?itemid={key}&exvsurl=1&path=/calendar/item"),
        });
        head.as_object().cloned().unwrap_or_default()
    }

    /// The exceptions of a series, with the members that are selected.
    pub fn exceptions(&self, shape: &EventShape<'_>) -> Vec<Value> {
        let all = instances::exceptions(shape.item);
        all.iter().map(|exception| self.call.select(self.show(exception))).collect()
    }

    /// An event with the members that are selected, and the exceptions where they are to be expanded. Cancelled occurrences are not in lists.
    pub fn answer(&self, shape: &EventShape<'_>) -> Value {
        let mut event = self.show(shape);
        if self.selects("cancelledOccurrences") && shape.kind == EventType::SeriesMaster {
            let (item, series) = (shape.item, shape.item.series.iter());
            let cancelled = series.flat_map(|series| &series.cancelled);
            event["cancelledOccurrences"] =
                cancelled.map(|date| self.occurrence_id(item.number, *date)).collect();
        }
        let mut event = self.call.select(event);
        if self.expands("exceptionOccurrences") && shape.kind == EventType::SeriesMaster {
            event["exceptionOccurrences"] = self.exceptions(shape).into();
        }
        if self.expands("attachments") {
            event["attachments"] = json!([]);
        }
        event
    }

    /// The stub that a delta of a calendar view has of an occurrence.
    pub fn stub(&self, shape: &EventShape<'_>) -> Value {
        let mut stub = self.brief(shape);
        stub["seriesMasterId"] = self.id(EventKey::item(shape.item.number)).into();
        stub
    }

    /// The few members that a delta of events has.
    pub fn brief(&self, shape: &EventShape<'_>) -> Value {
        let (start, end) = shape.span.shown(&self.asked);
        json!({
            "@odata.type": "#microsoft.graph.event",
            "@odata.etag": shape.item.etag(),
            "id": self.id(shape.key()),
            "type": shape.kind.name(),
            "start": start,
            "end": end,
        })
    }

    fn selects(&self, name: &str) -> bool {
        self.call.selected().is_some_and(|names| names.iter().any(|one| one.eq_ignore_ascii_case(name)))
    }

    fn expands(&self, name: &str) -> bool {
        let expand = self.call.parameter("$expand").unwrap_or_default();
        expand
            .split(',')
            .any(|one| one.trim().split('(').next().is_some_and(|one| one.eq_ignore_ascii_case(name)))
    }

    fn occurrence_id(&self, number: u64, date: NaiveDate) -> String {
        format!("OID.{}.{date}", self.id(EventKey::item(number)))
    }

    /// The link is missing as long as Teams has not made it.
    fn meeting(&self, shape: &EventShape<'_>) -> Value {
        match shape.item.pending_join_reads {
            0 => shape.members.get("onlineMeeting").cloned().unwrap_or(Value::Null),
            _ => Value::Null,
        }
    }

    /// An instant: in UTC, or at the offset of the zone that is asked for.
    fn original_start(&self, shape: &EventShape<'_>) -> Value {
        let Some(original) = shape.original else { return Value::Null };
        if self.asked.zone == chrono_tz::UTC {
            return original.format("%Y-%m-%dT%H:%M:%SZ").to_string().into();
        }
        let utc = if shape.span.is_all_day { zones::to_utc(original, self.asked.zone) } else { original };
        utc.and_utc().with_timezone(&self.asked.zone).format("%Y-%m-%dT%H:%M:%S%:z").to_string().into()
    }

    /// Links with the folder's id, which is not the one of the list of calendars.
    fn add_links(&self, event: &mut Map<String, Value>, calendar: &str) {
        let folder = self.book.calendars.get(calendar).map_or("", |calendar| calendar.folder_id.as_str());
        let link = format!("{}/users('{}')/calendars('{folder}')", self.call.link_root, self.call.account_id);
        event.insert("calendar@odata.associationLink".to_owned(), format!("{link}/$ref").into());
        event.insert("calendar@odata.navigationLink".to_owned(), link.into());
    }
}

/// A time of a query as `getSchedule` answers it.
pub fn plain_time(at: NaiveDateTime, asked: &AskedZone) -> Value {
    json!({ "dateTime": seven_decimals(zones::to_local(at, asked.zone)), "timeZone": asked.name })
}
