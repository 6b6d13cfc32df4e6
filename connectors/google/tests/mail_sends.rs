//! Messages that are sent and found again, as Gmail gets them, with how far each has come.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod mail_desk;

use connector_google::Google;
use connector_sdk::http::SendError;
use connector_sdk::testing::response;
use connector_sdk::{Email as _, Failure, code};
use model::wire::Source;
use model::wire::email::{MessageFind, MessageSend, Sent};
use serde_json::{Value, json};

use mail_desk::{
    Answered, Desk, LETTER, OWN_ID, batch, metadata, ok, only, read, refused, saved_draft, taken, whole,
};

fn order(desk: &Desk) -> MessageSend {
    let recipients = ["bob@x.test", "EVE@x.test", "hidden@x.test", "secret@y.test"];
    MessageSend {
        blob: desk.blob(LETTER),
        internet_message_id: OWN_ID.to_owned(),
        recipients: recipients.map(str::to_owned).to_vec(),
        save_to_sent: true,
        ..MessageSend::default()
    }
}

fn in_thread(desk: &Desk) -> MessageSend {
    MessageSend { thread: Some("t1".to_owned()), ..order(desk) }
}

fn codes(sent: &Sent) -> Vec<&str> {
    sent.warnings.iter().map(|warning| warning.code.as_str()).collect()
}

/// Everything that Gmail has to know is in the message; it has no envelope.
#[test]
fn bcc_is_sent_and_not_shown() {
    let desk = Desk::new()
        .then("POST upload/messages/send?uploadType=multipart", taken())
        .then("GET messages/s1?format=full", ok(&whole("s1", &["SENT"])));
    let sent = Google::send(&desk.context(), in_thread(&desk)).unwrap();
    let steps = ["handed-over", "POST upload/messages/send", "accepted", "GET messages/s1"];
    assert_eq!(desk.steps.borrow().clone(), steps);
    let fields = "X-Switchboard-Id: own@x.test\r\nBcc: hidden@x.test,\r\n secret@y.test\r\n";
    assert_eq!(desk.upload(0), (json!({ "threadId": "t1" }), format!("{fields}{LETTER}")));
    assert_eq!(desk.units(0).as_deref(), Some("100"));
    assert!(sent.recipients.len() == 4 && sent.recipients.iter().all(|one| one.accepted));
    assert_eq!(sent.internet_message_id.as_deref(), Some("made@mail.gmail.com"));
    let copy = read(only(&sent.sources));
    assert_eq!((copy.folder_ids, codes(&sent)), (vec!["SENT".to_owned()], vec![]));
}

#[test]
fn what_cannot_be_sent_is_not_handed_over() {
    let desk = Desk::new();
    let nobody = MessageSend { recipients: Vec::new(), ..order(&desk) };
    let few = MessageSend { recipients: vec!["bob@x.test".to_owned()], ..order(&desk) };
    let mut odd = order(&desk);
    odd.recipients.push("a@x.test\r\nSubject: other".to_owned());
    let lost = MessageSend { blob: "blob99".to_owned(), ..order(&desk) };
    for (args, expected) in
        [(nobody, code::INVALID), (few, code::UNSUPPORTED), (odd, code::INVALID), (lost, code::INTERNAL)]
    {
        assert_eq!(Google::send(&desk.context(), args).unwrap_err().code, expected);
    }
    assert_eq!(desk.steps.borrow().clone(), [""; 0]);
}

fn handed_over(failure: &Failure) -> Option<bool> {
    failure.detail.as_ref()?.get("handedOver")?.as_bool()
}

/// A message that Gmail may have is not sent again, and the failure says so.
#[test]
fn a_send_is_never_repeated() {
    let lost = |code: &str| Err(SendError::new(code, "lost"));
    let answers = [
        refused(500, "backendError"),
        refused(502, "backendError"),
        refused(504, "backendError"),
        refused(408, "requestTimeout"),
        Ok(response(302, &[("location", "https://x.test/")], "")),
        lost("unavailable"),
        lost("timeout"),
        lost("too-large"),
    ];
    for answer in answers {
        let shown = format!("{answer:?}");
        let desk = Desk::new().then("POST upload/messages/send", answer);
        let failure = Google::send(&desk.context(), in_thread(&desk)).unwrap_err();
        assert_eq!(handed_over(&failure), Some(true), "{shown}");
        assert_eq!(desk.steps.borrow().clone(), ["handed-over", "POST upload/messages/send"]);
    }
}

/// Refusals, and requests that did not leave the host: the host may try again.
#[test]
fn a_refusal_says_that_nothing_was_handed_over() {
    let unsent = |code: &str, wait: Option<u32>| {
        Err(SendError { retry_after_ms: wait, ..SendError::new(code, "not sent") })
    };
    let answers = [
        (refused(400, "invalidArgument"), code::INVALID),
        (refused(403, "rateLimitExceeded"), code::RATE_LIMITED),
        (refused(403, "domainPolicy"), code::FORBIDDEN),
        (refused(429, "rateLimitExceeded"), code::RATE_LIMITED),
        (refused(503, "backendError"), code::UNAVAILABLE),
        (refused(401, "authError"), code::AUTH_EXPIRED),
        (unsent("connect", None), code::UNAVAILABLE),
        (unsent("auth-expired", None), code::AUTH_EXPIRED),
        (unsent("unavailable", Some(61_000)), code::UNAVAILABLE),
    ];
    for (answer, expected) in answers {
        let shown = format!("{answer:?}");
        let desk = Desk::new().then("POST upload/messages/send", answer);
        let failure = Google::send(&desk.context(), order(&desk)).unwrap_err();
        assert_eq!((handed_over(&failure), failure.code.as_str()), (Some(false), expected), "{shown}");
    }
}

/// A thread and a draft may be gone, or not be granted: a refusal is followed by the next way.
#[test]
fn a_message_outlives_its_thread_and_its_draft() {
    let desk = Desk::new()
        .then("POST upload/messages/send", refused(404, "notFound"))
        .then("POST upload/messages/send", taken())
        .then("GET messages/s1?", ok(&whole("s1", &["SENT"])));
    Google::send(&desk.context(), in_thread(&desk)).unwrap();
    assert_eq!((desk.upload(0).0, desk.upload(1).0), (json!({ "threadId": "t1" }), json!({})));

    // The right to send alone does not include drafts.
    let denied = || refused(403, "insufficientPermissions");
    let desk = Desk::new()
        .then("POST upload/drafts/send", denied())
        .then("POST upload/messages/send", taken())
        .then("GET messages/s1?", denied())
        .then("DELETE drafts/d1", denied());
    let args = MessageSend { draft: Some(saved_draft()), save_to_sent: false, ..in_thread(&desk) };
    let sent = Google::send(&desk.context(), args).unwrap();
    assert_eq!(codes(&sent), ["field_not_supported", "sent_copy_unknown", "draft_kept"]);
    assert!(sent.sources.is_empty() && sent.recipients.iter().all(|one| one.accepted));

    // A limit is none of the draft's: the message waits as it is.
    let desk = Desk::new().then("POST upload/drafts/send", refused(403, "userRateLimitExceeded"));
    let args = MessageSend { draft: Some(saved_draft()), ..in_thread(&desk) };
    assert_eq!(Google::send(&desk.context(), args).unwrap_err().code, code::RATE_LIMITED);
}

#[test]
fn a_draft_is_sent_in_one_request() {
    let desk = Desk::new()
        .then("POST upload/drafts/send?uploadType=multipart", taken())
        .then("GET messages/s1?format=full", ok(&whole("s1", &["SENT"])));
    let args = MessageSend { draft: Some(saved_draft()), ..in_thread(&desk) };
    let sent = Google::send(&desk.context(), args).unwrap();
    let (metadata, message) = desk.upload(0);
    assert_eq!(metadata, json!({ "id": "d1", "message": { "threadId": "t1" } }));
    assert!(message.starts_with("X-Switchboard-Id: ") && message.ends_with(LETTER));
    let told: Vec<_> = sent.sources.iter().map(|one| (one.external_id.as_str(), one.deleted)).collect();
    assert_eq!(told, [("s1", false), ("m1", true)]);
    // The message may go on under the draft's name.
    let desk = Desk::new()
        .then("POST upload/drafts/send", ok(&json!({ "id": "m1", "threadId": "t1" })))
        .then("GET messages/m1?format=full", ok(&whole("m1", &["SENT"])));
    let args = MessageSend { draft: Some(saved_draft()), ..order(&desk) };
    let sent = Google::send(&desk.context(), args).unwrap();
    assert!(!only(&sent.sources).deleted);
}

fn find(desk: &Desk) -> Result<Vec<Source>, Failure> {
    let args = MessageFind { internet_message_id: OWN_ID.to_owned() };
    Google::find_message(&desk.context(), args).map(|found| found.sources)
}

fn list(ids: &[&str]) -> Answered {
    let messages: Vec<Value> = ids.iter().map(|id| json!({ "id": id })).collect();
    ok(&json!({ "messages": messages }))
}

/// Gmail gives the message another Message-ID: what was sent is found by our own field.
#[test]
fn a_replaced_message_id_is_found() {
    let desk = Desk::new()
        .then("GET messages?q=rfc822msgid:own@x.test&", ok(&json!({ "resultSizeEstimate": 0 })))
        .then("GET messages?labelIds=SENT&maxResults=25", list(&["s2", "s1"]))
        .then(
            "POST batch",
            batch(&[
                Some(metadata("s2", &["SENT"], "X-Switchboard-Id", "another@x.test")),
                Some(metadata("s1", &["SENT"], "x-switchboard-id", "own@x.test")),
            ]),
        )
        .then("GET messages/s1?format=full", ok(&whole("s1", &["SENT"])));
    assert_eq!(only(&find(&desk).unwrap()).external_id, "s1");
    // A draft with the same Message-ID was not sent.
    let desk = Desk::new()
        .then("GET messages?q=", list(&["d5", "s1"]))
        .then("GET messages/d5?", ok(&whole("d5", &["DRAFT"])))
        .then("GET messages/s1?", ok(&whole("s1", &["SENT"])));
    assert_eq!(only(&find(&desk).unwrap()).external_id, "s1");
}

#[test]
fn not_seeing_all_is_not_having_seen_it() {
    let desk = Desk::new()
        .then("GET messages?q=", list(&[]))
        .then("GET messages?labelIds=SENT", list(&["s2", "s1"]))
        .then("POST batch", batch(&[None, None]))
        .then("POST batch", batch(&[None, None]));
    assert_eq!(find(&desk).unwrap_err().code, code::UNAVAILABLE);
    let desk = Desk::new()
        .then("GET messages?q=", list(&[]))
        .then("GET messages?labelIds=SENT", list(&["s1"]))
        .then("POST batch", batch(&[Some(metadata("s1", &["SENT"], "X-Switchboard-Id", "another@x.test"))]));
    assert_eq!(find(&desk).unwrap(), []);
}

/// A message may have been sent though the answer said otherwise: a later attempt looks for it.
#[test]
fn a_later_attempt_looks_before_it_sends() {
    let desk = Desk::new()
        .then("GET messages?q=", list(&[]))
        .then("GET messages?labelIds=SENT", list(&["s1"]))
        .then("POST batch", batch(&[Some(metadata("s1", &["SENT"], "X-Switchboard-Id", OWN_ID))]))
        .then("GET messages/s1?", ok(&whole("s1", &["SENT"])))
        .then("DELETE drafts/d1", refused(404, "notFound"));
    let args = MessageSend { draft: Some(saved_draft()), ..in_thread(&desk) };
    let sent = Google::send(&desk.again(), args).unwrap();
    assert_eq!((sent.sources.len(), sent.internet_message_id.as_deref()), (2, Some("made@mail.gmail.com")));
    let uploads = desk.steps.borrow().iter().filter(|step| step.contains("upload")).count();
    assert_eq!(uploads, 0);
    // It is not there, or the account lets this connector send alone.
    for first in [list(&[]), refused(403, "insufficientPermissions")] {
        let is_read = first.as_ref().unwrap().status == 200;
        let mut desk = Desk::new().then("GET messages?q=", first);
        if is_read {
            desk = desk.then("GET messages?labelIds=SENT", list(&[]));
        }
        let desk = desk
            .then("POST upload/messages/send", taken())
            .then("GET messages/s1?", ok(&whole("s1", &["SENT"])));
        Google::send(&desk.again(), order(&desk)).unwrap();
    }
}
