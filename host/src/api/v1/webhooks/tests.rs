//! Tests of the description of webhooks: its patterns are those that the validators accept.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use model::webhook::WebhookSubscription;
use regex::Regex;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use service::webhooks::notification_types::is_known;
use service::webhooks::sign::parse_secret;

fn properties() -> Value {
    let generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    generator.into_root_schema_for::<WebhookSubscription>().to_value()["properties"].take()
}

fn pattern(schema: &Value) -> Regex {
    Regex::new(schema["pattern"].as_str().expect("a pattern")).expect("a regular expression")
}

#[test]
fn event_types_match_the_pattern() {
    let pattern = pattern(&properties()["eventTypes"]["items"]);
    for name in
        ["*", "calendar.*", "calendar.event.*", "calendar.event.created", "connection.token_refreshed"]
    {
        assert!(is_known(name) && pattern.is_match(name), "{name}");
    }
    for name in ["", "Calendar.*", "calendar.", "*.created", "calendar.event created", "calendar.*.*"] {
        assert!(!is_known(name) && !pattern.is_match(name), "{name:?}");
    }
}

#[test]
fn secrets_match_the_pattern() {
    let pattern = pattern(&properties()["secret"]);
    let secret = |bytes: usize| format!("whsec_{}", BASE64_STANDARD.encode(vec![7_u8; bytes]));
    for bytes in 24..=64 {
        let secret = secret(bytes);
        assert!(parse_secret(&secret).is_ok() && pattern.is_match(&secret), "{bytes} bytes");
    }
    let wrong = [secret(0), secret(23), secret(65), BASE64_STANDARD.encode([7_u8; 24]), "whsec_-_".repeat(9)];
    for secret in wrong {
        assert!(parse_secret(&secret).is_err() && !pattern.is_match(&secret), "{secret}");
    }
}
