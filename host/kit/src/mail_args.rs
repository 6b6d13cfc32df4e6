//! The arguments of mail calls: content that becomes a blob of the call, hints of messages, and the steps of a submission.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use runtime::{Answer, Blobs, Progress};
use serde_json::Value;

/// The arguments that name a blob of the call. A case has the content there, in base64.
const CONTENTS: [&str; 2] = ["blob", "sentBlob"];
/// The header field that makes the messages of each run different ones. Some servers keep the same bytes only once.
const RUN: &str = "X-Switchboard-Kit";

/// Puts each content into a blob of the call, and adds the hints that the connector has given.
pub fn complete(args: &mut Value, blobs: &Blobs, hints: &HashMap<String, Value>, run: u64) {
    match args {
        Value::Array(values) => values.iter_mut().for_each(|value| complete(value, blobs, hints, run)),
        Value::Object(members) => {
            for name in CONTENTS {
                let content = members.get(name).and_then(Value::as_str);
                let Some(content) = content.and_then(|text| STANDARD.decode(text).ok()) else { continue };
                let message = [format!("{RUN}: {run}\r\n").into_bytes(), content].concat();
                let blob = blobs.create(&message, Some("message/rfc822".to_owned()));
                members.insert(name.to_owned(), blob.map_or(Value::Null, Value::String));
            }
            let id = members.get("source").and_then(Value::as_str);
            let hint = id.and_then(|id| hints.get(id)).cloned();
            let is_unset = members.get("hint").is_some_and(Value::is_null);
            if let Some(hint) = hint.filter(|_| is_unset) {
                members.insert("hint".to_owned(), hint);
            }
            members.values_mut().for_each(|value| complete(value, blobs, hints, run));
        }
        _ => {}
    }
}

/// Returns the hints in an answer, by the external ids of their sources.
pub fn find_hints(answer: &Answer) -> Vec<(String, Value)> {
    let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    let sources = body["sources"].as_array().into_iter().flatten();
    let hint = |source: &Value| {
        let items = source["items"].as_array()?;
        let hint = items.iter().map(|item| &item["hint"]).find(|hint| !hint.is_null())?;
        Some((source["externalId"].as_str()?.to_owned(), hint.clone()))
    };
    sources.filter_map(hint).collect()
}

/// The steps that a call has reported.
#[derive(Debug, Default)]
pub struct Steps(Mutex<Vec<String>>);

impl Steps {
    fn list(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().expect("no panic while noting a step")
    }

    /// Takes the steps since the last time, oldest first.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.list())
    }
}

#[async_trait]
impl Progress for Steps {
    async fn reached(&self, step: &str) -> anyhow::Result<()> {
        self.list().push(step.to_owned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn contents_become_blobs_and_hints_return() {
        let blobs = Blobs::default();
        let hints = HashMap::from([("m1".to_owned(), json!({ "part": 1 }))]);
        let mut args = json!({
            "blob": STANDARD.encode(b"A: \xff\r\n\r\n"), "sentBlob": null, "source": "m2", "hint": null,
            "replaces": { "source": "m1", "hint": null }, "messages": [{ "source": "m1" }],
        });
        complete(&mut args, &blobs, &hints, 7);
        let blob = blobs.get(args["blob"].as_str().unwrap()).unwrap();
        let message: &[u8] = b"X-Switchboard-Kit: 7\r\nA: \xff\r\n\r\n";
        assert_eq!(blob.read(0, 100).unwrap(), message);
        assert_eq!((blobs.count(), &args["sentBlob"], &args["hint"]), (1, &Value::Null, &Value::Null));
        assert_eq!(args["replaces"]["hint"], json!({ "part": 1 }));
        assert_eq!(
            args["messages"],
            json!([{ "source": "m1" }]),
            "only an argument of this name gets the hint"
        );
    }

    #[tokio::test]
    async fn steps_are_taken_in_order() {
        let steps = Steps::default();
        steps.reached("handed-over").await.unwrap();
        steps.reached("accepted").await.unwrap();
        assert_eq!(steps.take(), ["handed-over", "accepted"]);
        assert!(steps.take().is_empty());
    }
}
