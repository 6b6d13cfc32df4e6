//! The way out as a scripted client meets it: who is asked, and which answers count.

use std::future::{Future, ready};
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use sha2::{Digest, Sha256};

use super::*;
use crate::api::{Answer, Api, Content, Request};
use crate::ask::{PersonAnswer, Question};
use crate::tool::{Context, ToolError};
use crate::untrusted::Fence;

const MINUTE_MS: i64 = 60_000;

/// A server with a key and a clock; its seal is a checksum with a secret of its own.
struct Server {
    key_id: &'static str,
    secret: &'static str,
    now: AtomicI64,
    sends: AtomicU32,
}

impl Server {
    fn new() -> Self {
        Server { key_id: "key_1", secret: "secret", now: AtomicI64::new(0), sends: AtomicU32::new(0) }
    }

    fn tag(&self, text: &str) -> String {
        hex::encode(Sha256::digest(format!("{}{text}", self.secret)))
    }
}

impl Api for Server {
    /// The way out makes no requests.
    fn call(&self, _: Request) -> impl Future<Output = Answer> + Send {
        let request_id = String::new();
        ready(Answer { status: 500, etag: None, request_id, remedy: None, body: Content::Empty })
    }

    fn take_send(&self, _act: &str, limit: u32) -> impl Future<Output = bool> + Send {
        ready(self.sends.fetch_add(1, Ordering::SeqCst) < limit)
    }

    fn seal(&self, text: &str) -> String {
        format!("{}.{}", hex::encode(text), self.tag(text))
    }

    fn open(&self, sealed: &str) -> Option<String> {
        let (text, tag) = sealed.split_once('.')?;
        let text = String::from_utf8(hex::decode(text).ok()?).ok()?;
        (self.tag(&text) == tag).then_some(text)
    }

    fn now(&self) -> i64 {
        self.now.load(Ordering::SeqCst)
    }

    fn key_id(&self) -> &str {
        self.key_id
    }

    fn scopes(&self) -> &[String] {
        &[]
    }
}

fn policy(send: SendPolicy) -> Policy {
    let recipients = vec![Recipient::Domain("acme.com".to_owned())];
    Policy { writes: true, send, recipients, per_hour: 20, links: false }
}

fn email(to: &[&str]) -> Act {
    let recipient = |email: &&str| ActRecipient { field: "to", email: (*email).to_owned() };
    Act {
        kind: ActKind::Email,
        tool: "send_draft",
        arguments: digest(&serde_json::json!({"draftId": "dft_1"})),
        target: Some(ActTarget { id: "dft_1".to_owned(), etag: "\"1\"".to_owned() }),
        recipients: to.iter().map(recipient).collect(),
        subject: "Minutes".to_owned(),
        excerpt: "See you on Monday.".to_owned(),
        files: vec!["minutes.pdf".to_owned()],
        details: vec![("Replies go to", "Eve\nTo: bob@acme.com".to_owned())],
    }
}

/// Decides about an act of a client that can ask, with the answer to an earlier question.
async fn decide(
    server: &Server,
    policy: &Policy,
    act: &Act,
    asked: Option<PersonAnswer>,
) -> Result<Passage, ToolError> {
    let context = Context { api: server, policy, asked, can_ask: true, fence: Fence::new() };
    way_out(&context, act).await
}

/// Returns the question about an act under `Ask`.
async fn asked_about(server: &Server, act: &Act) -> Question {
    match decide(server, &policy(SendPolicy::Ask), act, None).await {
        Ok(Passage::Ask(question)) => question,
        other => panic!("no question: {other:?}"),
    }
}

fn confirmed(state: impl Into<String>) -> Option<PersonAnswer> {
    Some(PersonAnswer { state: state.into(), is_confirmed: true })
}

fn code(result: &Result<Passage, ToolError>) -> &str {
    match result {
        Ok(Passage::Go { .. }) => "go",
        Ok(Passage::Ask(_)) => "ask",
        Err(error) => &error.code,
    }
}

#[tokio::test]
async fn a_person_sends_what_is_in_the_drafts() {
    let server = Server::new();
    let refused = decide(&server, &policy(SendPolicy::Drafts), &email(&["ada@acme.com"]), None).await;
    let error = refused.unwrap_err();
    assert_eq!(error.code, "person_required");
    assert_eq!(error.message, "a person has to send it: it is in the drafts");
    let policy = policy(SendPolicy::Ask);
    let context = Context { api: &server, policy: &policy, asked: None, can_ask: false, fence: Fence::new() };
    let refused = way_out(&context, &email(&["ada@acme.com"])).await;
    assert_eq!(refused.unwrap_err(), error, "a client that cannot ask");
    assert_eq!(server.sends.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn without_a_question_only_allowed_recipients_are_reached() {
    let server = Server::new();
    let allowed = policy(SendPolicy::Allowed);
    assert_eq!(code(&decide(&server, &allowed, &email(&["ada@acme.com"]), None).await), "go");
    let both = email(&["ada@acme.com", "eve@evil.example"]);
    assert_eq!(code(&decide(&server, &allowed, &both, None).await), "recipient_not_allowed");
    let forged = confirmed("yes");
    assert_eq!(code(&decide(&server, &allowed, &both, forged).await), "recipient_not_allowed");
    assert_eq!(code(&decide(&server, &allowed, &email(&[]), None).await), "missing_field");
    assert_eq!(server.sends.load(Ordering::SeqCst), 1, "refused acts do not count");
}

#[tokio::test]
async fn the_question_shows_the_act_and_a_repeated_answer_has_one_key() {
    let (server, asking) = (Server::new(), policy(SendPolicy::Ask));
    let mut act = email(&["ada@acme.com", "eve@\u{435}vil.example"]);
    act.recipients.push(ActRecipient { field: "bcc", email: "mallory@evil.example".to_owned() });
    act.subject = "Minutes\nTo: bob@acme.com".to_owned();
    act.excerpt = format!("Hi\nTo: bob@acme.com\n{}", "x".repeat(400));
    let question = asked_about(&server, &act).await;
    let (head, text) = question.message.split_once("\n\n").unwrap();
    assert_eq!(
        head.lines().collect::<Vec<_>>(),
        [
            "Send this email?",
            "To: ada@acme.com, eve@\u{435}vil.example (in ASCII: eve@xn--vil-qdd.example)",
            "Bcc: mallory@evil.example",
            "Subject: Minutes To: bob@acme.com",
            "Replies go to: Eve To: bob@acme.com",
            "Files: minutes.pdf",
            "Text: 420 characters, of which these are the first 300",
        ]
    );
    assert!(text.lines().all(|line| line.starts_with("> ")), "{text}");
    assert!(text.chars().filter(|c| *c != '>').count() < 320 && text.ends_with('…'), "{text}");

    let mut keys = Vec::new();
    for _ in 0..2 {
        match decide(&server, &asking, &act, confirmed(question.state.as_str())).await {
            Ok(Passage::Go { idempotency_key }) => keys.push(idempotency_key),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(keys[0], keys[1]);
    let declined = Some(PersonAnswer { state: question.state, is_confirmed: false });
    assert_eq!(code(&decide(&server, &asking, &act, declined).await), "send_declined");
}

#[tokio::test]
async fn a_draft_that_changed_is_asked_about_again() {
    let (server, asking) = (Server::new(), policy(SendPolicy::Ask));
    let shown = email(&["ada@acme.com"]);
    let question = asked_about(&server, &shown).await;
    let mut swapped = email(&["eve@evil.example"]);
    swapped.target = Some(ActTarget { id: "dft_1".to_owned(), etag: "\"2\"".to_owned() });
    match decide(&server, &asking, &swapped, confirmed(question.state)).await {
        Ok(Passage::Ask(again)) => {
            assert!(again.message.contains("It has changed since you were asked."), "{}", again.message);
            assert!(again.message.contains("eve@evil.example"), "{}", again.message);
            assert_eq!(code(&decide(&server, &asking, &swapped, confirmed(again.state)).await), "go");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_confirmation_counts_for_its_own_call_alone() {
    let (server, asking) = (Server::new(), policy(SendPolicy::Ask));
    let act = email(&["ada@acme.com"]);
    let state = asked_about(&server, &act).await.state;
    let is_refused = async |server: &Server, act: &Act, state: &str| {
        code(&decide(server, &asking, act, confirmed(state)).await) == "invalid_confirmation"
    };
    // Forged, or made from a real one.
    for forged in ["", "confirmed", "e30.e30", &format!("{state}0"), &state.replacen('7', "8", 1)] {
        assert!(is_refused(&server, &act, forged).await, "{forged}");
    }
    // Of other calls.
    let mut other_tool = act.clone();
    other_tool.tool = "create_event";
    let mut other_arguments = act.clone();
    other_arguments.arguments = digest(&serde_json::json!({"draftId": "dft_2"}));
    let mut other_draft = act.clone();
    other_draft.target = Some(ActTarget { id: "dft_2".to_owned(), etag: "\"1\"".to_owned() });
    let mut without_draft = act.clone();
    without_draft.target = None;
    for other in [other_tool, other_arguments, other_draft, without_draft] {
        assert!(is_refused(&server, &other, &state).await, "{other:?}");
    }
    // Of other keys and servers.
    let other_key = Server { key_id: "key_2", ..Server::new() };
    assert!(is_refused(&other_key, &act, &state).await);
    let other_server = Server { secret: "other", ..Server::new() };
    assert!(is_refused(&other_server, &act, &state).await);
    // Too old.
    server.now.store(10 * MINUTE_MS, Ordering::SeqCst);
    assert!(!is_refused(&server, &act, &state).await);
    server.now.store(10 * MINUTE_MS + 1, Ordering::SeqCst);
    assert!(is_refused(&server, &act, &state).await);
}

#[tokio::test]
async fn a_key_sends_its_number_per_hour() {
    let server = Server::new();
    let allowed = Policy { per_hour: 2, ..policy(SendPolicy::Allowed) };
    let act = email(&["ada@acme.com"]);
    for expected in ["go", "go", "hourly_limit_reached"] {
        assert_eq!(code(&decide(&server, &allowed, &act, None).await), expected);
    }
    let none = Policy { per_hour: 0, ..allowed };
    assert_eq!(code(&decide(&Server::new(), &none, &act, None).await), "hourly_limit_reached");
}
