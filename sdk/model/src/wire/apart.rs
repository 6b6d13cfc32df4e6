//! Deserializes lists of a connector's answer element by element: an element that does not fit its type is an error of that element alone.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::{DeserializeOwned, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::wire::source::{ItemError, Source, SourceName};

/// The error code of a source that does not fit the type `Source`.
const BAD_OUTPUT: &str = "bad_output";

/// Deserializes sources. A malformed one keeps its id, if that can be read, and gets an error that names the field.
pub(super) fn sources<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Source>, D::Error> {
    each(deserializer, |text| {
        read(text).unwrap_or_else(|message| {
            let known = ReadableFields::from_json(text);
            let error = Some(ItemError { code: BAD_OUTPUT.to_owned(), message });
            Source { external_id: known.id, etag: known.etag, error, ..Source::default() }
        })
    })
}

/// Deserializes names of sources. A malformed one keeps the fields that can be read. The caller removes names without an id.
pub(super) fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<SourceName>, D::Error> {
    each(deserializer, |text| {
        read(text).unwrap_or_else(|_| {
            let known = ReadableFields::from_json(text);
            SourceName { external_id: known.id, etag: known.etag, deleted: false }
        })
    })
}

/// Reads the elements one by one, so that at most one is in memory as text.
fn each<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    element: impl Fn(&RawValue) -> T,
) -> Result<Vec<T>, D::Error> {
    struct Each<T, F>(F, PhantomData<T>);

    impl<'de, T, F: Fn(&RawValue) -> T> Visitor<'de> for Each<T, F> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
            let mut all = Vec::new();
            while let Some(text) = list.next_element::<Box<RawValue>>()? {
                all.push((self.0)(&text));
            }
            Ok(all)
        }
    }

    deserializer.deserialize_seq(Each(element, PhantomData))
}

/// Parses an element. The error names the field and the fault.
fn read<T: DeserializeOwned>(text: &RawValue) -> Result<T, String> {
    serde_json::from_str(text.get()).map_err(|e| {
        // Parse again to find the field's name, which would cost too much for valid elements.
        let again =
            serde_path_to_error::deserialize::<_, T>(&mut serde_json::Deserializer::from_str(text.get()));
        let path = again.err().map(|e| e.path().to_string()).filter(|path| path != ".");
        match path {
            Some(path) => format!("the connector's answer does not fit: {path}: {e}"),
            None => format!("the connector's answer does not fit: {e}"),
        }
    })
}

/// The readable fields of a malformed element.
#[derive(Default)]
struct ReadableFields {
    id: String,
    etag: Option<String>,
}

impl ReadableFields {
    fn from_json(text: &RawValue) -> ReadableFields {
        let Ok(fields) = serde_json::from_str::<HashMap<Cow<'_, str>, &RawValue>>(text.get()) else {
            return ReadableFields::default();
        };
        let text = |name: &str| fields.get(name).and_then(|text| serde_json::from_str(text.get()).ok());
        ReadableFields { id: text("externalId").unwrap_or_default(), etag: text("etag") }
    }
}

#[cfg(test)]
mod tests {
    use crate::wire::Sources;

    /// Malformed elements among valid ones: the valid ones are read, and a malformed one keeps its id if it has one.
    #[test]
    fn a_source_that_does_not_fit_is_an_error_of_its_own() {
        let odd = [
            (r#"{"externalId":"x","etag":7}"#, "x", "etag"),
            (r#"{"externalId":"x","etag":"1","deleted":"no"}"#, "x", "deleted"),
            (r#"{"externalId":"x","items":{}}"#, "x", "items"),
            (
                r#"{"externalId":"x","items":[{"externalId":"a","body":{}},{"externalId":[]}]}"#,
                "x",
                "items[1].externalId",
            ),
            (r#"{"externalId":"x","items":[null]}"#, "x", "items[0]"),
            (r#"{"externalId":"x","externalId":"x"}"#, "x", "externalId"),
            (r#"{"externalId":"x","error":"no"}"#, "x", "error"),
            (r#"{"externalId":7,"etag":"1"}"#, "", "externalId"),
            (r#"{"externalId":null}"#, "", "externalId"),
            ("null", "", ""),
            ("7", "", ""),
            (r#""text""#, "", ""),
        ];
        for (text, id, field) in odd {
            let answer = format!(
                r#"{{"sources":[{{"externalId":"a"}},{text},{{"externalId":"b"}}],"enumeration":true}}"#
            );
            let read: Sources = serde_json::from_str(&answer).unwrap();
            assert!(read.enumeration, "{text}");
            let ids: Vec<&str> = read.sources.iter().map(|s| s.external_id.as_str()).collect();
            assert_eq!(ids, ["a", id, "b"], "{text}");
            assert!(read.sources[0].error.is_none() && read.sources[2].error.is_none());
            let error = read.sources[1].error.as_ref().unwrap();
            assert!(error.code == "bad_output" && error.message.contains(field), "{text}: {}", error.message);
        }
    }

    #[test]
    fn a_name_that_does_not_fit_is_still_a_name() {
        let answer =
            r#"{"named":[{"externalId":"a"},{"externalId":"b","etag":[]},{"externalId":"c","deleted":1},7]}"#;
        let read: Sources = serde_json::from_str(answer).unwrap();
        let ids: Vec<&str> = read.named.iter().map(|s| s.external_id.as_str()).collect();
        assert_eq!(ids, ["a", "b", "c", ""]);
    }

    #[test]
    fn an_answer_that_is_none_stays_one() {
        for text in [r#"{"sources":{}}"#, r#"{"sources":7}"#, r#"{"sources":[{]}"#, "[7"] {
            assert!(serde_json::from_str::<Sources>(text).is_err(), "{text}");
        }
    }
}
