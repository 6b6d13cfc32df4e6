//! Calls of Graph: each request and each answer is judged by the extract of Microsoft's client.

use bytes::Bytes;
use serde_json::Value;

use crate::door::{Ask, Reply};
use crate::faults::{self, What};
use crate::graph::batch::GraphPart;
use crate::graph::call::{GraphCall, is_json, normalized};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::prefer::Preferences;
use crate::graph::state::GraphState;
use crate::graph::{
    GraphService, batch, calendar, contacts, facts, lock, mail, me, oauth, scopes, subscriptions, todo,
};
use crate::oracle::{OdataMethod, OdataRequest, Side, Violation};

/// A call that the extract allows, with the method that its answer is judged by.
struct JudgedCall<'o> {
    call: GraphCall,
    method: &'o OdataMethod,
}

/// The owner of the data that a path leads to.
struct GraphPath {
    user: String,
    account_id: String,
    /// The path after `/me`, or the whole path of a subscription.
    rest: Vec<String>,
    /// The path as the extract has it.
    judged: Vec<String>,
}

/// Traps of the parts of a batch.
#[derive(Clone, Copy, Debug)]
struct PartTraps {
    throttles: bool,
    is_down: bool,
}

impl GraphService {
    /// Carries out a call with its answer judged.
    pub(super) async fn answer_call(&self, ask: &Ask) -> GraphResult {
        let is_create =
            ask.method == "POST" && ask.segments.get(1..).is_some_and(|path| path == ["subscriptions"]);
        if is_create {
            return self.subscribe(ask).await;
        }
        let mut state = lock(&self.state);
        let judged = self.judge(&mut state, ask)?;
        let reply = dispatch(&mut state, &judged.call)?;
        Ok(self.finish(&judged, reply))
    }

    /// Makes a subscription: its receiver is asked before the answer.
    async fn subscribe(&self, ask: &Ask) -> GraphResult {
        let (judged, subscription) = {
            let mut state = lock(&self.state);
            let judged = self.judge(&mut state, ask)?;
            let subscription = subscriptions::prepare(&mut state, &judged.call)?;
            (judged, subscription)
        };
        for (url, token) in subscriptions::handshakes(&subscription) {
            let kind = "text/plain; charset=utf-8";
            let sent = self
                .client
                .post(&url)
                .header("content-type", kind)
                .header("content-length", "0")
                .send()
                .await;
            let answer = sent.map_err(|_| subscriptions::unvalidated())?;
            let is_text = answer
                .headers()
                .get("content-type")
                .is_some_and(|kind| kind.as_bytes().starts_with(b"text/plain"));
            let is_right = answer.status().as_u16() == 200 && is_text;
            if !is_right || answer.text().await.unwrap_or_default() != token {
                return Err(subscriptions::unvalidated());
            }
        }
        let reply = subscriptions::insert(&mut lock(&self.state), &judged.call, subscription);
        Ok(self.finish(&judged, reply))
    }

    /// Carries out the calls of a batch, each with an outcome of its own.
    pub(super) async fn answer_batch(&self, ask: &Ask) -> GraphResult {
        let (parts, traps, is_reversed, lacks_last) = {
            let mut state = lock(&self.state);
            oauth::authenticate(&state, ask)?;
            let parts = batch::read(ask).map_err(|error| self.keep(error))?;
            if state.traps.fires("batch_401") {
                state.authority.refuse_parts(ask);
            }
            let traps = PartTraps {
                throttles: state.traps.fires("batch_429"),
                is_down: state.traps.fires("batch_part_503"),
            };
            (parts, traps, state.traps.fires("batch_reversed"), state.traps.fires("batch_part_missing"))
        };
        let mut answers: Vec<(String, Reply)> = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let succeeded =
                |id: &String| answers.iter().any(|(known, reply)| known == id && batch::succeeded(reply));
            let answer = match part.after.iter().all(succeeded) {
                true => {
                    self.answer_part(
                        part,
                        PartTraps {
                            throttles: traps.throttles && (number % 2 == 1 || parts.len() == 1),
                            is_down: traps.is_down && number == 0,
                        },
                    )
                    .await
                }
                false => Some(batch::failed_dependency()),
            };
            answers.extend(answer.map(|reply| (part.id.clone(), reply)));
        }
        if lacks_last {
            answers.pop();
        }
        Ok(batch::reply(answers, is_reversed))
    }

    /// The answer of a part; none where a fault swallows it.
    async fn answer_part(&self, part: &GraphPart, traps: PartTraps) -> Option<Reply> {
        let fault = faults::take(&mut lock(&self.journal).faults, &part.ask);
        if let Some(fault) = &fault
            && !fault.after
            && !matches!(fault.what, What::Slow(_))
        {
            return apply_to_part(&fault.what, Reply::new(200));
        }
        let is_refused = lock(&self.state).authority.refuses_parts(&part.ask);
        let answer = match traps {
            _ if is_refused => Err(GraphError::unauthenticated()),
            PartTraps { throttles: true, .. } => Err(GraphError::mailbox_concurrency()),
            PartTraps { is_down: true, .. } => Err(GraphError::new(503, "UnknownError", "")),
            _ if batch::is_batch(&part.ask.path) => Err(GraphError::no_route("$batch")),
            _ => self.answer_call(&part.ask).await,
        };
        let reply = answer.unwrap_or_else(|error| error.reply());
        match fault {
            Some(fault) => apply_to_part(&fault.what, reply),
            None => Some(reply),
        }
    }

    /// Checks a request: its token, its place, the extract, its scopes, and the limits that traps say.
    fn judge(&self, state: &mut GraphState, ask: &Ask) -> Result<JudgedCall<'_>, GraphError> {
        let token = oauth::authenticate(state, ask)?;
        let path = find_path(state, ask, &token.user)?;
        if ask.body.len() > facts::number("limits", "request_bytes") {
            return Err(GraphError::too_large());
        }
        let query: Vec<(String, String)> =
            ask.query.iter().filter(|(_, value)| !value.is_empty()).cloned().collect();
        let body = read_json(ask)?;
        let request =
            OdataRequest { verb: &ask.method, path: &path.judged, query: &query, body: body.as_ref() };
        let method = self.document.request(request).map_err(|violation| self.refuse(violation))?;
        let is_other = !ask.body.is_empty() && !is_json(&ask.headers);
        if is_other && !method.takes_mime() && !method.takes_bytes() {
            return Err(self.refuse(Violation {
                side: Side::Request,
                place: format!("{}: content-type", method.id),
                fault: "application/json expected".to_owned(),
            }));
        }
        let segments: Vec<&str> = path.rest.iter().map(String::as_str).collect();
        if segments == ["messages", "delta"] {
            let message = "Change tracking is not supported against 'microsoft.graph.message'.";
            return Err(self.refuse(Violation {
                side: Side::Request,
                place: method.id.clone(),
                fault: message.to_owned(),
            }));
        }
        let account = state.account(&path.user)?;
        if scopes::surface_of(&segments).is_some_and(|surface| account.absent.contains(surface)) {
            return Err(GraphError::mailbox_not_enabled());
        }
        limits(state, ask)?;
        // The settings are read with any kind of data.
        if let Some(surface) = scopes::surface_of(&segments).filter(|_| segments != ["mailboxSettings"]) {
            let now = state.clock.now_ms();
            state.surface_limits.count(&path.user, surface, now)?;
        }
        let call = GraphCall {
            user: path.user,
            account_id: path.account_id,
            method: ask.method.clone(),
            query,
            headers: ask.headers.clone(),
            content: ask.body.clone(),
            body: body.unwrap_or_default(),
            prefer: Preferences::read(&ask.headers),
            scopes: token.scopes,
            link_root: format!("{}/v1.0", state.link_origin),
            path: path.rest,
        };
        let needed = scopes::needed(&call.method, &call.segments());
        let is_subscription = call.path.first().is_some_and(|first| first == "subscriptions");
        match is_subscription || call.has_scope(needed) {
            true => Ok(JudgedCall { call, method }),
            false => Err(GraphError::access_denied()),
        }
    }

    /// Judges an answer, and adds the headers that every answer has.
    fn finish(&self, judged: &JudgedCall<'_>, reply: Reply) -> Reply {
        let is_json = reply
            .headers
            .iter()
            .any(|(name, value)| name == "content-type" && value.starts_with("application/json"));
        let body: Option<Value> = is_json.then(|| serde_json::from_slice(&reply.body).ok()).flatten();
        // Some calls answer 202 or 204 where the description has a body.
        let is_judged = reply.status < 300 && (body.is_some() || !matches!(reply.status, 202 | 204));
        if is_judged && let Err(violation) = self.document.answer(judged.method, body.as_ref()) {
            let text = format!("the fake's own answer is wrong: {violation}");
            eprintln!("{text}");
            lock(&self.journal).violations.push(violation);
            return Reply::new(500).header("content-type", "text/plain").body(text);
        }
        let reply = reply.header("request-id", "8a5f0e5c-0000-4000-8000-00000000fa4e");
        match judged.call.prefer.applied() {
            Some(applied) => reply.header("preference-applied", &applied),
            None => reply,
        }
    }

    /// Keeps a violation by a request, and answers it.
    fn refuse(&self, violation: Violation) -> GraphError {
        let error = GraphError::bad_request(&violation.to_string());
        lock(&self.journal).violations.push(violation);
        error
    }

    /// Keeps the error of a wrong batch as a violation.
    fn keep(&self, error: GraphError) -> GraphError {
        let violation =
            Violation { side: Side::Request, place: "POST $batch".to_owned(), fault: error.message.clone() };
        lock(&self.journal).violations.push(violation);
        error
    }
}

/// The answer of a part with a fault; none where it would be no answer.
fn apply_to_part(what: &What, reply: Reply) -> Option<Reply> {
    match what {
        What::Cut | What::Kill => None,
        what => Some(what.apply(reply)),
    }
}

/// Finds the owner of a path's data: the caller, by `me` or by an id.
fn find_path(state: &GraphState, ask: &Ask, user: &str) -> Result<GraphPath, GraphError> {
    let segments = normalized(ask.segments.get(1..).unwrap_or_default());
    let account = state.account(user)?;
    let rest: &[String] = match segments.as_slice() {
        [first, rest @ ..] if first == "me" => rest,
        [first, id, rest @ ..] if first == "users" => {
            let is_own =
                id == "me-token-to-replace" || *id == account.id || id.eq_ignore_ascii_case(&account.email);
            if !is_own {
                return Err(GraphError::access_denied());
            }
            rest
        }
        [first, ..] if first == "subscriptions" => &segments,
        _ => return Err(GraphError::no_route(segments.first().map(String::as_str).unwrap_or_default())),
    };
    let is_subscription = rest.first().is_some_and(|first| first == "subscriptions");
    let mut judged = match is_subscription {
        true => Vec::new(),
        false => vec!["users".to_owned(), account.id.clone()],
    };
    judged.extend_from_slice(rest);
    Ok(GraphPath { user: user.to_owned(), account_id: account.id.clone(), rest: rest.to_vec(), judged })
}

/// The body, where it is JSON.
fn read_json(ask: &Ask) -> Result<Option<Value>, GraphError> {
    let unreadable =
        || GraphError::new(400, "UnableToDeserializePostBody", "Unable to deserialize the post body.");
    let content: &Bytes = &ask.body;
    match content.is_empty() || !is_json(&ask.headers) {
        true => Ok(None),
        false => serde_json::from_slice(content).map(Some).map_err(|_| unreadable()),
    }
}

/// Refusals that any call may meet, in the spellings that integrators report.
fn limits(state: &mut GraphState, ask: &Ask) -> Result<(), GraphError> {
    let traps = &mut state.traps;
    let throttled = || GraphError::new(429, "TooManyRequests", "Too many requests.");
    if traps.fires("throttled") {
        return Err(throttled().header("retry-after", "10"));
    }
    if traps.fires("throttled_bare") {
        return Err(throttled());
    }
    if traps.fires("unknown_error_503") {
        return Err(GraphError::new(503, "UnknownError", ""));
    }
    if traps.fires("claims_challenge") {
        let challenge =
            "Bearer realm=\"\", error=\"insufficient_claims\", claims=\"eyJhY2Nlc3NfdG9rZW4iOnt9fQ==\"";
        let error = GraphError::new(
            401,
            "InvalidAuthenticationToken",
            "Continuous access evaluation resulted in challenge.",
        );
        return Err(error.header("www-authenticate", challenge));
    }
    // Reads go on.
    if ask.method != "GET" && traps.fires("account_suspended") {
        let message = "Account suspended. Follow the instructions in your Inbox to verify your account.";
        return Err(GraphError::new(403, "ErrorAccountSuspend", message));
    }
    Ok(())
}

fn dispatch(state: &mut GraphState, call: &GraphCall) -> GraphResult {
    match call.path.first().map(String::as_str).unwrap_or_default() {
        "subscriptions" => subscriptions::answer(state, call),
        "messages" | "mailFolders" | "sendMail" | "outlook" => mail::answer(state, call),
        "calendar" | "calendars" | "calendarGroups" | "calendarView" | "events" => {
            calendar::answer(state, call)
        }
        "contacts" | "contactFolders" => contacts::answer(state, call),
        "todo" => todo::answer(state, call),
        _ => me::answer(state, call),
    }
}
