//! `messages.update` and `messages.delete`.

use std::collections::BTreeMap;

use connector_sdk::{Context, Failure, Outcome};
use io_jmap::rfc8621::email::set::JmapEmailPatch;
use io_jmap::rfc8621::mailbox::JmapMailboxRole;
use model::wire::email::{MessageDelete, MessageUpdate};
use model::wire::{Mutated, Source, Warning};
use serde_json::{Value, json};

use crate::client::{Client, messages, set, summary, with};
use crate::folders::{self, Tree};
use crate::message;
use crate::protocol::answers::{GetResponse, Set};
use crate::protocol::email::{self, Email};
use crate::protocol::{Batch, failures};

/// The maximum number of attempts if the mailbox changes between reading and writing.
const ATTEMPTS: usize = 3;

/// The phrase that completes "the provider rejected ...".
const DOING: &str = "changing the message";

/// Changes the keywords and folders of a message.
pub fn update(cx: &Context, args: MessageUpdate) -> Outcome<Mutated> {
    if !args.add_labels.is_empty() || !args.remove_labels.is_empty() {
        return Err(Failure::unsupported("labels"));
    }
    let client = Client::new(cx)?;
    let id = message::id(&args.message.source)?;
    let change = Change::from_update(&args)?;
    let source = change_message(&client, &id, args.if_match.as_deref(), &change)?;
    let warnings = args.importance.map(|_| Warning {
        code: "field_not_supported".to_owned(),
        message: "the importance stands in the message and cannot be changed".to_owned(),
        target: Some("importance".to_owned()),
    });
    Ok(Mutated { sources: vec![source], warnings: warnings.into_iter().collect(), ..mutated_message(&id) })
}

fn mutated_message(id: &str) -> Mutated {
    Mutated { item: Some(message::external_id(id)), ..Mutated::default() }
}

/// The changes of a message.
struct Change {
    /// The keywords, and whether to set or remove them. A later entry for a keyword overrides an earlier one.
    keywords: Vec<(String, bool)>,
    /// The mailboxes that the message shall be in, replacing all others; none for no change.
    mailboxes: Option<BTreeMap<String, bool>>,
}

impl Change {
    fn from_update(args: &MessageUpdate) -> Outcome<Self> {
        let flags = [
            ("$seen", args.unread.map(|unread| !unread)),
            ("$flagged", args.starred),
            ("$answered", args.answered),
            ("$forwarded", args.forwarded),
        ];
        let flags = flags.into_iter().filter_map(|(name, is_set)| Some((name, is_set?)));
        let removed = args.remove_keywords.iter().map(|name| (name.as_str(), false));
        let added = args.add_keywords.iter().map(|name| (name.as_str(), true));
        let keywords = flags.chain(removed).chain(added).map(|(name, is_set)| Ok((keyword(name)?, is_set)));
        let mailboxes = match args.folders.as_deref() {
            Some([]) => return Err(Failure::invalid("a message must be in at least one folder")),
            Some(external_ids) => Some(set(folders::ids(external_ids)?)),
            None => None,
        };
        Ok(Change { keywords: keywords.collect::<Outcome<_>>()?, mailboxes })
    }

    /// Whether a keyword would need escapes in the path of a patch (RFC 6901 section 3). Some servers do not decode them, so all keywords
    /// are written instead.
    fn needs_all_keywords(&self) -> bool {
        self.keywords.iter().any(|(name, _)| name.contains(['~', '/']))
    }

    /// Returns the patch. `email` is the current message if all its keywords are needed.
    fn patch(&self, email: Option<&Email>) -> JmapEmailPatch {
        let patch = match &self.mailboxes {
            Some(mailboxes) => JmapEmailPatch::default().replace_mailbox_ids(mailboxes.clone()),
            None => JmapEmailPatch::default(),
        };
        let Some(email) = email.filter(|_| self.needs_all_keywords()) else {
            return self.keywords.iter().fold(patch, |patch, (name, is_set)| match is_set {
                true => patch.set_keyword(name),
                false => patch.unset_keyword(name),
            });
        };
        let mut keywords = set(email.keywords().map(str::to_owned));
        for (name, is_set) in &self.keywords {
            match is_set {
                true => keywords.insert(name.clone(), true),
                false => keywords.remove(name),
            };
        }
        patch.replace_keywords(keywords)
    }
}

/// Checks a keyword and returns it in lower case (RFC 8621 section 4.1.1).
pub fn keyword(name: &str) -> Outcome<String> {
    let is_allowed = |c: char| c.is_ascii_graphic() && !"(){]%*\"\\".contains(c);
    if name.is_empty() || name.len() > 255 || !name.chars().all(is_allowed) {
        return Err(Failure::invalid(
            "a keyword has 1 to 255 ASCII characters, no blanks and none of ( ) { ] % * \" \\",
        ));
    }
    Ok(name.to_ascii_lowercase())
}

/// Changes a message and reads it afterwards. With an etag the message is read first, and changed only if the state is still the same.
fn change_message(client: &Client, id: &str, etag: Option<&str>, change: &Change) -> Outcome<Source> {
    let is_read_first = etag.is_some() || change.needs_all_keywords();
    let mut attempts = 0;
    loop {
        attempts += 1;
        let args = match is_read_first {
            true => {
                let found = matching(client, id, etag)?;
                json!({ "update": { id: change.patch(Some(&found.email)) }, "ifInState": found.state })
            }
            false => json!({ "update": { id: change.patch(None) } }),
        };
        match attempt(client, id, &args) {
            Err(failure) if is_raced(&failure) && attempts < ATTEMPTS => {}
            outcome => return outcome,
        }
    }
}

fn attempt(client: &Client, id: &str, change: &Value) -> Outcome<Source> {
    let mut batch = client.batch();
    let set = batch.call("Email/set", change.clone());
    let get = batch.call("Email/get", with(&summary(), "ids", json!([id])));
    let answers = client.run(batch, DOING)?;
    answers.get::<Set>(&set)?.updated(id).map_err(|error| failures::of_object(&error))?;
    let source = messages(answers.get(&get)?).into_iter().next().map(message::whole);
    Ok(source.unwrap_or_else(|| message::deleted_source(id)))
}

/// A message and the state string of all messages.
pub struct Matching {
    pub state: String,
    pub email: Email,
}

/// Reads a message that a change is based on.
fn matching(client: &Client, id: &str, etag: Option<&str>) -> Outcome<Matching> {
    let mut batch = client.batch();
    let get = ask(&mut batch, id);
    let got = client.run(batch, DOING)?.get(&get)?;
    check(got, etag)
}

/// Adds a call that reads the changeable properties of a message.
pub fn ask(batch: &mut Batch, id: &str) -> crate::protocol::Call {
    batch.call("Email/get", with(&email::get(&email::STATE), "ids", json!([id])))
}

/// Returns the message of that call. Fails with `conflict` if it is not the version that the change is based on.
pub fn check(got: GetResponse, etag: Option<&str>) -> Outcome<Matching> {
    let state = got.state.clone();
    let email = messages(got).into_iter().next().and_then(Result::ok);
    let email =
        email.ok_or_else(|| Failure::not_found("there is no message with this id at the provider"))?;
    if etag.is_some_and(|etag| etag != message::etag(&email)) {
        return Err(Failure::conflict("the message has changed since it was read"));
    }
    Ok(Matching { state, email })
}

/// Moves a message to the trash. Destroys it if it is only in the trash, or if permanent deletion is requested.
pub fn delete(cx: &Context, args: MessageDelete) -> Outcome<Mutated> {
    let client = Client::new(cx)?;
    let id = message::id(&args.message.source)?;
    let mut attempts = 0;
    loop {
        attempts += 1;
        let outcome = delete_once(&client, &id, &args);
        match outcome {
            Err(failure) if is_raced(&failure) && attempts < ATTEMPTS => {}
            outcome => return outcome,
        }
    }
}

/// Whether the state changed between reading and writing; the message itself may be unchanged.
fn is_raced(failure: &Failure) -> bool {
    failure
        .detail
        .as_ref()
        .is_some_and(|detail| detail.get("type").is_some_and(|kind| kind == "stateMismatch"))
}

fn delete_once(client: &Client, id: &str, args: &MessageDelete) -> Outcome<Mutated> {
    let mut trash = None;
    let mut change = json!({});
    if !args.permanent || args.if_match.is_some() {
        let mut batch = client.batch();
        let get = ask(&mut batch, id);
        let all = folders::all(&mut batch);
        let answers = client.run(batch, DOING)?;
        let found = check(answers.get(&get)?, args.if_match.as_deref())?;
        let tree = Tree::from_answers(&answers, &all)?;
        let role = tree.with_role(&JmapMailboxRole::Trash);
        let is_there = found.email.mailboxes().eq(role);
        trash = role.filter(|_| !args.permanent && !is_there).map(str::to_owned);
        if args.if_match.is_some() {
            change = with(&change, "ifInState", json!(found.state));
        }
    }
    if let Some(trash) = trash {
        let patch = JmapEmailPatch::default().replace_mailbox_ids(set([trash]));
        let source = attempt(client, id, &with(&change, "update", json!({ id: patch })))?;
        return Ok(Mutated { sources: vec![source], ..mutated_message(id) });
    }
    let mut batch = client.batch();
    let call = batch.call("Email/set", with(&change, "destroy", json!([id])));
    let answer = client.run(batch, "deleting the message")?.get::<Set>(&call)?.destroyed(id);
    answer.map_err(|error| failures::of_object(&error))?;
    Ok(Mutated { sources: vec![message::deleted_source(id)], ..Mutated::default() })
}

#[cfg(test)]
mod tests {
    use model::wire::email::MessageUpdate;
    use serde_json::json;

    use super::Change;
    use crate::protocol::email::Email;

    #[test]
    fn an_update_becomes_a_patch() {
        let mut update = MessageUpdate {
            unread: Some(true),
            starred: Some(true),
            add_keywords: vec!["Blue".into()],
            remove_keywords: vec!["$Junk".into()],
            folders: Some(vec!["F:x".into(), "F:y".into()]),
            ..MessageUpdate::default()
        };
        let expected = json!({
            "keywords/$seen": null, "keywords/$flagged": true, "keywords/$junk": null, "keywords/blue": true,
            "mailboxIds": { "x": true, "y": true },
        });
        assert_eq!(json!(Change::from_update(&update).unwrap().patch(None)), expected);
        update.add_keywords = vec!["a/b~c".into()];
        update.folders = None;
        let change = Change::from_update(&update).unwrap();
        let email = json!({ "id": "e", "keywords": { "$seen": true, "$junk": true, "own": true } });
        let email: Email = serde_json::from_value(email).unwrap();
        assert!(change.needs_all_keywords());
        let expected = json!({ "keywords": { "own": true, "$flagged": true, "a/b~c": true } });
        assert_eq!(json!(change.patch(Some(&email))), expected);
    }

    #[test]
    fn impossible_updates_are_refused() {
        let refused = |update: MessageUpdate| {
            Change::from_update(&update).err().map(|failure| failure.code).unwrap_or_default()
        };
        assert_eq!(refused(MessageUpdate { folders: Some(Vec::new()), ..Default::default() }), "invalid");
        assert_eq!(
            refused(MessageUpdate { add_keywords: vec!["a b".into()], ..Default::default() }),
            "invalid"
        );
        assert_eq!(
            refused(MessageUpdate { add_keywords: vec![String::new()], ..Default::default() }),
            "invalid"
        );
        assert_eq!(
            refused(MessageUpdate { folders: Some(vec!["M:x".into()]), ..Default::default() }),
            "not-found"
        );
    }
}
