//! Changes of messages that are stored: flags and keywords.

use model::email::EmailMessage;
use model::wire::Source;
use runtime::Code;
use serde_json::{Value, json};

use crate::bench::{Bench, Outcome, Verdict, body, describe_error, ensure, failed};
use crate::cases::email::messages::MAIL;
use crate::cases::items::changes::now;
use crate::surface_bench::{Collection, ItemChange, optional, supported};

const STATE: &str = "changes reports each message once, as it is now: flags that changed come as a partial item with all that can change, or as the whole message";
/// A keyword of nobody else.
const KEYWORD: &str = "swkit-keyword";

/// The sources of a message since a cursor.
async fn since(
    bench: &mut Bench,
    folder: &Collection,
    cursor: Option<String>,
    id: &str,
) -> Outcome<Vec<Source>> {
    let pages = bench.items(&MAIL, folder, 0, cursor).await?;
    let sources = pages.into_iter().flat_map(|page| page.sources.sources);
    Ok(sources.filter(|source| source.external_id == id).collect())
}

/// Returns the value of a field in a source's item.
fn field(source: Option<&Source>, name: &str) -> Value {
    source.and_then(body::<Value>).unwrap_or_default()[name].clone()
}

/// `email.C2`: a message whose flags changed is reported once, as it is now.
pub async fn changed(bench: &mut Bench) -> Outcome {
    let folder = bench.collection(&MAIL).await?;
    let source = bench.create_named(&MAIL, &folder, "C2").await?;
    let cursor = now(bench, &MAIL, &folder).await?;
    let flags = json!({ "starred": true, "unread": false });
    let id = bench.update_item(&MAIL, &folder, &source, &flags, &MAIL.key("C2-after")).await?.external_id;
    let sources = since(bench, &folder, cursor, &id).await?;
    let (starred, unread) = (field(sources.last(), "starred"), field(sources.last(), "unread"));
    ensure(
        sources.len() == 1 && starred == true && unread == false,
        || {
            let times = sources.len();
            format!(
                "a message that was starred and read is reported {times} times, with starred {starred} and unread {unread}"
            )
        },
        STATE,
    )
}

/// `email.C4`: several changes of a message end in the last state.
pub async fn last_state(bench: &mut Bench) -> Outcome {
    let folder = bench.collection(&MAIL).await?;
    let cursor = now(bench, &MAIL, &folder).await?;
    let kept = bench.create_named(&MAIL, &folder, "C4-kept").await?;
    let gone = bench.create_named(&MAIL, &folder, "C4-gone").await?;
    for (number, starred) in [true, false, true].into_iter().enumerate() {
        let key = MAIL.key(&format!("C4-kept-{number}"));
        bench.update_item(&MAIL, &folder, &kept, &json!({ "starred": starred }), &key).await?;
    }
    bench
        .update_item(&MAIL, &folder, &gone, &json!({ "starred": true }), &MAIL.key("C4-gone-starred"))
        .await?;
    let deleted = bench.try_delete_item(&MAIL, &folder, &gone.external_id, &MAIL.key("C4-delete")).await;
    let is_deleted = optional(deleted, MAIL.delete_op)?.is_some();
    let sources = since(bench, &folder, cursor.clone(), &kept.external_id).await?;
    let starred = field(sources.last(), "starred");
    ensure(
        sources.len() == 1 && starred == true,
        || {
            format!(
                "a message that came and was starred last is reported {} times, with starred {starred}",
                sources.len()
            )
        },
        STATE,
    )?;
    let sources = since(bench, &folder, cursor, &gone.external_id).await?;
    ensure(
        !is_deleted || sources.last().is_none_or(|source| source.deleted),
        || "a message that came, changed and was deleted ends as existing".to_owned(),
        STATE,
    )
}

/// `email.W3`: a change of one flag keeps the rest.
pub async fn keeps_the_rest(bench: &mut Bench) -> Outcome {
    const HELP: &str =
        "change the flags that the call names (IMAP +FLAGS, a JMAP patch), never the list of all";
    let folder = bench.collection(&MAIL).await?;
    let source = bench.create_named(&MAIL, &folder, "W3").await?;
    let first = json!({ "answered": true, "unread": false });
    let source = bench.update_item(&MAIL, &folder, &source, &first, &MAIL.key("W3-first")).await?;
    let before = bench.read_body(&MAIL, &folder, &source.external_id).await?;
    let starred = json!({ "starred": true });
    let source = bench.update_item(&MAIL, &folder, &source, &starred, &MAIL.key("W3-after")).await?;
    let after = bench.read_body(&MAIL, &folder, &source.external_id).await?;
    ensure(after["starred"] == true, || "a message that was starred is not starred".to_owned(), HELP)?;
    let fields = before.as_object().into_iter().flatten();
    let differ: Vec<String> = fields
        .filter(|(name, value)| *name != "starred" && after[name.as_str()] != **value)
        .map(|(name, value)| format!("{name} was {value}, and is {}", after[name.as_str()]))
        .collect();
    ensure(differ.is_empty(), || format!("a star also changed: {}", differ.join("; ")), HELP)
}

/// `email.W4`: a change of an older version is rejected.
pub async fn stale_etag(bench: &mut Bench) -> Outcome {
    const HELP: &str = "compare ifMatch with the message's version in the write itself, or before it; another version is failure conflict";
    let folder = bench.collection(&MAIL).await?;
    let source = bench.create_named(&MAIL, &folder, "W4").await?;
    let source = bench.read_item(&MAIL, &folder, &source.external_id).await?;
    let Some(etag) = source.etag.clone() else {
        return Err(Verdict::NotApplicable("the connector's messages have no etag".to_owned()));
    };
    let change =
        |fields: &Value| ItemChange { if_match: Some(etag.clone()), ..ItemChange::update(&source, fields) };
    let first = change(&json!({ "starred": true }));
    let done = bench.try_write_item(&MAIL, &folder, first, &MAIL.key("W4-1")).await;
    supported(done, MAIL.update_op)?;
    let late = change(&json!({ "unread": false }));
    match bench.try_write_item(&MAIL, &folder, late, &MAIL.key("W4-2")).await {
        Err(error) if error.code == Code::Conflict => {}
        Err(error) => {
            return failed(format!("a change of an older version fails: {}", describe_error(&error)), HELP);
        }
        Ok(_) => return failed("a change of an older version is accepted", HELP),
    }
    let now = bench.read_message(&source.external_id, false, 0).await?;
    ensure(now.starred && now.unread, || "the rejected change was written".to_owned(), HELP)
}

/// A flag of a message: the change that sets it, the feature that it needs, and whether a message has it.
struct Flag {
    change: Value,
    /// None: every mailbox whose flags can be changed has it.
    feature: Option<&'static str>,
    is_set: fn(&EmailMessage) -> bool,
}

/// Returns flags, each followed by its opposite.
fn flags() -> [Flag; 6] {
    let flag = |change: Value, feature: Option<&'static str>, is_set: fn(&EmailMessage) -> bool| Flag {
        change,
        feature,
        is_set,
    };
    [
        flag(json!({ "starred": true }), None, |message| message.starred),
        flag(json!({ "starred": false }), None, |message| !message.starred),
        flag(json!({ "unread": false }), None, |message| !message.unread),
        flag(json!({ "unread": true }), None, |message| message.unread),
        flag(json!({ "addKeywords": [KEYWORD] }), Some("keywords"), |message| {
            message.keywords.iter().any(|word| word == KEYWORD)
        }),
        flag(json!({ "removeKeywords": [KEYWORD] }), Some("keywords"), |message| {
            !message.keywords.iter().any(|word| word == KEYWORD)
        }),
    ]
}

/// `M3`: flags and keywords come back.
pub async fn come_back(bench: &mut Bench) -> Outcome {
    const HELP: &str = "a flag that can be changed is read as it was written: in the answer, by messages.get, and in lower case";
    bench.needs_feature(&MAIL, "modifyFlags").await?;
    let features = bench.features(&MAIL).await?;
    let folder = bench.collection(&MAIL).await?;
    let mut source = bench.create_named(&MAIL, &folder, "M3").await?;
    let usable = |flag: &Flag| flag.feature.is_none_or(|feature| features[feature] == true);
    let flags: Vec<Flag> = flags().into_iter().filter(usable).collect();
    for (number, flag) in flags.iter().enumerate() {
        let key = MAIL.key(&format!("M3-{number}"));
        source = bench.update_item(&MAIL, &folder, &source, &flag.change, &key).await?;
        let read = bench.read_message(&source.external_id, false, 0).await?;
        ensure(
            (flag.is_set)(&read),
            || {
                let EmailMessage { starred, unread, keywords, .. } = &read;
                let change = &flag.change;
                format!(
                    "after {change} the message has starred {starred}, unread {unread}, keywords {keywords:?}"
                )
            },
            HELP,
        )?;
    }
    Ok(())
}
