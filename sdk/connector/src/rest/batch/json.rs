//! Batches as JSON (OData JSON Format 4.01, section 19), as Microsoft Graph has them: each part is an object with a method, a URL relative
//! to the batch's folder, headers and a body, and each part of the answer one with a status.
//!
//! The id of a part, and of its answer, is the part's index, because answers come in any order. All parts use the credentials of the batch.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::error::{Failure, Outcome, code};
use crate::http::{Request, Response, Segment};
use crate::rest::batch::part::{Part, PartOrder, total_units};

/// The maximum number of parts of an answer that are read.
const MAX_PARTS: usize = 1_000;

/// Base64 with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A part as it is sent.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenPart<'a> {
    id: String,
    method: &'a str,
    url: &'a str,
    #[serde(skip_serializing_if = "Map::is_empty")]
    headers: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    depends_on: Vec<String>,
}

/// Returns the batch request with these parts. Its units are the sum of theirs. `root` is the URL of batches; the URLs of all parts are
/// below its folder. Fails with `internal` for a part that cannot be written: its URL is not below that folder, or its body is not JSON.
///
/// ```
/// use connector_sdk::http::Request;
/// use connector_sdk::rest::batch::{Part, PartOrder, odata};
///
/// let part = Part::new("a", Request::get("https://api.example.com/v1/things/a").units(5));
/// let request = odata("https://api.example.com/v1/$batch", &[part], PartOrder::Any).unwrap();
/// let text = String::from_utf8(connector_sdk::testing::body(&request)).unwrap();
/// assert_eq!(text, r#"{"requests":[{"id":"0","method":"GET","url":"/things/a"}]}"#);
/// ```
pub fn odata(root: &str, parts: &[Part], order: PartOrder) -> Outcome<Request> {
    let folder = root.rsplit_once('/').map_or(root, |(folder, _)| folder);
    let mut written = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        let part = write_part(folder, at, &part.request, order)?;
        written.push(serde_json::to_vec(&part).map_err(|_| unsendable())?);
    }
    let mut body = b"{\"requests\":[".to_vec();
    body.extend_from_slice(&written.join(&b','));
    body.extend_from_slice(b"]}");
    Ok(Request::post(root).body("application/json", body).units(total_units(parts)))
}

fn unsendable() -> Failure {
    Failure::new(code::INTERNAL, "a request cannot be part of a batch")
}

fn write_part<'a>(
    folder: &str,
    at: usize,
    request: &'a Request,
    order: PartOrder,
) -> Outcome<WrittenPart<'a>> {
    let url = request.url.strip_prefix(folder).filter(|url| url.starts_with('/')).ok_or_else(unsendable)?;
    let mut headers: Map<String, Value> = Map::new();
    for (name, value) in &request.headers {
        let joined = match headers.get(name.as_str()) {
            Some(Value::String(before)) => format!("{before}, {value}"),
            _ => value.clone(),
        };
        headers.insert(name.clone(), Value::String(joined));
    }
    let mut content = Vec::new();
    for segment in &request.body {
        match segment {
            Segment::Bytes(bytes) => content.extend_from_slice(bytes),
            _ => return Err(unsendable()),
        }
    }
    let body = if request.body.is_empty() {
        None
    } else {
        let text = String::from_utf8(content).map_err(|_| unsendable())?;
        Some(RawValue::from_string(text).map_err(|_| unsendable())?)
    };
    let before = at.checked_sub(1).filter(|_| order == PartOrder::InTurn);
    Ok(WrittenPart {
        id: at.to_string(),
        method: &request.method,
        url,
        headers,
        body,
        depends_on: before.map(|before| before.to_string()).into_iter().collect(),
    })
}

/// Reads the answer to a batch: the responses by the indices of their parts. A part that is malformed or truncated is left out. A body that
/// is not JSON comes as base64 and is decoded. Fails with `unavailable` if the answer is not a batch response.
pub fn read_odata(response: &Response) -> Outcome<BTreeMap<usize, Response>> {
    let mut batch = ReadBatch::default();
    let mut reader = serde_json::Deserializer::from_slice(&response.body);
    let read = BatchSeed(&mut batch).deserialize(&mut reader);
    if !batch.has_parts || read.is_err() && !response.truncated {
        return Err(Failure::unavailable("the provider's answer is not a batch response"));
    }
    let mut answers = BTreeMap::new();
    for part in batch.parts {
        if let Some((at, answer)) = read_part(part) {
            answers.entry(at).or_insert(answer);
        }
    }
    Ok(answers)
}

/// A part of an answer. Members of any type are accepted: a malformed part must not make the others unreadable.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ReadPart {
    id: Value,
    status: Value,
    headers: Value,
    body: Option<Box<RawValue>>,
}

/// The parts of an answer, as far as they could be read.
#[derive(Default)]
struct ReadBatch {
    parts: Vec<ReadPart>,
    has_parts: bool,
}

/// Reads an answer into a `ReadBatch`, which keeps the parts that were read before an error.
struct BatchSeed<'b>(&'b mut ReadBatch);

impl<'de> DeserializeSeed<'de> for BatchSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for BatchSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the member \"responses\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            if name == "responses" {
                map.next_value_seed(PartsSeed(&mut *self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Reads the list of parts.
struct PartsSeed<'b>(&'b mut ReadBatch);

impl<'de> DeserializeSeed<'de> for PartsSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for PartsSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of responses")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.0.has_parts = true;
        while let Some(part) = list.next_element::<ReadPart>()? {
            if self.0.parts.len() < MAX_PARTS {
                self.0.parts.push(part);
            }
        }
        Ok(())
    }
}

/// The response in a part, and the index of the request that it answers.
fn read_part(part: ReadPart) -> Option<(usize, Response)> {
    let at: usize = text_of(&part.id)?.parse().ok()?;
    let status: u16 = text_of(&part.status)?.parse().ok()?;
    let fields = part.headers.as_object().into_iter().flatten();
    let headers: Vec<(String, String)> =
        fields.filter_map(|(name, value)| Some((name.to_ascii_lowercase(), text_of(value)?))).collect();
    let mut response = Response { status, headers, ..Response::default() };
    if let Some(body) = part.body {
        let media_type = response.header("content-type").unwrap_or("application/json");
        response.body = read_body(&body, media_type);
    }
    (100..600).contains(&status).then_some((at, response))
}

/// The bytes of a body. A string is decoded as base64 if the media type is not JSON; a string that is not base64 is kept as it is.
fn read_body(body: &RawValue, media_type: &str) -> Vec<u8> {
    let bytes = body.get().as_bytes().to_vec();
    if media_type.to_ascii_lowercase().contains("json") {
        return bytes;
    }
    let Ok(text) = serde_json::from_str::<String>(body.get()) else { return bytes };
    BASE64.decode(text.replace('-', "+").replace('_', "/")).unwrap_or_else(|_| text.into_bytes())
}

/// A string, or a number as a string.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{odata, read_odata};
    use crate::error::code;
    use crate::http::{Request, Response, Segment};
    use crate::rest::batch::part::{Part, PartOrder};
    use crate::testing::{body, response};

    const ROOT: &str = "https://x.test/v1.0/$batch";

    fn answer(body: &str) -> Response {
        response(200, &[("content-type", "application/json")], body)
    }

    fn written(parts: &[Part], order: PartOrder) -> Value {
        serde_json::from_slice(&body(&odata(ROOT, parts, order).unwrap())).unwrap()
    }

    #[test]
    fn parts_are_whole_requests() {
        let get = Request::get("https://x.test/v1.0/me/a%2Fb?%24select=id").units(2);
        let get = get.header("prefer", "IdType=\"ImmutableId\"").header("prefer", "x");
        let change =
            Request::patch("https://x.test/v1.0/me/c").if_match(Some("\"e\"")).json(&json!({ "n": 1.50 }));
        let parts = [Part::new("a", get), Part::new("c", change)];
        let request = odata(ROOT, &parts, PartOrder::Any).unwrap();
        let expected = r#"{"requests":[{"id":"0","method":"GET","url":"/me/a%2Fb?%24select=id","headers":{"prefer":"IdType=\"ImmutableId\", x"}},{"id":"1","method":"PATCH","url":"/me/c","headers":{"if-match":"\"e\"","content-type":"application/json"},"body":{"n":1.5}}]}"#;
        assert_eq!(String::from_utf8(body(&request)).unwrap(), expected);
        assert_eq!(request.extra, [("units".to_owned(), "3".to_owned())]);
        let waiting = |order: PartOrder| written(&parts, order)["requests"][1]["dependsOn"].clone();
        assert_eq!((waiting(PartOrder::Any), waiting(PartOrder::InTurn)), (json!(null), json!(["0"])));
    }

    /// All parts get the credentials of the batch, so a part of another host or above the folder is refused.
    #[test]
    fn a_part_of_another_place_is_refused() {
        let blob =
            Request { body: vec![Segment::Blob("b".into())], ..Request::post("https://x.test/v1.0/a") };
        let rows = [
            Request::get("https://y.test/v1.0/a"),
            Request::get("https://x.test/beta/a"),
            Request::get("https://x.test/v1.0evil/a"),
            Request::post("https://x.test/v1.0/a").body("text/plain", "no JSON"),
            blob,
        ];
        for request in rows {
            let failure = odata(ROOT, &[Part::new("a", request.clone())], PartOrder::Any).unwrap_err();
            assert_eq!(failure.code, code::INTERNAL, "{request:?}");
        }
    }

    #[test]
    fn answers_come_in_any_order() {
        let read = read_odata(&answer(
            r#"{"@odata.context":"x","responses":[
                {"id":"1","status":404,"headers":{"Retry-After":"3","X":7},"body":{"error":{"code":"e"}}},
                {"status":200,"id":0,"body":{"id": "a","n":1.0}},
                {"id":"2","status":"204","headers":null,"body":null},
                {"id":"3","status":200,"headers":{"Content-Type":"image/jpeg"},"body":"_-8"},
                {"id":"4","status":200,"headers":{"Content-Type":"text/plain"},"body":"é"},
                {"id":"x","status":200},{"id":"5","status":9},{"id":"1","status":200}
            ]}"#,
        ));
        let read = read.unwrap();
        assert_eq!(read.keys().copied().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!((read[&0].status, read[&0].text().as_ref()), (200, r#"{"id": "a","n":1.0}"#));
        assert_eq!((read[&1].status, read[&1].header("retry-after")), (404, Some("3")));
        assert_eq!(read[&1].header("x"), Some("7"));
        assert_eq!((read[&2].status, read[&2].body.len()), (204, 0));
        assert_eq!(read[&3].body, [0xFF, 0xEF]);
        assert_eq!(read[&4].text(), "é");
    }

    #[test]
    fn a_part_that_is_cut_off_is_left_out() {
        let whole = r#"{"responses":[{"id":"0","status":200,"body":{"a":1}},{"id":"1","status":200,"body":{"b":2}}]}"#;
        assert_eq!(read_odata(&answer(whole)).unwrap().len(), 2);
        let cut = |end: &str| {
            let part = answer(whole.split(end).next().unwrap());
            assert_eq!(read_odata(&part).unwrap_err().code, code::UNAVAILABLE);
            read_odata(&Response { truncated: true, ..part }).map(|read| read.len())
        };
        assert_eq!(cut("2}").unwrap(), 1);
        assert_eq!(cut("1}").unwrap(), 0);
        assert_eq!(cut("responses").unwrap_err().code, code::UNAVAILABLE);
    }

    #[test]
    fn what_is_no_batch_is_a_failure() {
        for text in ["", "<html>", "[]", "{}", r#"{"responses":{}}"#, r#"{"responses":[7]}"#, "\u{0}"] {
            assert_eq!(read_odata(&answer(text)).unwrap_err().code, code::UNAVAILABLE, "{text}");
        }
        assert!(read_odata(&answer(r#"{"responses":[]}"#)).unwrap().is_empty());
    }
}
