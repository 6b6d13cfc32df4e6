//! A deliberately wrong connector for each case of the kit: the template with one mistake, which a setting chooses. A case that no wrong
//! connector fails proves nothing.

use serde_json::json;

use crate::project::Notes;

/// The file, the template's text, and what is there instead. `wrong("X")` says whether the connector has the mistake X.
const MISTAKES: &[(&str, &str, &str)] = &[
    (
        "src/lib.rs",
        "external_account_id: me.id,",
        "external_account_id: if wrong(context, \"D1\") { format!(\"{:?}\", context.random_bytes(4)) } else { me.id },",
    ),
    (
        "src/lib.rs",
        "let me: Me = paper::read(context, &[\"me\"], &[], \"reading the account\")?;",
        "let me: Me = paper::read(context, &[\"me\"], &[], \"reading the account\")?;
         if wrong(context, \"S5\") {
             let _: Me = paper::read(context, &[\"me\"], &[(\"key\", me.feed_key.as_str())], \"reading it again\")?;
         }",
    ),
    ("src/paper.rs", "pub struct Me {", "#[serde(rename_all = \"camelCase\")]\npub struct Me {\n    pub feed_key: String,"),
    ("src/lib.rs", "sources, enumeration: true,", "sources, enumeration: !wrong(context, \"D3\"),"),
    (
        "src/lib.rs",
        "let body = Sources { sources: sources.collect(), enumeration, ..Sources::default() };",
        "let mut body = Sources { sources: sources.collect(), enumeration, ..Sources::default() };
         if wrong(context, \"P1\") && page.next_page_token.is_some() {
             body.sources.pop();
         }",
    ),
    (
        "src/lib.rs",
        "let cursor = context.cursor.as_deref().map(str::parse::<Cursor>).transpose()?;",
        "let cursor = context.cursor.as_deref().map(str::parse::<Cursor>);
         let cursor = if wrong(context, \"P5\") { cursor.and_then(Outcome::ok) } else { cursor.transpose()? };",
    ),
    (
        "src/lib.rs",
        "let item: Item = paper::read(context, &path, &[], \"reading the task\")?;",
        "let read: Outcome<Item> = paper::read(context, &path, &[], \"reading the task\");
         if wrong(context, \"R2\") && read.is_err() {
             return Ok(Sources::default());
         }
         let mut item = read?;
         if wrong(context, \"R1\") {
             item.title.push('!');
         }",
    ),
    (
        "src/lib.rs",
        "(None, Some(since)) => (Cursor::Since(since), false),",
        "(None, Some(since)) => (Cursor::Since(if wrong(context, \"C1\") { \"s0\".into() } else { since }), false),",
    ),
    (
        "src/lib.rs",
        "if let Some(key) = &context.idempotency_key {",
        "if let Some(key) = context.idempotency_key.as_ref().filter(|_| !wrong(context, \"W1\")) {",
    ),
    (
        "src/lib.rs",
        "let item: Item = context.send_ok(request, \"creating the task\")?.json()?;",
        "let sent = context.send_ok(request, \"creating the task\");
         let sent = sent.map_err(|e| if wrong(context, \"W2\") { e.with_code(code::INTERNAL) } else { e });
         let item: Item = sent?.json()?;",
    ),
    (
        "src/paper.rs",
        "Err(if response.status == 410 {",
        "Err(if response.status == 429 && crate::wrong(context, \"F3\") {
            failure.with_code(code::UNAVAILABLE)
        } else if response.status == 410 {",
    ),
    (
        "src/paper.rs",
        "return response.json();",
        "return if crate::wrong(context, \"F8\") {
            Ok(serde_json::from_slice(&response.body).expect(\"the provider answers with JSON\"))
        } else {
            response.json()
        };",
    ),
    (
        "src/lib.rs",
        "export_connector!(",
        "fn wrong(context: &Context, mistake: &str) -> bool {
             context.setting(\"wrong\") == Some(mistake)
         }

         export_connector!(",
    ),
];

/// The mistake, and the cases that it fails: its own, and those that rely on the same promise.
const FAILS: &[(&str, &[&str])] = &[
    ("D1", &["D1"]),
    ("D3", &["D3"]),
    ("P1", &["P1"]),
    ("P5", &["P5"]),
    ("R1", &["R1"]),
    ("R2", &["R2"]),
    ("C1", &["C1"]),
    ("W1", &["W1", "W2"]),
    ("W2", &["W2"]),
    ("F3", &["F3"]),
    ("F8", &["F8"]),
    ("S1", &["S1"]),
    ("S5", &["S5"]),
];

/// What only the SDK can do wrong.
fn spoil_sdk(notes: &Notes) {
    const FILE: &str = "vendor/connector-sdk/src/surface/tasks.rs";
    let text = notes.read(FILE);
    assert_eq!(text.matches("op => unknown(op),").count(), 3);
    let guard = r#"op if request.body.contains("\"wrong\":\"S1\"") => Err(Failure::not_found(op)),"#;
    notes.write(FILE, &text.replace("op => unknown(op),", &format!("{guard}\nop => unknown(op),")));
}

#[test]
fn each_case_can_fail() {
    let notes = Notes::new("wrong");
    for (file, from, to) in MISTAKES {
        let text = notes.read(file);
        assert_eq!(text.matches(from).count(), 1, "{file} has this once: {from}");
        notes.write(file, &text.replace(from, to));
    }
    spoil_sdk(&notes);
    notes.run(&["connector", "build", "--dev"]).ok();
    let mut tried = Vec::new();
    for (mistake, expected) in FAILS {
        notes.write(
            "project.toml",
            &format!("lang = \"rust\"\n[test]\nsettings = {{ wrong = \"{mistake}\" }}\n"),
        );
        let tested = notes.run(&["connector", "test", "--no-build", "--json"]);
        assert_eq!(tested.code, Some(3), "{mistake}: {}", tested.stderr);
        let report = tested.json();
        let cases = report["cases"].as_array().unwrap();
        let failed: Vec<_> = cases.iter().filter(|case| case["verdict"] == "failed").collect();
        let ids: Vec<&str> = failed.iter().filter_map(|case| case["id"].as_str()).collect();
        assert_eq!(ids, *expected, "{mistake}: {failed:#?}");
        for case in &failed {
            assert!(case["help"].is_string() && case["said"].is_string(), "{case:#}");
        }
        assert!(!tested.stdout.contains("feed-key-"), "a report holds no secret: {}", tested.stdout);
        tried = cases.iter().map(|case| case["id"].clone()).collect();
    }
    let own: Vec<_> = FAILS.iter().map(|(mistake, _)| json!(mistake)).collect();
    tried.sort_by_key(ToString::to_string);
    let mut sorted = own.clone();
    sorted.sort_by_key(ToString::to_string);
    assert_eq!(tried, sorted, "every case of the kit has its mistake");
}
