//! Secrets of all kinds in all encodings: none is in the recording.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::json;
use url::form_urlencoded;

use crate::escapes::escaped;
use crate::recording::format::RecordedExchange;
use crate::recording::rules::Rules;
use crate::recording::tests::{exchange, redacted, texts};

/// Runs with other secrets.
const RUNS: u64 = 200;
const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";
const HERE: &str = "https://a.test/";

/// Numbers that look random, the same in each run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    fn text(&mut self, alphabet: &str, length: usize) -> String {
        let chars: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| chars[self.below(chars.len())]).collect()
    }

    /// A secret with characters that need escapes everywhere.
    fn secret(&mut self) -> String {
        const LETTERS: &str = "abcdefxyzABCXYZ0189";
        const ALL: &str = "abcXYZ0189-_.~ !\"#$%&'()*+,/:;<=>?@[]^`{|}\\äß🔒";
        let length = self.below(24);
        let middle = if self.below(3) == 0 { self.text(LETTERS, length) } else { self.text(ALL, length) };
        [self.text(LETTERS, 5), middle, self.text(LETTERS, 5)].concat()
    }
}

/// Exchanges whose names say that this is a secret.
fn named(secret: &str) -> Vec<RecordedExchange> {
    let in_url = escaped(secret);
    let form: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let mut with_token = exchange(HERE, JSON, "{}");
    with_token.request.headers.insert("authorization".into(), format!("Bearer {secret}"));
    vec![
        exchange(HERE, JSON, &json!({ "client_secret": secret }).to_string()),
        exchange(HERE, JSON, &json!({ "raw": json!({ "sessionId": secret }).to_string() }).to_string()),
        exchange(&format!("https://a.test/?sig={in_url}&a=1"), JSON, "{}"),
        exchange(&format!("https://user:{in_url}@a.test/"), JSON, "{}"),
        exchange(HERE, FORM, &format!("a=1&client_assertion={form}")),
        with_token,
    ]
}

/// Exchanges that hold the secret where nothing says so.
fn echoed(secret: &str, random: &mut Random) -> Vec<RecordedExchange> {
    let (in_url, form) =
        (escaped(secret), form_urlencoded::byte_serialize(secret.as_bytes()).collect::<String>());
    let json_text = json!({ "note": format!("x {secret} y") }).to_string();
    let xml = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let xml = xml.replace('"', "&quot;").replace('\'', "&#39;");
    let before = random.below(3);
    let before = random.text("abc", before);
    let text = |text: &str| exchange(HERE, "text/plain", text);
    vec![
        text(&format!("see {secret} there")),
        text(&format!("see {in_url} there")),
        text(&format!("see {form} there")),
        text(&format!("see {} there", hex::encode(secret))),
        text(&format!("see {} there", STANDARD.encode(format!("{before}{secret} end")))),
        text(&format!("see {} there", URL_SAFE_NO_PAD.encode(format!("{before}{secret}")))),
        text(&format!("see {json_text}")),
        exchange(HERE, JSON, &json_text),
        exchange(HERE, JSON, &json!({ "raw": json_text }).to_string()),
        exchange(HERE, FORM, &format!("note={form}&a=1")),
        exchange(HERE, "text/xml", &format!("<a b=\"{xml}\">{xml}</a>")),
        exchange(&format!("https://a.test/?q={form}"), JSON, "{}"),
        exchange(&format!("https://a.test/x/{in_url}/y"), JSON, "{}"),
    ]
}

/// The secret as it stands in a text that holds it: as it is, and in each encoding of [`echoed`].
fn encoded(secret: &str) -> Vec<String> {
    let json = json!(secret).to_string();
    let json = json.trim_matches('"').to_owned();
    let mut forms = vec![secret.to_owned(), escaped(secret), hex::encode(secret), json];
    forms.push(form_urlencoded::byte_serialize(secret.as_bytes()).collect());
    for offset in 0..3 {
        // The characters that do not depend on the neighbours in a group of three bytes.
        let text = STANDARD.encode([vec![b'a'; offset], secret.as_bytes().to_vec()].concat());
        let (from, to) = ((offset * 8).div_ceil(6), (offset + secret.len()) * 8 / 6);
        forms.extend(text.get(from..to).map(str::to_owned));
        forms.extend(text.get(from..to).map(|text| text.replace('+', "-").replace('/', "_")));
    }
    forms
}

#[test]
fn no_encoding_of_a_secret_is_recorded() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..RUNS {
        let secret = random.secret();
        for learned in named(&secret) {
            let mut exchanges = echoed(&secret, &mut random);
            let place = random.below(exchanges.len());
            exchanges.insert(place, learned);
            let rules = Rules::default();
            let (clean, _) = redacted(&rules, &exchanges);
            let forms = encoded(&secret);
            for text in clean.iter().flat_map(texts) {
                let found = forms.iter().find(|form| text.contains(form.as_str()));
                assert!(found.is_none(), "{secret:?} is in {text:?} as {found:?}");
            }
            let (again, _) = redacted(&rules, &exchanges);
            assert_eq!(clean, again, "a recording is the same each time");
        }
    }
}

/// Redaction of any text ends, and leaves the known secret nowhere.
#[test]
fn arbitrary_texts_are_redacted_in_one_go() {
    const ALPHABET: &str = "aA1 =:&?#;/\\\"'<>{}[]@%.,-_\n|REDACTED";
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for _ in 0..500 {
        let (before, after) = (random.below(60), random.below(60));
        let body = format!("{}known-secret{}", random.text(ALPHABET, before), random.text(ALPHABET, after));
        for content_type in ["text/plain", JSON, FORM, "text/xml", "multipart/mixed; boundary=a"] {
            let rules = Rules::default();
            let (clean, _) = redacted(&rules, &[exchange(HERE, content_type, &body)]);
            for text in clean.iter().flat_map(texts) {
                assert!(!text.contains("known-secret"), "{text:?} of {body:?} as {content_type}");
            }
        }
    }
}
