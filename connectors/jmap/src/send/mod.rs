//! `messages.send` (RFC 8621 section 7): imports the message as a draft and submits it in one request, which moves it to the sent mailbox
//! once the server has accepted it.
//!
//! A submitted message never has a Bcc, because some servers deliver it. A copy with the Bcc replaces the sent one afterwards.

mod finish;
mod plan;

use std::collections::BTreeMap;

use connector_sdk::{Context, Failure, Outcome};
use io_jmap::rfc8621::email_submission::{JmapEmailAddressWithParameters, JmapEnvelope};
use io_jmap::rfc8621::identity::JmapIdentity;
use io_jmap::rfc8621::mailbox::JmapMailboxRole;
use model::wire::email::{MessageSend, Sent};
use serde_json::{Value, json};

use crate::client::Client;
use crate::folders::{self, Tree};
use crate::protocol::answers::{GetResponse, Set, SetError};
use crate::protocol::{Answers, Call, failures};
use crate::send::finish::{finish, outcome};
use crate::send::plan::{After, Sender, SubmissionState, after};
use crate::store::{self, IMPORTED};

/// The creation id of the submission.
const SUBMITTED: &str = "submission";

/// The phrase that completes "the provider rejected ...".
const DOING: &str = "sending the message";

/// The identities of an answer, without those that cannot be parsed.
pub fn identities(got: GetResponse) -> Vec<JmapIdentity> {
    got.list.iter().filter_map(|raw| serde_json::from_str(raw.get()).ok()).collect()
}

/// Hands a message over for delivery.
pub fn send(cx: &Context, args: MessageSend) -> Outcome<Sent> {
    let client = Client::new(cx)?;
    if !client.endpoint().submission {
        return Err(Failure::unsupported(
            "sending: the account has no submission (RFC 8621 section 7) at this server",
        ));
    }
    if args.recipients.is_empty() {
        return Err(Failure::invalid("the message has no recipients"));
    }
    let sender = sender(&client, &args)?;
    let blob_id = client.upload(&args.blob)?;
    let mut recipients: Vec<String> = args.recipients.clone();
    let mut refused = Vec::new();
    let mut earlier = None;
    cx.reached("handed-over");
    let submitted = loop {
        let submitted = submit(&client, &args, &sender, &blob_id, &recipients, earlier.take())?;
        let invalid = match &submitted.outcome {
            Ok(_) => break submitted,
            Err(error) => invalid_among(error, &recipients),
        };
        recipients.retain(|recipient| !invalid.contains(recipient));
        // Nothing was sent: retry without the recipients that the server refuses.
        if invalid.is_empty() || recipients.is_empty() {
            clean_up(&client, &submitted);
            refused.extend(invalid);
            return give_up(&args, submitted, &refused);
        }
        refused.extend(invalid);
        earlier = Some(submitted);
    };
    cx.reached("accepted");
    Ok(finish(&client, &args, sender, &submitted, &refused))
}

fn give_up(args: &MessageSend, submitted: SubmissionState, refused: &[String]) -> Outcome<Sent> {
    if refused.len() < args.recipients.len() {
        let mut failure = failures::of_object(&submitted.outcome.err().unwrap_or_default());
        // The server has refused, so the host need not look for a sent message.
        if let Some(Value::Object(detail)) = failure.detail.as_deref_mut() {
            detail.insert("handedOver".to_owned(), json!(false));
        }
        return Err(failure);
    }
    let recipients = args.recipients.iter().map(|email| outcome(email, refused, &BTreeMap::new())).collect();
    Ok(Sent { recipients, ..Sent::default() })
}

/// The recipients that the server refuses (RFC 8621 section 7.5). If it names none, or other addresses, all are meant.
fn invalid_among(error: &SetError, recipients: &[String]) -> Vec<String> {
    if error.kind != "invalidRecipients" {
        return Vec::new();
    }
    let named = error.invalid_recipients.as_deref().unwrap_or_default();
    let named: Vec<String> = named.iter().map(|one| mail::address::folded(one)).collect();
    let is_named = |recipient: &&String| named.contains(&mail::address::folded(recipient));
    let invalid: Vec<String> = recipients.iter().filter(is_named).cloned().collect();
    if invalid.is_empty() { recipients.to_vec() } else { invalid }
}

fn sender(client: &Client, args: &MessageSend) -> Outcome<Sender> {
    let mut batch = client.batch().with_submission();
    let get = batch.call("Identity/get", json!({ "ids": null }));
    let all = folders::all(&mut batch);
    let answers = client.run(batch, "reading the account's identities")?;
    let identities = identities(answers.get(&get)?);
    let identity = identity(&identities, &args.from.email);
    let identity =
        identity.ok_or_else(|| Failure::unsupported("sending: the account has no identity to send as"))?;
    let tree = Tree::from_answers(&answers, &all)?;
    let drafts = folders::ensure(client, &tree, JmapMailboxRole::Drafts, "Drafts")?;
    let sent = match args.save_to_sent {
        true => Some(folders::ensure(client, &tree, JmapMailboxRole::Sent, "Sent")?),
        false => None,
    };
    Ok(Sender { identity: identity.id.clone(), drafts, sent })
}

/// The identity of this address, else one for all addresses of its domain (RFC 8621 section 6.1), else one without an address, as some
/// servers have for every account. The server decides whether any other is acceptable.
fn identity<'a>(identities: &'a [JmapIdentity], from: &str) -> Option<&'a JmapIdentity> {
    let from = mail::address::folded(from);
    let any = from.rsplit_once('@').map(|(_, domain)| format!("*@{domain}"));
    let with =
        |wanted: &str| identities.iter().find(|identity| mail::address::folded(&identity.email) == wanted);
    with(&from).or_else(|| with(&any?)).or_else(|| with("")).or_else(|| identities.first())
}

fn submit(
    client: &Client,
    args: &MessageSend,
    sender: &Sender,
    blob_id: &str,
    recipients: &[String],
    earlier: Option<SubmissionState>,
) -> Outcome<SubmissionState> {
    let (known, existed) = match earlier {
        Some(earlier) => (Some(earlier.email), earlier.existed),
        None => (None, false),
    };
    let mut batch = client.batch().with_submission();
    let target = store::draft_target(client.cx, &sender.drafts.id);
    let import = known.is_none().then(|| store::ask_import(&mut batch, blob_id, &target));
    let reference = known.clone().unwrap_or_else(|| format!("#{IMPORTED}"));
    let patch = after(args, sender, known.as_deref().filter(|_| existed));
    let call = batch.call("EmailSubmission/set", submission(args, sender, &reference, recipients, &patch));
    let answers = client.run(batch, DOING)?;
    let email = match (known, import) {
        (Some(email), _) => email,
        (None, Some(import)) => match answers.get::<Set>(&import)?.created(IMPORTED) {
            Ok(email) => email,
            Err(error) => return with_existing(client, args, sender, recipients, error),
        },
        (None, None) => return Err(Failure::unavailable("there is no message to send")),
    };
    read_submitted(&answers, &call, email, existed)
}

/// Submits an existing message if the server already has these bytes, which is the draft to send.
fn with_existing(
    client: &Client,
    args: &MessageSend,
    sender: &Sender,
    recipients: &[String],
    error: Box<SetError>,
) -> Outcome<SubmissionState> {
    let Some(email) = error.existing_id.clone().filter(|_| error.kind == "alreadyExists") else {
        return Err(failures::of_object(&error));
    };
    let mut batch = client.batch().with_submission();
    let patch = after(args, sender, Some(&email));
    let call = batch.call("EmailSubmission/set", submission(args, sender, &email, recipients, &patch));
    let answers = client.run(batch, DOING)?;
    read_submitted(&answers, &call, email, true)
}

fn read_submitted(answers: &Answers, call: &Call, email: String, existed: bool) -> Outcome<SubmissionState> {
    let outcome = match answers.attempt::<Set>(call)? {
        Ok(mut set) => set.created(SUBMITTED),
        Err(error) => Err(Box::new(SetError {
            kind: error.kind,
            description: error.description,
            ..SetError::default()
        })),
    };
    let is_moved = answers
        .implied::<Set>(call, "Email/set")
        .is_some_and(|mut set| set.updated(&email).is_ok() || set.destroyed(&email).is_ok());
    Ok(SubmissionState { email, existed, outcome, is_moved })
}

/// Arguments of `EmailSubmission/set`.
fn submission(
    args: &MessageSend,
    sender: &Sender,
    email: &str,
    recipients: &[String],
    after: &After,
) -> Value {
    let address = |email: &str| JmapEmailAddressWithParameters { email: email.to_owned(), parameters: None };
    let envelope = JmapEnvelope {
        mail_from: address(&args.from.email),
        rcpt_to: recipients.iter().map(|recipient| address(recipient)).collect(),
    };
    let create =
        json!({ SUBMITTED: { "identityId": sender.identity, "emailId": email, "envelope": envelope } });
    let key = format!("#{SUBMITTED}");
    match after {
        After::Change(patch) => json!({ "create": create, "onSuccessUpdateEmail": { key: patch } }),
        After::Destroy => json!({ "create": create, "onSuccessDestroyEmail": [key] }),
        After::Keep => json!({ "create": create }),
    }
}

/// Removes what is left of a message that was not sent. Errors are ignored.
fn clean_up(client: &Client, submitted: &SubmissionState) {
    if !submitted.existed {
        let _ = store::destroy(client, &submitted.email);
    }
}

#[cfg(test)]
mod tests {
    use io_jmap::rfc8621::identity::JmapIdentity;
    use serde_json::json;

    use super::{identity, invalid_among};
    use crate::protocol::answers::SetError;

    #[test]
    fn the_identity_is_the_one_of_the_address() {
        let one = |id: &str, email: &str| json!({ "id": id, "name": "", "email": email });
        let list =
            json!([one("1", "other@a.test"), one("2", ""), one("3", "*@A.test"), one("4", "Ann@a.test")]);
        let all: Vec<JmapIdentity> = serde_json::from_value(list).unwrap();
        let chosen = |all: &[JmapIdentity], from: &str| identity(all, from).map(|one| one.id.clone());
        assert_eq!(chosen(&all, "ann@A.test").as_deref(), Some("4"));
        assert_eq!(chosen(&all, "bob@a.test").as_deref(), Some("3"));
        assert_eq!(chosen(&all, "bob@b.test").as_deref(), Some("2"));
        assert_eq!(chosen(&all[..1], "bob@b.test").as_deref(), Some("1"));
        assert_eq!(chosen(&[], "bob@b.test"), None);
    }

    #[test]
    fn refused_recipients_are_those_that_the_server_names() {
        let all = ["a@b".to_owned(), "c@d".to_owned()];
        let error = |kind: &str, names: Option<Vec<String>>| SetError {
            kind: kind.into(),
            invalid_recipients: names,
            ..SetError::default()
        };
        assert_eq!(invalid_among(&error("invalidRecipients", Some(vec!["C@D".into()])), &all), ["c@d"]);
        assert_eq!(invalid_among(&error("invalidRecipients", None), &all), all);
        assert!(invalid_among(&error("forbiddenFrom", None), &all).is_empty());
    }
}
