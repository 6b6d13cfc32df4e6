//! Every resource: its default survives a round trip through JSON, all its fields are printed, and its JSON Schema names
//! exactly those. `cargo test -p model -- --nocapture` prints the schemas.

use crate::admin::{
    AdminApplication, AdminApplicationPatch, AdminOrganization, AdminOrganizationPatch, AdminProvider,
    NewAdminApplication, NewAdminOrganization, NewAdminProvider,
};
use crate::application::{ApiKey, CreatedApiKey, KeyRotation, NewApiKey, RotatedApiKey, Usage};
use crate::bounds;
use crate::calendar::{Calendar, Event};
use crate::calendar_query::{
    AvailabilityAnswer, AvailabilityQuery, FreeBusyAnswer, FreeBusyQuery, NewConference, Rsvp,
};
use crate::capabilities::Capabilities;
use crate::connection::{
    ACCOUNT_SCOPES, Authorization, AuthorizationResult, Connection, NewAuthorization, NewConnection, Token,
    TokenRequest,
};
use crate::contacts::{Contact, ContactBook, ContactGroup, MergeSuggestion, MergeSuggestionQuery};
use crate::email::draft::Draft;
use crate::email::folders::{Folder, Label};
use crate::email::send::{DraftPatch, MessagePatch, NewDraft, NewMessage, SendMessage};
use crate::email::tracking::TrackingRecord;
use crate::email::{Attachment, EmailMessage, EmailThread};
use crate::error::ErrorEnvelope;
use crate::formats;
use crate::provider::Provider;
use crate::resource::{New, Patch, Resource};
use crate::scheduling::booking::{Booking, BookingCancellation, BookingMove, BookingRejection, NewBooking};
use crate::scheduling::event_type::EventType;
use crate::scheduling::slots::{BookingLink, NewBookingLink, SlotAnswer, SlotQuery};
use crate::scheduling::{Schedule, SharedSchedule};
use crate::sync::{ConnectionSyncReset, ConnectionSyncStart, SyncChanges, SyncReset, SyncStart, SyncState};
use crate::tasks::{
    ChecklistItem, ChecklistItemPatch, NewChecklistItem, NewTaskLink, Task, TaskLink, TaskList,
};
use crate::test_mode::{NewTestEvent, NewTestMessage, TestFault, TestItem};
use crate::webhook::{Delivery, NewWebhookReplay, Notification, WebhookReplay, WebhookSubscription};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn schema_of<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>().to_value()
}

fn request_schema_of<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().for_deserialize().into_generator().into_root_schema_for::<T>().to_value()
}

fn keys(object: &Value) -> Vec<String> {
    let mut keys: Vec<String> = object.as_object().unwrap().keys().cloned().collect();
    keys.sort();
    keys
}

/// A create takes a part of the resource's fields, so its schema has fewer than the struct. `hidden` as in [`check`].
fn check_new<T>(hidden: &[&str])
where
    T: Default + PartialEq + std::fmt::Debug + Serialize + DeserializeOwned + JsonSchema,
{
    let printed = serde_json::to_value(T::default()).unwrap();
    assert_eq!(serde_json::from_value::<T>(printed.clone()).unwrap(), T::default());
    let fields = keys(&printed);
    let is_printed = |k: &String| fields.contains(k) || hidden.contains(&k.as_str());
    assert!(keys(&schema_of::<T>()["properties"]).iter().all(is_printed), "{}", T::schema_name());
}

/// Checks one type; `hidden` are fields that are left out while they are unset.
fn check<T>(hidden: &[&str])
where
    T: Default + PartialEq + std::fmt::Debug + Serialize + DeserializeOwned + JsonSchema,
{
    let name = T::schema_name();
    let printed = serde_json::to_value(T::default()).unwrap();
    let read: T = serde_json::from_value(printed.clone()).unwrap();
    assert_eq!(read, T::default(), "{name} changes in a round trip");
    let empty: T = serde_json::from_value(json!({})).unwrap();
    assert_eq!(empty, T::default(), "{name} without fields is not the default");

    let schema = schema_of::<T>();
    let mut declared = keys(&schema["properties"]);
    declared.retain(|k| !hidden.contains(&k.as_str()));
    assert_eq!(keys(&printed), declared, "{name} prints other fields than its schema has");
    println!("{}", serde_json::to_string_pretty(&schema).unwrap());
}

macro_rules! check_all {
    ($($t:ty),* $(,)?) => { $(check::<$t>(&[]);)* };
}

macro_rules! check_stored {
    ($($t:ty),* $(,)?) => { $(check::<Resource<$t>>(&["providerData"]);)* };
}

#[test]
fn every_stored_resource_prints_all_of_its_fields() {
    check_stored!(EmailMessage, EmailThread, Draft, Folder, Label, Calendar, ContactBook);
    check_stored!(TaskList, WebhookSubscription, EventType, Booking, SharedSchedule);
    // Of a series alone, and of an exception for all later instances.
    check::<Resource<Event>>(&["providerData", "appliesToFollowing", "duration", "timeZoneRules"]);
    // The host puts in what they lie in: a connector, which shares the type, knows it from where it looks.
    check::<Resource<Contact>>(&["providerData", "bookId"]);
    check::<Resource<ContactGroup>>(&["providerData", "bookId"]);
    check::<Resource<Task>>(&["providerData", "taskListId"]);
}

#[test]
fn every_other_answer_prints_all_of_its_fields() {
    check_all!(Connection, Authorization, AuthorizationResult, Usage, Capabilities);
    // Of a key with a policy alone.
    check::<ApiKey>(&["agent"]);
    check::<CreatedApiKey>(&["agent"]);
    check::<RotatedApiKey>(&["agent"]);
    check_all!(
        Attachment,
        TrackingRecord,
        FreeBusyAnswer,
        AvailabilityAnswer,
        MergeSuggestion,
        ChecklistItem,
        TaskLink
    );
    check_all!(
        BookingLink,
        SlotAnswer,
        Schedule,
        SyncState,
        SyncChanges,
        Notification,
        Delivery,
        WebhookReplay,
        ErrorEnvelope
    );
    check_all!(AdminOrganization, AdminApplication, AdminProvider);
    check_all!(Provider, TestFault, TestItem);
    // Of a token for client credentials.
    check::<Token>(&["refresh_token"]);
}

#[test]
fn every_request_body_can_be_empty_json() {
    check::<NewApiKey>(&["agent"]);
    check_all!(
        NewConnection,
        NewAuthorization,
        TokenRequest,
        KeyRotation,
        SendMessage,
        NewMessage,
        MessagePatch,
        NewDraft
    );
    check_all!(
        DraftPatch,
        FreeBusyQuery,
        AvailabilityQuery,
        Rsvp,
        NewConference,
        MergeSuggestionQuery,
        NewTaskLink
    );
    check_all!(
        NewChecklistItem,
        ChecklistItemPatch,
        SlotQuery,
        NewBooking,
        SyncStart,
        SyncReset,
        NewWebhookReplay
    );
    check_all!(BookingRejection, BookingCancellation, BookingMove, ConnectionSyncStart, ConnectionSyncReset);
    check_all!(NewAdminOrganization, AdminOrganizationPatch, NewAdminApplication, AdminApplicationPatch);
    check_all!(NewAdminProvider, NewTestMessage, NewTestEvent);
    check_new::<New<Calendar>>(&[]);
    check_new::<New<Event>>(&["appliesToFollowing", "duration", "timeZoneRules"]);
    check_new::<New<Contact>>(&["bookId"]);
    check_new::<New<Task>>(&["taskListId"]);
    check_all!(NewBookingLink);
    check_new::<New<EventType>>(&[]);
    check_new::<New<SharedSchedule>>(&[]);
    check_new::<New<WebhookSubscription>>(&[]);
}

#[test]
fn a_caller_cannot_set_what_is_derived() {
    let writable = keys(&schema_of::<Patch<Event>>()["properties"]);
    assert!(
        ["title", "start", "notify", "recurrenceScope", "etag", "metadata"]
            .iter()
            .all(|n| writable.contains(&(*n).into()))
    );
    assert!(!["busy", "myResponse", "calendarId", "id"].iter().any(|n| writable.contains(&(*n).into())));
}

#[test]
fn a_request_must_have_less_than_an_answer_has() {
    let host_of = |schema: Value| schema["$defs"]["Host"].clone();
    let (request, answer) =
        (host_of(request_schema_of::<New<EventType>>()), host_of(schema_of::<Resource<EventType>>()));
    assert_eq!(request["required"], json!(["connectionId"]));
    assert_eq!(request["properties"]["weight"]["maximum"], json!(bounds::scheduling::MAX_WEIGHT));
    let mut required: Vec<&str> =
        answer["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    required.sort_unstable();
    assert_eq!(required, keys(&answer["properties"]));
}

#[test]
fn words_and_patterns_stand_at_the_entries_of_lists() {
    let connection = request_schema_of::<NewConnection>();
    assert_eq!(connection["properties"]["scopes"]["items"]["enum"], json!(ACCOUNT_SCOPES));
    assert_eq!(connection["properties"]["scopes"]["minItems"], 1);
    let webhook = request_schema_of::<New<WebhookSubscription>>();
    assert_eq!(webhook["properties"]["connectionIds"]["items"]["pattern"], formats::Id::PATTERN);
    assert_eq!(webhook["properties"]["eventTypes"]["maxItems"], json!(bounds::webhook::MAX_EVENT_TYPES));
    assert!(webhook["properties"]["eventTypes"]["items"]["pattern"].is_string());
    assert_eq!(webhook["properties"]["headers"]["maxProperties"], json!(bounds::webhook::MAX_HEADERS));
}

#[test]
fn required_members_are_all_or_a_number() {
    let query: AvailabilityQuery =
        serde_json::from_value(json!({ "participants": [{ "required": "all" }, { "required": 2 }] }))
            .unwrap();
    let printed = serde_json::to_value(&query.participants).unwrap();
    assert_eq!(printed[0]["required"], "all");
    assert_eq!(printed[1]["required"], 2);
}

#[test]
fn secrets_are_not_in_debug_output() {
    let body: NewConnection =
        serde_json::from_value(json!({ "credentials": { "password": "hunter2" } })).unwrap();
    assert!(!format!("{body:?}").contains("hunter2"));
}
