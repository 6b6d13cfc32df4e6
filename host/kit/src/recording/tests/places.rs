//! Places that hold secrets, one by one.

use serde_json::{Value, json};

use crate::recording::rules::Rules;
use crate::recording::tests::{exchange, redacted, texts};

const TOKEN: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl";
const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";
const HERE: &str = "https://a.test/";
/// Texts that none of the exchanges of this file may keep.
const PRIVATE: [&str; 8] =
    ["open-sesame", "known-secret", "eyJ", "ann@home", "ann%40home", "Ann@", "ANN@", "own-key-of-ann"];

#[track_caller]
fn assert_clean(url: &str, content_type: &str, body: &str) {
    let rules = Rules::default();
    let (clean, _) = redacted(&rules, &[exchange(url, content_type, body)]);
    for text in clean.iter().flat_map(texts) {
        for private in PRIVATE {
            assert!(!text.contains(private), "{private} is in {text}, of {url} {body}");
        }
    }
}

#[test]
fn no_member_of_json_keeps_a_secret() {
    for body in [
        json!({ "accessToken": "open-sesame" }),
        json!({ "refresh_tokens": ["open-sesame"] }),
        json!({ "clientSecret": { "value": "open-sesame" } }),
        json!({ "credentials": [{ "kind": "basic", "value": "open-sesame" }] }),
        json!({ "Password": "open-sesame", "of": "ann@home.org" }),
        json!({ "apikey": "open-sesame", "text": "see open-sesame" }),
        json!({ "key": "a", "keyId": "open-sesame" }),
        json!({ "authorization": "Bearer open-sesame" }),
        json!({ "Authorization": "Basic YW5uOm9wZW4tc2VzYW1l", "text": "open-sesame" }),
        json!({ "client_assertion": "open-sesame" }),
        json!({ "sessionId": "open-sesame" }),
        json!({ "SESSION-ID": "open-sesame" }),
        json!({ "grant_type": "authorization_code", "code": "open-sesame", "state": "open-sesame" }),
        json!({ "device_code": "open-sesame", "userCode": "open-sesame" }),
        json!({ "assertion": "open-sesame", "code_verifier": "open-sesame", "id_token_hint": "open-sesame" }),
        json!({ "X-Amz-Security-Token": "open-sesame", "AWSAccessKeyId": "open-sesame" }),
        json!({ "sharedAccessSignature": "open-sesame", "connectionString": "open-sesame" }),
        json!({ "cookie": "a=open-sesame" }),
        json!({ "text": TOKEN, "again": format!("Bearer {TOKEN}.") }),
        json!({ "text": "Bearer open-sesame-1 and then" }),
        json!({ "Ann@Home.org": "Ann <ANN@home.org>, ann@home.org." }),
        json!(["known-secret"]),
        json!({ "next": "https://a.test/?api_key=open-sesame&a=1" }),
        json!({ "next": "/v1/x?a=1&X-Amz-Signature=open-sesame" }),
        json!({ "href": "https://user:open-sesame@a.test/x" }),
        json!({ "href": "https://open-sesame@a.test/x" }),
        json!({ "text": "see (https://a.test/x?sv=1&sig=open-sesame), or ftp://ann:open-sesame@b.test." }),
        json!({ "href": "https://a.test/?next=https%3A%2F%2Fb.test%2F%3Ftoken%3Dopen-sesame" }),
        json!({ "raw": "{\"token\":\"open-sesame\",\"n\":1}" }),
        json!({ "raw": "grant_type=refresh_token&refresh_token=open-sesame" }),
        json!({ "log": "Set-Cookie: sid=open-sesame; Path=/\r\nauthorization: DPoP open-sesame" }),
        json!({ "log": "the password: open-sesame, was refused" }),
        json!({ "name": "X-Api-Key", "value": "open-sesame" }),
        json!({ "parameters": [{ "Key": "password", "Value": "open-sesame" }] }),
        json!({ "name": "Authorization", "value": "Token open-sesame", "text": "open-sesame" }),
        json!({ "pw": "open-sesame" }),
        json!({ "sig": "open-sesame-1", "text": "open-sesame-1" }),
        json!({ "page_access_token": "open-sesame", "nextRefreshToken": "open-sesame" }),
        json!({ "tokens": { "open-sesame-2024-11-29": true } }),
        json!({ "secretAccount": "open-sesame" }),
        json!({ "next": "eyJ0b2tlbiI6Im9wZW4tc2VzYW1lIn0=" }),
        json!({ "html": "<input name=\"csrf\" value=\"open-sesame\">" }),
        json!({ "href": "/?next=https%3A%2F%2Fb.test%2F%3Ftoken%3Dopen-sesame" }),
        json!({ "log": "password:\topen-sesame\nPassword:\nopen-sesame\n**Password:** open-sesame" }),
        json!({ "log": "password => open-sesame; password: a;b&open-sesame" }),
        json!({ "cut": "{\"password\": \"ab\\\"open-sesame" }),
        json!({ "log": "curl -u ann:open-sesame https://a.test" }),
    ] {
        assert_clean(HERE, JSON, &body.to_string());
    }
}

#[test]
fn no_part_of_a_url_keeps_a_secret() {
    for url in [
        "https://a.test/?access_token=open-sesame",
        "https://a.test/?code=open-sesame&state=open-sesame",
        "https://a.test/?sv=2024&sig=open-sesame&se=1",
        "https://a.test/?X-Amz-Credential=open-sesame&X-Amz-Signature=open-sesame",
        "https://a.test/?X-Goog-Signature=open-sesame&GoogleAccessId=open-sesame",
        "https://a.test/?AWSAccessKeyId=open-sesame&Signature=open-sesame",
        "https://a.test/?appid=open-sesame&ticket=open-sesame",
        "https://a.test/?amp;token=open-sesame",
        "https://a.test/cb#access_token=open-sesame&token_type=bearer",
        "https://a.test/x;jsessionid=open-sesame/y",
        "https://open-sesame@a.test/",
        "https://user:open-sesame@a.test/",
        "https://ann%40home.org:open-sesame@a.test/",
        "https://a.test/?return=https%3A%2F%2Fb.test%2F%3Ftoken%3Dopen-sesame",
        "https://a.test/?q=%7B%22token%22%3A%22open-sesame%22%7D",
        "https://a.test/?for=ann%40home%2Eorg&q=known-secret",
        "https://a.test/of/ann%40home%2eorg/x?a=1",
        "https://known-secret.a.test/",
        "https://a.test/?next=https%253A%252F%252Fb.test%252F%253Ftoken%253Dopen-sesame",
        "https://hooks.slack.com/services/T0123/B0123/open-sesame",
        "https://api.telegram.test/bot123:open-sesame/getMe",
    ] {
        assert_clean(url, JSON, "{}");
    }
}

#[test]
fn no_other_body_keeps_a_secret() {
    let part = "--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\nopen-sesame\r\n--b--\r\n";
    let batch = "--b\r\nContent-Type: application/http\r\n\r\nGET /v1/x?access_token=open-sesame HTTP/1.1\r\n\
        Authorization: Bearer open-sesame\r\n\r\n\r\n--b\r\nContent-Type: application/json\r\n\r\n\
        {\"token\":\"open-sesame\"}\r\n--b--\r\n";
    let pem = "-----BEGIN RSA PRIVATE KEY-----\nopen-sesame\n-----END RSA PRIVATE KEY-----";
    for (content_type, body) in [
        (FORM, "user=ann%40home.org&password=open-sesame"),
        (FORM, "grant_type=authorization_code&code=open-sesame&client_assertion=open-sesame"),
        (FORM, "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=open-sesame"),
        (FORM, "SAMLResponse=open-sesame&RelayState=open-sesame"),
        ("text/plain", "a=1&password=open-sesame"),
        ("text/plain", "AccountName=a;AccountKey=open-sesame;EndpointSuffix=b"),
        ("text/plain", "Authorization: Bearer open-sesame\r\n"),
        ("text/plain", pem),
        ("application/x-ndjson", "{\"token\":\"open-sesame\"}\n{\"a\":1}\n"),
        (
            "text/calendar",
            "ATTENDEE;CN=x:mailto:ann@home.org\r\nURL:https://a.test/%2Fann%40home.org/known-secret",
        ),
        ("text/calendar", "URL:https://user:open-sesame@a.test/x\r\n"),
        ("text/xml", "<s:Envelope><wsse:Password Type=\"x\">open-sesame</wsse:Password></s:Envelope>"),
        ("application/xml", "<a token=\"open-sesame\"><secret><![CDATA[open-sesame]]></secret></a>"),
        ("application/xml", "<a href=\"https://a.test/?x=1&amp;sig=open-sesame\">ann@home.org</a>"),
        ("text/html", "<form><input type=\"hidden\" name=\"csrf_token\" value=\"open-sesame\"></form>"),
        ("text/xml", "<d>{&quot;client_secret&quot;:&quot;open-sesame&quot;}</d>"),
        ("text/html", "<div data-props=\"{&quot;csrfToken&quot;:&quot;open-sesame&quot;}\"></div>"),
        ("text/html", "<a href=\"https://a.test/?x=1&#38;sig=open-sesame\">x</a>"),
        ("text/html", "<p>a</p><!-- <password>open-sesame</password> -->"),
        ("text/xml", "<c><param name=\"password\">open-sesame</param></c>"),
        ("text/xml", "<dict><key>password</key><string>open-sesame</string></dict>"),
        ("multipart/form-data; boundary=b", part),
        ("multipart/mixed; boundary=\"b\"", batch),
    ] {
        assert_clean(HERE, content_type, body);
    }
}

/// Credentials are not recorded, and their parts are private in every other place.
#[test]
fn a_request_s_credentials_are_replaced_in_every_other_place() {
    let echo = "tok-1-of-ann and pass-2-of-ann, sid-3-of-ann; new-4-of-ann, dpop-5-of-ann";
    for (header, value, secret) in [
        ("authorization", "Bearer tok-1-of-ann", "tok-1-of-ann"),
        ("authorization", "Basic YW5uOnBhc3MtMi1vZi1hbm4=", "pass-2-of-ann"),
        ("cookie", "a=x; sid=sid-3-of-ann", "sid-3-of-ann"),
        ("set-cookie", "sid=new-4-of-ann; Path=/", "new-4-of-ann"),
        ("dpop", "dpop-5-of-ann", "dpop-5-of-ann"),
    ] {
        let mut with = exchange(HERE, JSON, "{}");
        let is_answer = header == "set-cookie";
        let headers = if is_answer { &mut with.response.headers } else { &mut with.request.headers };
        headers.insert(header.to_owned(), value.to_owned());
        let before = exchange(HERE, JSON, &json!({ "echo": echo }).to_string());
        let rules = Rules::default();
        let (clean, _) = redacted(&rules, &[before, with]);
        for text in clean.iter().flat_map(texts) {
            assert!(!text.contains(secret), "{header}: {secret} is in {text}");
            assert!(!text.starts_with(&format!("{header}: ")), "{text}");
        }
    }
}

#[test]
fn what_tells_where_to_go_on_stays() {
    let body = json!({ "nextPageToken": "l2", "syncToken": "abc", "keywords": ["work"], "title": "swkit-W1",
        "clientKey": "kit-W1", "to": "bob@example.test", "at": "a@b", "version": "x@1.2", "token_type": "bearer",
        "error": { "code": "notFound", "state": "open" }, "note": "code: 7, key: C major" });
    let whole = exchange("https://a.test/?pageToken=l2&state=open", JSON, &body.to_string());
    let rules = Rules::default();
    let (clean, _) = redacted(&rules, std::slice::from_ref(&whole));
    assert_eq!((&clean[0].request.url, &clean[0].request.body), (&whole.request.url, &whole.request.body));
    let dav =
        "<d:multistatus xmlns:d=\"DAV:\"><d:sync-token>https://a.test/sync/12</d:sync-token></d:multistatus>";
    let whole = exchange(HERE, "text/xml", dav);
    let (clean, _) = redacted(&rules, std::slice::from_ref(&whole));
    assert_eq!(clean[0].response.body, whole.response.body);
}

#[test]
fn one_map_serves_all_exchanges() {
    let first = exchange("https://a.test/of/handle-of-ann", JSON, "{\"to\":\"b@home.org\"}");
    let body = "{\"shareToken\":\"handle-of-ann\",\"a\":\"ann@home.org\"}";
    let second = exchange("https://a.test/?token=handle-of-ann", JSON, body);
    let rules = Rules::default();
    let (clean, addresses) = redacted(&rules, &[first, second]);
    // The first is the known secret, the second the key in a header.
    assert_eq!(clean[0].request.url, "https://a.test/of/REDACTED-003");
    assert_eq!(clean[1].request.url, "https://a.test/?token=REDACTED-003");
    let value: Value = serde_json::from_slice(&clean[1].response.body).unwrap();
    let etag = clean[1].response.headers["etag"].as_str();
    let address = value["a"].as_str().unwrap();
    assert_eq!((value["shareToken"].as_str(), addresses), (Some("REDACTED-003"), 2));
    assert_eq!(etag, format!("\"{address}\""));
}

#[test]
fn the_author_says_what_stays() {
    let rules = Rules {
        keep: vec!["sortKey".into(), "@home.org".into(), "plain".into()],
        keep_headers: vec!["X-Session".into(), "Set-Cookie".into()],
        ..Rules::default()
    };
    let body = "{\"sortKey\":\"0001-abcdef\",\"of\":\"ann@home.org\",\"token\":\"plain\"}";
    let mut whole = exchange(HERE, JSON, body);
    whole.response.headers.insert("set-cookie".into(), "a=b".into());
    let (clean, addresses) = redacted(&rules, std::slice::from_ref(&whole));
    assert_eq!((clean[0].response.body.as_slice(), addresses), (body.as_bytes(), 0));
    let names: Vec<&str> = clean[0].response.headers.keys().map(String::as_str).collect();
    assert_eq!(names, ["content-type", "etag", "x-session"]);
    assert_eq!(clean[0].response.headers["x-session"], "REDACTED-002");
}

#[test]
fn a_secret_in_bytes_is_replaced_once() {
    let mut whole = exchange(HERE, "image/png", "");
    whole.response.body = [b"\xff\x00".as_slice(), b"known-secret", b"\xfe"].concat();
    let rules = Rules::default();
    let (clean, _) = redacted(&rules, std::slice::from_ref(&whole));
    assert_eq!(clean[0].response.body, [b"\xff\x00".as_slice(), b"REDACTED-001", b"\xfe"].concat());
    // A secret that is a part of its placeholder.
    whole.request.headers.insert("authorization".into(), "Bearer REDACTED".into());
    whole.response.body = b"\xff REDACTED \xfe".to_vec();
    let (clean, _) = redacted(&rules, &[whole]);
    assert_eq!(clean[0].response.body, b"\xff REDACTED-002 \xfe");
}

/// The name of a secret may be a word of other texts, and so may the value of a member called `key`.
#[test]
fn ordinary_words_are_no_secrets() {
    let body = json!({ "text": "the password of Preferences, passwordType", "signature": "Kind regards, Ann 2024",
        "session": "standup", "tasks": [{ "name": "Renew the API key", "content": "on Monday" }] });
    let body = body.to_string();
    let plist =
        "<dict><key>password</key><string>open-sesame</string></dict><passwordType>password</passwordType>";
    let named = json!({ "a": { "key": "Preferences" }, "b": { "key": "password", "value": "open-sesame" },
        "c": [{ "kind": "password" }], "credentials": [{ "kind": "password" }] });
    let exchanges = [
        exchange(HERE, "text/xml", plist),
        exchange(HERE, JSON, &named.to_string()),
        exchange(HERE, JSON, &body),
    ];
    let rules = Rules::default();
    let (clean, _) = redacted(&rules, &exchanges);
    let texts = clean.iter().map(|clean| String::from_utf8_lossy(&clean.response.body).into_owned());
    let [plist, named, text] = texts.collect::<Vec<_>>().try_into().unwrap();
    assert!(plist.starts_with("<dict><key>password</key><string>REDACTED-"), "{plist}");
    assert!(plist.ends_with("</string></dict><passwordType>password</passwordType>"), "{plist}");
    let named: Value = serde_json::from_str(&named).unwrap();
    assert_eq!((&named["b"]["key"], &named["c"]), (&json!("password"), &json!([{ "kind": "password" }])));
    assert!(named["a"]["key"].as_str().unwrap().starts_with("REDACTED-"), "{named}");
    assert_eq!(text, body);
}

/// An escaped text keeps its form around the private values.
#[test]
fn what_is_around_a_secret_stays() {
    let rules = Rules::default();
    for (content_type, body, expected) in [
        (
            "text/xml",
            "<d a=\"x&#38;y\">a &amp; {&quot;b&quot;}</d><e>&lt;password&gt;open-sesame&lt;/password&gt; &amp; on</e>",
            "<d a=\"x&#38;y\">a &amp; {&quot;b&quot;}</d><e>&lt;password&gt;REDACTED-003&lt;/password&gt; &amp; on</e>",
        ),
        (
            JSON,
            "{\"token\":{\"expiresAt\":1764385200,\"n\":12}}",
            "{\"token\":{\"expiresAt\":1764385200,\"n\":12}}",
        ),
        (
            "text/calendar",
            "UID:private-appointments\r\nX-A:robot1:x\r\n",
            "UID:private-appointments\r\nX-A:robot1:x\r\n",
        ),
    ] {
        let (clean, _) = redacted(&rules, &[exchange(HERE, content_type, body)]);
        assert_eq!(String::from_utf8_lossy(&clean[0].response.body), expected);
    }
    let url = "https://a.test/x;jsessionid=open-sesame/private-0123456789abcdef0123/basic.ics";
    let (clean, _) = redacted(&rules, &[exchange(url, JSON, "{}")]);
    assert_eq!(
        clean[0].request.url,
        "https://a.test/x;jsessionid=REDACTED-003/private-REDACTED-004/basic.ics"
    );
}

#[test]
fn a_numeric_code_is_replaced_by_a_number() {
    let rules = Rules::default();
    let body = "{\"pin\":482913,\"count\":482913}";
    let (clean, _) = redacted(&rules, &[exchange(HERE, JSON, body)]);
    let value: Value = serde_json::from_slice(&clean[0].response.body).unwrap();
    assert_eq!(value, json!({ "pin": 3, "count": 482_913 }));
    let body = "{\"password\":9030305596177703,\"text\":\"9030305596177703\",\"tokens\":[123456,7]}";
    let (clean, _) = redacted(&rules, &[exchange(HERE, JSON, body)]);
    let value: Value = serde_json::from_slice(&clean[0].response.body).unwrap();
    assert_eq!(value, json!({ "password": 3, "text": "REDACTED-003", "tokens": [4, 7] }));
}

/// Endlessly nested texts, and texts full of openings, take no longer than others.
#[test]
fn hostile_texts_end() {
    let nested = "https://a.test/?u=".repeat(5_000);
    let json = "{\"a\":\"".repeat(5_000);
    let xml = "<token><a b=".repeat(5_000);
    let parts = "--b\r\n\r\n".repeat(5_000);
    let names = "token:\"".repeat(5_000);
    let keys = "-----BEGIN PRIVATE KEY-----".repeat(5_000);
    let comments = "<!--<key>password</key>&amp;amp;".repeat(5_000);
    let escapes = format!("{}https{}", "bot1:-u a:token:\n".repeat(5_000), "%253A%252F%252F".repeat(5_000));
    for (content_type, body) in [
        ("text/plain", nested.as_str()),
        (JSON, json.as_str()),
        ("text/xml", xml.as_str()),
        ("multipart/mixed; boundary=b", parts.as_str()),
        ("text/plain", names.as_str()),
        ("text/plain", keys.as_str()),
        ("text/xml", comments.as_str()),
        (FORM, escapes.as_str()),
    ] {
        let rules = Rules::default();
        let (clean, _) = redacted(&rules, &[exchange(HERE, content_type, body)]);
        assert_eq!(clean.len(), 1);
    }
}
