//! Calls of the APIs: each request and each answer is judged by the document of its API.

use std::path::Path;

use anyhow::Result;
use bytes::Bytes;
use serde_json::Value;

use crate::door::{Ask, Reply};
use crate::faults;
use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::mail::{batch, upload};
use crate::google::state::State;
use crate::google::{
    GoogleService, busy, calendars, channels, event_lists, events, fields, lock, mail, oauth, people,
    task_lists,
};
use crate::oracle::{self, Discovery, Violation};

/// An API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Calendar,
    Gmail,
    People,
    Tasks,
}

/// The beginnings of paths, each with the API that they belong to.
const ROOTS: [(&str, Api); 7] = [
    ("/calendar/v3/", Api::Calendar),
    ("/gmail/v1/", Api::Gmail),
    ("/upload/gmail/v1/", Api::Gmail),
    ("/tasks/v1/", Api::Tasks),
    ("/v1/people", Api::People),
    ("/v1/contactGroups", Api::People),
    ("/v1/otherContacts", Api::People),
];

/// The discovery documents.
pub struct Documents {
    calendar: Discovery,
    gmail: Discovery,
    people: Discovery,
    tasks: Discovery,
}

/// The content of a request.
struct Content {
    json: Option<Value>,
    media: Option<Bytes>,
}

impl Api {
    pub fn from_path(path: &str) -> Option<Api> {
        ROOTS.iter().find(|(root, _)| path.starts_with(root)).map(|(_, api)| *api)
    }
}

impl Documents {
    /// Loads the documents of a folder.
    ///
    /// # Errors
    /// One is missing.
    pub fn load(folder: &Path) -> Result<Documents> {
        Ok(Documents {
            calendar: oracle::load(folder, "calendar.v3")?,
            gmail: oracle::load(folder, "gmail.v1")?,
            people: oracle::load(folder, "people.v1")?,
            tasks: oracle::load(folder, "tasks.v1")?,
        })
    }

    fn of_api(&self, api: Api) -> &Discovery {
        match api {
            Api::Calendar => &self.calendar,
            Api::Gmail => &self.gmail,
            Api::People => &self.people,
            Api::Tasks => &self.tasks,
        }
    }
}

impl GoogleService {
    /// Carries out a call, with its request and its answer judged by the document.
    pub(super) fn answer_call(&self, state: &mut State, api: Api, ask: &Ask) -> Result<Reply, ApiError> {
        let token = oauth::authenticate(state, ask)?;
        limits(state, api, ask)?;
        let document = self.documents.of_api(api);
        let is_upload = ask.path.starts_with(upload::ROOT);
        let content = read_content(ask, is_upload)?;
        // The document has the paths without this beginning.
        let segments = ask.segments.get(usize::from(is_upload)..).unwrap_or_default();
        let judgement = document.request(&ask.method, segments, &ask.query, content.json.as_ref());
        let matched = judgement.map_err(|violation| self.refuse(violation))?;
        let method = matched.method;
        if is_upload {
            let most = document.upload_limit(method).ok_or_else(ApiError::not_found)?;
            upload::check_size(content.media.as_ref(), most)?;
        }
        if !method.scopes.iter().any(|scope| token.scopes.contains(scope)) {
            return Err(ApiError::scope_insufficient(&method.id));
        }
        if api == Api::Gmail {
            mail::charge(state, &token.user, &method.id)?;
        }
        let call = Call {
            user: token.user,
            path: matched.path,
            query: ask.query.clone(),
            headers: ask.headers.clone(),
            body: content.json.unwrap_or_else(|| Value::Object(serde_json::Map::new())),
            media: content.media,
            scopes: token.scopes,
            client: token.client,
        };
        if let (Some(mask), Some(schema)) = (call.parameter("fields"), document.response_schema(method)) {
            fields::check(mask, document.schemas(), schema)?;
        }
        let answer = dispatch(state, api, &method.id, &call)?;
        if let Err(violation) = document.answer(method, answer.as_ref()) {
            let text = format!("the fake's own answer is wrong: {violation}");
            eprintln!("{text}");
            lock(&self.journal).violations.push(violation);
            return Ok(Reply::new(500).header("content-type", "text/plain").body(text));
        }
        let Some(value) = answer else { return Ok(Reply::new(204)) };
        let etag = value["etag"].as_str().map(str::to_owned);
        let value = match call.parameter("fields") {
            Some(mask) => fields::apply(mask, value)?,
            None => value,
        };
        let reply = Reply::json(200, &value).header("vary", "Origin");
        Ok(etag.iter().fold(reply, |reply, etag| reply.header("etag", etag)))
    }

    /// Keeps a violation by a request, and answers it.
    fn refuse(&self, violation: Violation) -> ApiError {
        let error = ApiError::new(400, "badRequest", &violation.to_string());
        lock(&self.journal).violations.push(violation);
        error
    }

    /// Carries out the calls of a batch of Gmail's, each with an outcome of its own.
    pub(super) fn answer_batch(&self, state: &mut State, ask: &Ask) -> Result<Reply, ApiError> {
        oauth::authenticate(state, ask)?;
        let parts = batch::read(ask)?;
        if state.traps.fires("batch_401") {
            state.authority.refuse_parts(ask);
        }
        let is_busy = state.traps.fires("batch_429");
        let mut answers = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let hits_limit = is_busy && (number % 2 == 1 || parts.len() == 1);
            let answer = match &part.ask {
                Err(error) => Err(error.clone()),
                Ok(inner) if state.authority.refuses_parts(inner) => Err(ApiError::unauthenticated()),
                Ok(_) if hits_limit => Err(batch::concurrent_requests()),
                Ok(inner) => match Api::from_path(&inner.path) {
                    Some(Api::Gmail) if !inner.path.starts_with(upload::ROOT) => {
                        self.answer_call(state, Api::Gmail, inner)
                    }
                    _ => Err(ApiError::named(404, "notFound", "Not Found")),
                },
            };
            answers.push((part.id.clone(), answer.unwrap_or_else(|error| error.reply())));
        }
        if state.traps.fires("batch_part_html")
            && let Some((_, last)) = answers.last_mut()
        {
            *last = faults::html();
        }
        if state.traps.fires("batch_part_missing") {
            answers.pop();
        }
        if state.traps.fires("batch_reversed") {
            answers.reverse();
        }
        Ok(batch::reply(&answers))
    }
}

fn read_content(ask: &Ask, is_upload: bool) -> Result<Content, ApiError> {
    if is_upload {
        let upload = upload::read(ask)?;
        return Ok(Content { json: upload.json, media: Some(upload.media) });
    }
    let json = match ask.body.is_empty() {
        true => None,
        false => {
            let parsed = serde_json::from_slice(&ask.body);
            Some(parsed.map_err(|_| ApiError::new(400, "parseError", "Parse Error"))?)
        }
    };
    Ok(Content { json, media: None })
}

/// Limits of calls, in the spellings that integrators report.
fn limits(state: &mut State, api: Api, ask: &Ask) -> Result<(), ApiError> {
    let traps = &mut state.traps;
    if traps.fires("rate_limit_exceeded") {
        return Err(ApiError::limit(403, "rateLimitExceeded", "Rate Limit Exceeded"));
    }
    if traps.fires("user_rate_limit_exceeded") {
        return Err(ApiError::limit(403, "userRateLimitExceeded", "User Rate Limit Exceeded"));
    }
    if traps.fires("daily_limit_exceeded") {
        return Err(ApiError::limit(403, "dailyLimitExceeded", "Daily Limit Exceeded"));
    }
    if api == Api::Calendar && traps.fires("queries_per_minute") {
        return Err(ApiError::queries_per_minute());
    }
    // Reads go on.
    if api == Api::Calendar && ask.method != "GET" && traps.fires("usage_limits") {
        return Err(ApiError::limit(403, "quotaExceeded", "Calendar usage limits exceeded."));
    }
    if api == Api::Calendar && traps.fires("not_a_calendar_user") {
        let message = "The user must be signed up for Google Calendar.";
        return Err(ApiError::new(403, "notACalendarUser", message));
    }
    if api == Api::Gmail && traps.fires("mail_not_enabled") {
        return Err(ApiError::named(400, "failedPrecondition", "Mail service not enabled"));
    }
    Ok(())
}

fn dispatch(state: &mut State, api: Api, id: &str, call: &Call) -> MethodResult {
    match api {
        Api::Calendar => dispatch_calendar(state, id, call),
        Api::Gmail => mail::dispatch(state, id, call),
        Api::People => people::dispatch(state, id, call),
        Api::Tasks => task_lists::dispatch(state, id, call),
    }
}

fn dispatch_calendar(state: &mut State, id: &str, call: &Call) -> MethodResult {
    match id.strip_prefix("calendar.").unwrap_or_default() {
        "calendarList.list" => calendars::list_entries(state, call),
        "calendarList.get" => calendars::get_entry(state, call),
        "calendarList.insert" => calendars::insert_entry(state, call),
        "calendarList.patch" => calendars::patch_entry(state, call),
        "calendarList.update" => calendars::update_entry(state, call),
        "calendarList.delete" => calendars::delete_entry(state, call),
        "calendarList.watch" => channels::watch_list(state, call),
        "calendars.get" => calendars::get_calendar(state, call),
        "calendars.insert" => calendars::insert_calendar(state, call),
        "calendars.patch" | "calendars.update" => calendars::patch_calendar(state, call),
        "calendars.delete" => calendars::delete_calendar(state, call),
        "colors.get" => calendars::get_colors(state, call),
        "settings.get" => calendars::get_setting(state, call),
        "settings.list" => calendars::list_settings(state, call),
        "settings.watch" => channels::watch_settings(state, call),
        "events.list" => event_lists::list(state, call),
        "events.instances" => event_lists::list_instances(state, call),
        "events.get" => events::get(state, call),
        "events.insert" => events::insert(state, call),
        "events.import" => events::import(state, call),
        "events.patch" => events::patch(state, call),
        "events.update" => events::update(state, call),
        "events.delete" => events::delete(state, call),
        "events.move" => events::move_event(state, call),
        "events.watch" => channels::watch_events(state, call),
        "channels.stop" => channels::stop(state, call),
        "freebusy.query" => busy::query(state, call),
        _ => Err(ApiError::new(501, "notImplemented", &format!("The fake has no {id}."))),
    }
}
