//! Query strings as structs: a field is a parameter. The struct's schema is printed in the document, and its bounds are checked here.

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::HashMap;
use std::num::{IntErrorKind, ParseIntError};
use std::sync::{LazyLock, PoisonError, RwLock};

use base::error::{Code, Result, invalid};
use base::input::errors::parse_from;
use indexmap::IndexMap;
use model::{bounds, formats};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{BorrowedStrDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Error, IntoDeserializer, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};
use serde_json::Value;

/// A parameter of a query struct, with the bounds that its schema has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryField {
    pub name: String,
    max_chars: Option<u64>,
    max_entries: Option<u64>,
    minimum: Option<i64>,
    maximum: Option<i64>,
    form: Option<TextForm>,
    is_list: bool,
}

/// The form of a text, or of each entry of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextForm {
    Id,
    ProviderName,
}

impl TextForm {
    /// The form that texts have under this pattern of a schema; none for patterns that the fields' types check.
    fn of_pattern(pattern: &str) -> Option<Self> {
        match pattern {
            formats::Id::PATTERN => Some(TextForm::Id),
            formats::ProviderName::PATTERN => Some(TextForm::ProviderName),
            _ => None,
        }
    }

    fn is_match(self, text: &str) -> bool {
        match self {
            TextForm::Id => formats::Id::is_match(text),
            TextForm::ProviderName => formats::ProviderName::is_match(text),
        }
    }

    fn name(self) -> &'static str {
        match self {
            TextForm::Id => "an id: letters, digits and _",
            TextForm::ProviderName => "the name of a provider, such as google",
        }
    }
}

/// Fields of the query structs that were asked for so far.
static FIELDS: LazyLock<RwLock<HashMap<TypeId, &'static [QueryField]>>> = LazyLock::new(RwLock::default);

/// The parameters of a query struct. Its schema is made once per process.
pub fn fields<Q: JsonSchema + 'static>() -> &'static [QueryField] {
    let id = TypeId::of::<Q>();
    let known = FIELDS.read().unwrap_or_else(PoisonError::into_inner).get(&id).copied();
    if let Some(known) = known {
        return known;
    }
    let mut generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    let schema = Q::json_schema(&mut generator).to_value();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let made: Vec<QueryField> = properties.map(|(name, property)| QueryField::new(name, property)).collect();
    let made: &'static [QueryField] = made.leak();
    FIELDS.write().unwrap_or_else(PoisonError::into_inner).entry(id).or_insert(made)
}

impl QueryField {
    fn new(name: &str, property: &Value) -> Self {
        QueryField {
            name: name.to_owned(),
            max_chars: property["maxLength"].as_u64(),
            max_entries: property["maxItems"].as_u64(),
            minimum: property["minimum"].as_i64(),
            maximum: property["maximum"].as_i64(),
            form: property["pattern"]
                .as_str()
                .or_else(|| property["items"]["pattern"].as_str())
                .and_then(TextForm::of_pattern),
            is_list: property["type"] == "array",
        }
    }

    /// Checks the length and the form of a text or a list, and the range of an integer. The deserializer refuses a text that is no integer.
    fn check(&self, text: &str) -> Result<()> {
        let name = &self.name;
        let wrong = |message: String| Err(invalid(Code::InvalidParameter, name.clone(), message));
        if let Some(max) = self.max_chars.filter(|max| text.chars().count() as u64 > *max) {
            return wrong(format!("{name} may have at most {max} characters"));
        }
        if let Some(max) = self.max_entries.filter(|max| words(text).count() as u64 > *max) {
            return wrong(format!("{name} may have at most {max} entries"));
        }
        if let Some(form) = self.form {
            let entries: Vec<&str> = if self.is_list { words(text).collect() } else { vec![text] };
            if let Some(fault) = entries.into_iter().find(|entry| !form.is_match(entry)) {
                let fault: String = fault.chars().take(bounds::MAX_ID).collect();
                return wrong(format!("{name} must be {}; got {fault:?}", form.name()));
            }
        }
        let Ok(number) = integer(text) else { return Ok(()) };
        let is_low = self.minimum.is_some_and(|minimum| number < minimum);
        let is_high = self.maximum.is_some_and(|maximum| number > maximum);
        match (self.minimum, self.maximum) {
            (Some(minimum), Some(maximum)) if is_low || is_high => {
                wrong(format!("{name} must be from {minimum} to {maximum}"))
            }
            (Some(minimum), _) if is_low => wrong(format!("{name} must be at least {minimum}")),
            (_, Some(maximum)) if is_high => wrong(format!("{name} must be at most {maximum}")),
            _ => Ok(()),
        }
    }
}

/// Reads the parameters of `Q` from the texts of a query string, which have the names of its fields. Empty texts count as absent.
///
/// # Errors
/// `invalid_parameter` or `missing_field`, with the name of the parameter.
pub fn read<Q: DeserializeOwned + JsonSchema + 'static>(given: &IndexMap<String, String>) -> Result<Q> {
    let text = |name: &str| given.get(name).map(String::as_str).filter(|text| !text.is_empty());
    let mut present = Vec::new();
    for field in fields::<Q>() {
        if let Some(text) = text(&field.name) {
            field.check(text)?;
            present.push((field.name.as_str(), QueryText(text)));
        }
    }
    parse_from(MapDeserializer::<_, serde::de::value::Error>::new(present.into_iter()))
}

/// The integer of a text. One beyond the type is the largest or smallest of the type: bounds hold for it, and it is an integer.
fn integer(text: &str) -> std::result::Result<i64, ParseIntError> {
    text.parse().or_else(|e: ParseIntError| match e.kind() {
        IntErrorKind::PosOverflow => Ok(i64::MAX),
        IntErrorKind::NegOverflow => Ok(i64::MIN),
        _ => Err(e),
    })
}

/// The entries of a list that is separated by commas.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// The text of a parameter, which its field reads as a Boolean, an integer, a word, or words separated by commas.
#[derive(Clone, Copy)]
struct QueryText<'de>(&'de str);

impl<'de> IntoDeserializer<'de> for QueryText<'de> {
    type Deserializer = QueryText<'de>;

    fn into_deserializer(self) -> Self::Deserializer {
        self
    }
}

impl<'de> Deserializer<'de> for QueryText<'de> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => Err(Self::Error::invalid_type(Unexpected::Str(other), &visitor)),
        }
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match integer(self.0) {
            Ok(number) => visitor.visit_i64(number),
            Err(_) => Err(Self::Error::invalid_type(Unexpected::Str(self.0), &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_seq(SeqDeserializer::new(words(self.0).map(QueryText)))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        BorrowedStrDeserializer::new(self.0).deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct tuple tuple_struct map struct
        identifier ignored_any
    }
}

/// The words of `include`, which name parts that an answer has beside the usual ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IncludeList {
    has_provider_data: bool,
}

impl IncludeList {
    /// Whether the answer has the fields that the model has none for.
    pub fn has_provider_data(self) -> bool {
        self.has_provider_data
    }
}

impl<'de> Deserialize<'de> for IncludeList {
    // No list is made: a query string has room for many thousand words.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&str>::deserialize(deserializer)?;
        Ok(IncludeList { has_provider_data: text.split(',').any(|word| word.trim() == "providerData") })
    }
}

impl JsonSchema for IncludeList {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "IncludeList".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // Other words are ignored, so that it is no enum.
        json_schema!({ "type": "array", "items": { "type": "string", "examples": ["providerData"] } })
    }
}

/// The query string of an operation with `include` alone.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct IncludeQuery {
    /// Parts that the answer has beside the usual ones: `providerData` adds what the model has no field for. Other words are ignored.
    #[serde(default)]
    pub include: IncludeList,
}

/// The query string of a write with `strict` alone.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
pub struct StrictQuery {
    /// Whether the write is refused where the provider cannot do all of it, and where the body has unknown fields; otherwise the answer
    /// has warnings.
    #[serde(default)]
    pub strict: bool,
}

/// The query string of an operation with `connection_id` alone.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct ConnectionQuery {
    /// Returns only items of this connection; without it, items of all connections that the key may use.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    pub connection_id: Option<String>,
}

/// The query string of an operation on one connection, which `connection_id` names.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct RequiredConnectionQuery {
    /// The id of the connection.
    #[schemars(with = "formats::Id", length(max = bounds::MAX_ID))]
    pub connection_id: String,
}

/// The query string of an operation with `connection_id` and `include`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct ConnectionIncludeQuery {
    /// Returns only items of this connection; without it, items of all connections that the key may use.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    pub connection_id: Option<String>,
    /// Parts that the answer has beside the usual ones: `providerData` adds what the model has no field for. Other words are ignored.
    #[serde(default)]
    pub include: IncludeList,
}

#[cfg(test)]
mod tests {
    use base::error::Error;
    use model::formats::InstantOrDate;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Query {
        /// Required.
        name: String,
        #[schemars(length(max = 5))]
        q: Option<String>,
        #[schemars(range(min = 1, max = 9))]
        count: Option<i64>,
        #[serde(default)]
        all: bool,
        state: Option<State>,
        since: Option<InstantOrDate>,
        #[serde(default)]
        #[schemars(length(max = 2))]
        types: Vec<String>,
        #[serde(default)]
        #[schemars(with = "Vec<formats::Id>")]
        connections: Vec<String>,
        #[schemars(with = "Option<formats::ProviderName>")]
        provider: Option<String>,
        #[serde(default)]
        include: IncludeList,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    #[schemars(inline)]
    enum State {
        NotBegun,
        Done,
    }

    fn parsed(query: &[(&str, &str)]) -> Result<Query> {
        read(&query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    fn fault(query: &[(&str, &str)]) -> (Option<String>, String) {
        match parsed(query) {
            Err(Error::Refused(refusal)) => (refusal.param, refusal.message),
            other => panic!("not refused: {other:?}"),
        }
    }

    #[test]
    fn texts_become_the_values_of_the_fields() {
        let query = parsed(&[
            ("name", "Ada"),
            ("count", "9"),
            ("all", "true"),
            ("state", "notBegun"),
            ("since", "2026-03-01T10:00:00 01:00"),
            ("types", "a, b,,"),
            ("connections", "conn_1, conn_2"),
            ("provider", "google"),
            ("include", "x, providerData"),
            ("unknown", "x"),
        ])
        .expect("a query");
        assert_eq!((query.name.as_str(), query.count, query.all), ("Ada", Some(9), true));
        assert_eq!((query.state, query.types), (Some(State::NotBegun), vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!((query.connections.len(), query.provider.as_deref()), (2, Some("google")));
        assert!(query.include.has_provider_data());
        let nine: model::Instant = "2026-03-01T09:00:00Z".parse().expect("an instant");
        assert_eq!(query.since, Some(InstantOrDate(nine)));
        let midnight = parsed(&[("name", "Ada"), ("since", "2026-03-01"), ("q", "ééééé")]).expect("a query");
        assert_eq!(midnight.since.map(InstantOrDate::as_millis), Some(nine.as_millis() - 9 * 3_600_000));
        let empty = parsed(&[("name", "Ada"), ("count", ""), ("all", ""), ("q", "")]).expect("a query");
        assert_eq!((empty.count, empty.all, empty.q), (None, false, None));
        assert!(!empty.include.has_provider_data());
    }

    #[test]
    fn an_error_names_the_parameter_and_what_is_allowed() {
        let rows = [
            ("q", "éééééé", "q may have at most 5 characters"),
            ("count", "10", "count must be from 1 to 9"),
            ("count", "99999999999999999999", "count must be from 1 to 9"),
            ("types", "a,b,c", "types may have at most 2 entries"),
            (
                "connections",
                "conn_1,conn-2",
                "connections must be an id: letters, digits and _; got \"conn-2\"",
            ),
            ("provider", "0.5", "provider must be the name of a provider, such as google; got \"0.5\""),
            ("count", "many", "count must be an integer, such as 30; got \"many\""),
            ("all", "yes", "all must be true or false; got \"yes\""),
            ("state", "begun", "state must be one of notBegun, done; got \"begun\""),
            (
                "since",
                "12:00",
                "since: \"12:00\" is not an RFC 3339 instant with an offset, such as 2026-03-01T09:00:00Z",
            ),
        ];
        for (name, value, message) in rows {
            assert_eq!(fault(&[("name", "Ada"), (name, value)]), (Some(name.to_owned()), message.to_owned()));
        }
        assert_eq!(fault(&[("name", "")]), (Some("name".to_owned()), "name is required".to_owned()));
    }

    #[test]
    fn the_fields_are_those_of_the_schema() {
        let names: Vec<&str> = fields::<Query>().iter().map(|field| field.name.as_str()).collect();
        let wanted =
            ["name", "q", "count", "all", "state", "since", "types", "connections", "provider", "include"];
        assert_eq!(names, wanted);
        assert!(std::ptr::eq(fields::<Query>(), fields::<Query>()), "made once");
        let mut generator = SchemaGenerator::default();
        assert_eq!(IncludeQuery::json_schema(&mut generator).to_value()["required"], json!(null));
    }
}
