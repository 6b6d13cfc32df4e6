//! Messages that are sent: by which way, with what, and how far each has come.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use connector_microsoft::Microsoft;
use connector_sdk::http::{Response, SendError};
use connector_sdk::testing::response;
use connector_sdk::{Email as _, Failure, code};
use model::email::EmailAddress;
use model::wire::email::{MessageRef, MessageSend, Sent};
use serde_json::{Value, json};

use crate::desk::{Asked, Desk, empty, gone, ok, page, refused, status, whole};

const AT: &str = "2026-03-02T09:00:00Z";
const LETTER: &str = "From: ada@x.test\r\nTo: Bob <bob@x.test>\r\nCc: eve@x.test\r\nSubject: Hello\r\n\
    Message-ID: <own@x.test>\r\nIn-Reply-To: <q@x.test>\r\nContent-Type: text/plain; charset=utf-8\r\n\
    Content-Transfer-Encoding: quoted-printable\r\n\r\nGr=C3=BC=C3=9Fe\r\n";
const UPLOAD: &str = "https://outlook.office.com/api/v2.0/sessions/1";

fn order(desk: &Desk, content: &[u8]) -> MessageSend {
    let recipients = ["bob@x.test", "EVE@x.test", "hidden@x.test", "secret@y.test"];
    MessageSend {
        blob: desk.blob(content),
        internet_message_id: "own@x.test".to_owned(),
        from: EmailAddress { name: None, email: "Ada@x.test".to_owned() },
        recipients: recipients.map(str::to_owned).to_vec(),
        save_to_sent: true,
        ..MessageSend::default()
    }
}

fn draft(id: &str) -> Value {
    let mut draft = whole(id, AT, "drafts");
    draft["isDraft"] = json!(true);
    draft
}

/// Graph, which takes everything; the copy of a sent message has another Message-ID.
fn graph(asked: &Asked) -> Result<Response, SendError> {
    match asked.line().as_str() {
        "POST messages" => status(201, &draft("d1")),
        "POST messages/d1/send" | "POST sendMail" => empty(202),
        "GET messages/d1" => ok(&whole("d1", AT, "sent")),
        "GET mailFolders/sentitems" => ok(&json!({ "id": "sent" })),
        "PATCH messages/d1" => ok(&draft("d1")),
        "DELETE messages/d1" | "DELETE messages/old" | "POST messages/d1/permanentDelete" => empty(204),
        "GET messages" | "GET mailFolders/sentitems/messages" | "GET mailFolders/drafts/messages" => {
            ok(&page(&[]))
        }
        _ => gone(),
    }
}

/// The same but for a request that begins so.
fn graph_but(line: &'static str, answer: impl Fn() -> Result<Response, SendError> + 'static) -> Desk {
    Desk::new(move |asked| if asked.line().starts_with(line) { answer() } else { graph(asked) })
}

fn codes(sent: &Sent) -> Vec<&str> {
    sent.warnings.iter().map(|warning| warning.code.as_str()).collect()
}

/// Everything that Graph has to know is in the message, which has no envelope; quoted-printable would be damaged.
#[test]
fn bcc_is_sent_and_not_shown() {
    let desk = Desk::new(graph);
    let sent = Microsoft::send(&desk.context(), order(&desk, LETTER.as_bytes())).unwrap();
    assert_eq!(
        desk.steps.borrow().clone(),
        ["POST messages", "handed-over", "POST messages/d1/send", "accepted", "GET messages/d1"]
    );
    let mime = desk.asked_for("POST messages")[0].mime();
    assert!(
        mime.starts_with("X-Switchboard-Id: own@x.test\r\nBcc: hidden@x.test,\r\n secret@y.test\r\n"),
        "{mime}"
    );
    assert!(
        mime.contains("Content-Transfer-Encoding: base64\r\nFrom: ada@x.test\r\n")
            && mime.ends_with("\r\n\r\nR3LDvMOfZQ0K"),
        "{mime}"
    );
    assert!(mime.contains("In-Reply-To: <q@x.test>\r\n"), "threads are by the header");
    assert!(sent.recipients.len() == 4 && sent.recipients.iter().all(|one| one.accepted));
    assert_eq!((sent.internet_message_id.as_deref(), codes(&sent)), (Some("d1@x.test"), vec![]));
    assert_eq!((sent.sources.len(), sent.sources[0].external_id.as_str()), (1, "d1"));
}

#[test]
fn what_cannot_be_sent_is_not_handed_over() {
    let desk = Desk::new(graph);
    let letter = || order(&desk, LETTER.as_bytes());
    let nobody = MessageSend { recipients: Vec::new(), ..letter() };
    let few = MessageSend { recipients: vec!["bob@x.test".to_owned()], ..letter() };
    let mut odd = letter();
    odd.recipients.push("a@x.test\r\nSubject: other".to_owned());
    let lost = MessageSend { blob: "blob99".to_owned(), ..letter() };
    for (args, expected) in
        [(nobody, code::INVALID), (few, code::UNSUPPORTED), (odd, code::INVALID), (lost, code::INTERNAL)]
    {
        assert_eq!(Microsoft::send(&desk.context(), args).unwrap_err().code, expected);
    }
    assert_eq!(desk.steps.borrow().clone(), [""; 0]);
}

/// A message over the limit of the account is refused before Graph gets any of it, and the failure says how large it is.
#[test]
fn a_message_over_the_limit_is_not_handed_over() {
    for (access, size) in [("sendOnly", 2_000_001), ("read", 2_000_001), ("readWrite", 36_700_161)] {
        let desk = Desk::new(graph).with_access(access);
        let failure = Microsoft::send(&desk.context(), order(&desk, &vec![b'a'; size])).unwrap_err();
        assert_eq!(failure.code, code::INVALID, "{access}");
        assert!(failure.message.contains(&size.to_string()), "{access}: {}", failure.message);
        assert!(desk.take_steps().is_empty(), "{access}");
    }
}

/// Another address of the account is a member of the draft: Graph ignores the one in MIME.
#[test]
fn an_alias_is_set_on_the_draft() {
    let desk = Desk::new(graph);
    let from = EmailAddress { name: Some("Sales".to_owned()), email: "sales@x.test".to_owned() };
    let args = MessageSend { from, ..order(&desk, LETTER.as_bytes()) };
    Microsoft::send(&desk.context(), args.clone()).unwrap();
    let written = desk.asked_for("PATCH messages/d1")[0].json();
    assert_eq!(
        written,
        json!({ "from": { "emailAddress": { "address": "sales@x.test", "name": "Sales" } } })
    );
    let refusing = graph_but("PATCH", || refused(403, "ErrorAccessDenied"));
    let args = MessageSend { blob: refusing.blob(LETTER.as_bytes()), ..args };
    assert_eq!(Microsoft::send(&refusing.context(), args.clone()).unwrap_err().code, code::FORBIDDEN);
    assert_eq!(refusing.take_steps(), ["POST messages", "PATCH messages/d1", "DELETE messages/d1"]);
    // Where there are no drafts there are no aliases.
    let sending = Desk::new(graph).with_access("sendOnly");
    let args = MessageSend { blob: sending.blob(LETTER.as_bytes()), ..args };
    assert_eq!(Microsoft::send(&sending.context(), args).unwrap_err().code, code::UNSUPPORTED);
    assert!(sending.take_steps().is_empty());
}

/// The right to send alone is one request.
#[test]
fn an_account_that_only_sends_sends() {
    let desk = Desk::new(graph).with_access("sendOnly");
    let args = MessageSend {
        draft: Some(MessageRef { source: "old".to_owned(), hint: None }),
        save_to_sent: false,
        ..order(&desk, LETTER.as_bytes())
    };
    let sent = Microsoft::send(&desk.again(), args).unwrap();
    assert_eq!(desk.take_steps(), ["handed-over", "POST sendMail", "accepted"]);
    assert_eq!((codes(&sent), sent.sources.len()), (vec!["draft_kept", "field_not_supported"], 0));
    let large = order(&desk, &[b'a'; 2_000_001]);
    assert_eq!(Microsoft::send(&desk.context(), large).unwrap_err().code, code::INVALID);
    assert!(desk.take_steps().is_empty());
}

fn handed_over(failure: &Failure) -> Option<bool> {
    failure.detail.as_ref()?.get("handedOver")?.as_bool()
}

/// A message that Graph may have is not sent again, and the failure says so. Only 202 says that Graph has it.
#[test]
fn a_send_is_never_repeated() {
    let lost = |code: &'static str| Err(SendError::new(code, "lost"));
    let answers: [fn() -> Result<Response, SendError>; 6] = [
        || refused(500, "ErrorInternalServerError"),
        || refused(503, "ErrorServerBusy"),
        || refused(504, "UnknownError"),
        || refused(408, "UnknownError"),
        || empty(200),
        || Ok(response(302, &[("location", "https://x.test/")], "")),
    ];
    for answer in answers {
        let shown = format!("{:?}", answer());
        let desk = graph_but("POST messages/d1/send", answer);
        let failure = Microsoft::send(&desk.context(), order(&desk, LETTER.as_bytes())).unwrap_err();
        assert_eq!(handed_over(&failure), Some(true), "{shown}");
        assert_eq!(desk.take_steps(), ["POST messages", "handed-over", "POST messages/d1/send"], "{shown}");
    }
    for code in ["timeout", "unavailable", "too-large"] {
        let desk = graph_but("POST messages/d1/send", move || lost(code));
        let failure = Microsoft::send(&desk.context(), order(&desk, LETTER.as_bytes())).unwrap_err();
        assert_eq!(handed_over(&failure), Some(true), "{code}");
    }
}

/// Refusals, and requests that did not leave the host: the host may try again, and no draft is left.
#[test]
fn a_refusal_leaves_no_draft() {
    let refusals = [
        (403, "ErrorSendAsDenied", code::FORBIDDEN),
        (400, "ErrorInvalidRecipients", code::INVALID),
        (429, "ApplicationThrottled", code::RATE_LIMITED),
        (413, "ErrorMessageSizeExceeded", code::INVALID),
    ];
    for (status, reason, expected) in refusals {
        let desk = graph_but("POST messages/d1/send", move || refused(status, reason));
        let failure = Microsoft::send(&desk.context(), order(&desk, LETTER.as_bytes())).unwrap_err();
        assert_eq!((failure.code.as_str(), handed_over(&failure)), (expected, Some(false)), "{reason}");
        assert_eq!(desk.take_steps().last().unwrap(), "DELETE messages/d1");
    }
    let desk = graph_but("POST messages/d1/send", || Err(SendError::new("connect", "no")));
    let failure = Microsoft::send(&desk.context(), order(&desk, LETTER.as_bytes())).unwrap_err();
    assert_eq!(handed_over(&failure), Some(false));
    assert_eq!(desk.take_steps().last().unwrap(), "DELETE messages/d1");
}

/// A second attempt looks for the message, and deletes the draft that the first one left; the draft of the user is none of those.
#[test]
fn a_second_attempt_looks_first() {
    let marked = json!([{ "name": "X-Switchboard-Id", "value": "own@x.test" }]);
    let desk = graph_but("GET mailFolders/drafts/messages", move || {
        let left = json!({ "id": "left", "isDraft": true, "internetMessageHeaders": marked });
        let old = json!({ "id": "old", "isDraft": true, "internetMessageId": "<own@x.test>" });
        ok(&page(&[left, old]))
    });
    let user = Some(MessageRef { source: "old".to_owned(), hint: None });
    let args = MessageSend { draft: user.clone(), ..order(&desk, LETTER.as_bytes()) };
    let sent = Microsoft::send(&desk.again(), args).unwrap();
    let expected = [
        "GET messages",
        "GET mailFolders/sentitems/messages",
        "GET mailFolders/drafts/messages",
        "DELETE messages/left",
        "POST messages",
        "handed-over",
        "POST messages/d1/send",
        "accepted",
        "DELETE messages/old",
        "GET messages/d1",
    ];
    assert_eq!(desk.take_steps(), expected);
    assert!(sent.sources.iter().any(|source| source.external_id == "old" && source.deleted));
    // It went out the first time.
    let desk = graph_but("GET messages", || ok(&page(&[whole("s1", AT, "sent")])));
    let sent = Microsoft::send(&desk.again(), order(&desk, LETTER.as_bytes())).unwrap();
    assert_eq!(desk.take_steps(), ["GET messages", "handed-over", "accepted"]);
    assert_eq!(sent.sources[0].external_id, "s1");
}

/// The copy comes within seconds; one that is not there yet, or still a draft, is told by the changes.
#[test]
fn a_copy_that_is_late_is_no_failure() {
    for late in [gone as fn() -> Result<Response, SendError>, || ok(&draft("d1"))] {
        let desk = graph_but("GET messages/d1", late);
        let sent = Microsoft::send(&desk.context(), order(&desk, LETTER.as_bytes())).unwrap();
        assert_eq!((sent.sources.len(), codes(&sent)), (0, vec![]));
    }
    let desk = Desk::new(graph);
    let quiet = MessageSend { save_to_sent: false, ..order(&desk, LETTER.as_bytes()) };
    let sent = Microsoft::send(&desk.context(), quiet).unwrap();
    assert_eq!(desk.take_steps().last().unwrap(), "POST messages/d1/permanentDelete");
    assert!(sent.sources[0].deleted);
    // One that is still on its way would never arrive.
    let desk = graph_but("GET messages/d1", || ok(&whole("d1", AT, "outbox")));
    let quiet = MessageSend { save_to_sent: false, ..order(&desk, LETTER.as_bytes()) };
    let sent = Microsoft::send(&desk.context(), quiet).unwrap();
    assert_eq!(codes(&sent), ["sent_copy_kept"]);
    assert!(desk.asked_for("POST messages/d1/permanentDelete").is_empty());
}

/// A message with files of these sizes.
fn fat(sizes: &[usize]) -> Vec<u8> {
    let head = LETTER.split_once("Content-Type").unwrap().0;
    let mut message = format!("{head}MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n");
    message.push_str("--m\r\nContent-Type: text/plain\r\n\r\nHello\r\n");
    for (number, size) in sizes.iter().enumerate() {
        message.push_str(&format!(
            "--m\r\nContent-Type: application/x-data\r\nContent-Disposition: attachment; filename=f{number}.bin\r\n\
             Content-Transfer-Encoding: base64\r\n\r\n"
        ));
        // Three bytes are four characters: "AAAA" is three zeros.
        for line in vec!["AAAA"; size / 3].chunks(19) {
            message.push_str(&line.concat());
            message.push_str("\r\n");
        }
    }
    message.push_str("--m--\r\n");
    message.into_bytes()
}

/// The state of a session after these slices.
fn session_state(slices: &[String]) -> Value {
    let last = slices.last().and_then(|range| range.split(['-', '/']).nth(1)?.parse::<usize>().ok());
    json!({ "nextExpectedRanges": [format!("{}-", last.map_or(0, |last| last + 1))] })
}

/// Graph with upload sessions, whose slices are noted; `lost` slices are taken, but their answers do not come.
fn uploading(lost: usize) -> (Desk, Rc<RefCell<Vec<String>>>) {
    let ranges: Rc<RefCell<Vec<String>>> = Rc::default();
    let noted = Rc::clone(&ranges);
    let lost = Cell::new(lost);
    let desk = Desk::new(move |asked| match asked.line().as_str() {
        "POST messages/d1/attachments/createUploadSession" => {
            status(201, &json!({ "uploadUrl": format!("{UPLOAD}?token=t") }))
        }
        "POST messages/d1/attachments" => status(201, &json!({ "id": "a1" })),
        line if line.ends_with(UPLOAD) => {
            assert!(!asked.is_authorized && asked.parameter("token") == Some("t"));
            match asked.method.as_str() {
                "PUT" => {
                    noted.borrow_mut().push(asked.header("content-range").unwrap().to_owned());
                    if lost.get() > 0 {
                        lost.set(lost.get() - 1);
                        return Err(SendError::new("timeout", "lost"));
                    }
                    ok(&session_state(noted.borrow().as_slice()))
                }
                "GET" => ok(&session_state(noted.borrow().as_slice())),
                _ => empty(204),
            }
        }
        _ => graph(asked),
    });
    (desk, ranges)
}

/// The draft goes without its large files, which follow: small ones whole, large ones in slices without credentials.
#[test]
fn fat_mime_goes_by_uploads() {
    let (desk, ranges) = uploading(0);
    let message = fat(&[600_000, 30_000, 8_400_000]);
    let sent = Microsoft::send(&desk.context(), order(&desk, &message)).unwrap();
    assert_eq!(sent.sources.len(), 1);
    let put = format!("PUT {UPLOAD}");
    let expected = [
        "POST messages",
        "POST messages/d1/attachments",
        "POST messages/d1/attachments/createUploadSession",
        put.as_str(),
        put.as_str(),
        put.as_str(),
        "handed-over",
        "POST messages/d1/send",
        "accepted",
        "GET messages/d1",
    ];
    assert_eq!(desk.steps.borrow().clone(), expected);
    let mime = desk.asked_for("POST messages")[0].mime();
    assert!(mime.contains("f1.bin") && !mime.contains("f0.bin") && !mime.contains("f2.bin"));
    assert!(mime.contains("In-Reply-To: <q@x.test>") && mime.contains("Bcc: hidden@x.test"));
    let whole = desk.asked_for("POST messages/d1/attachments")[0].json();
    assert_eq!((&whole["name"], &whole["isInline"]), (&json!("f0.bin"), &json!(false)));
    assert_eq!(
        (&whole["@odata.type"], whole["contentBytes"].as_str().unwrap().len()),
        (&json!("#microsoft.graph.fileAttachment"), 800_000)
    );
    let session = desk.asked_for("POST messages/d1/attachments/createUploadSession")[0].json();
    let mut item =
        json!({ "attachmentType": "file", "name": "f2.bin", "size": 8_400_000, "isInline": false });
    item["contentType"] = json!("application/x-data");
    assert_eq!(session, json!({ "AttachmentItem": item }));
    assert_eq!(
        ranges.borrow().clone(),
        ["bytes 0-3932159/8400000", "bytes 3932160-7864319/8400000", "bytes 7864320-8399999/8400000"]
    );
}

/// A slice whose answer is lost is asked for, not sent again.
#[test]
fn a_lost_answer_of_a_slice_is_asked_for() {
    let (desk, ranges) = uploading(1);
    Microsoft::send(&desk.context(), order(&desk, &fat(&[4_500_000]))).unwrap();
    assert_eq!(ranges.borrow().len(), 2);
    assert_eq!(desk.take_steps().iter().filter(|step| step.starts_with("GET https")).count(), 1);
}

/// An upload that fails leaves neither a session nor a draft, and nothing is handed over.
#[test]
fn cut_upload_leaves_no_draft() {
    let desk = Desk::new(|asked| match asked.line().as_str() {
        "POST messages/d1/attachments/createUploadSession" => status(201, &json!({ "uploadUrl": UPLOAD })),
        line if line.starts_with("PUT") => refused(503, "UnknownError"),
        line if line.ends_with(UPLOAD) => empty(204),
        _ => graph(asked),
    });
    let failure = Microsoft::send(&desk.context(), order(&desk, &fat(&[4_500_000]))).unwrap_err();
    assert_eq!(failure.code, code::UNAVAILABLE);
    let steps = desk.take_steps();
    assert!(!steps.contains(&"handed-over".to_owned()), "{steps:?}");
    assert_eq!(&steps[steps.len() - 2..], [format!("DELETE {UPLOAD}"), "DELETE messages/d1".to_owned()]);
}

/// Near the limit of the two ways the other one is taken, where one is refused.
#[test]
fn a_file_that_is_too_small_for_a_session_goes_whole() {
    let desk = Desk::new(|asked| match asked.line().as_str() {
        "POST messages/d1/attachments/createUploadSession" => {
            refused(400, "ErrorAttachmentSizeShouldNotBeLessThanMinimumSize")
        }
        "POST messages/d1/attachments" => status(201, &json!({ "id": "a1" })),
        _ => graph(asked),
    });
    Microsoft::send(&desk.context(), order(&desk, &fat(&[3_000_000]))).unwrap();
    let whole = desk.asked_for("POST messages/d1/attachments").pop().unwrap();
    assert_eq!(whole.json()["contentBytes"].as_str().unwrap().len(), 4_000_000);
}
