//! A deliberately wrong connector for each case of the kit: the template with one mistake, which a setting chooses. A case that no wrong
//! connector fails proves nothing.

use serde_json::json;

use crate::project::Notes;

/// The file, the template's text, and its replacement. `wrong("X")` returns whether the connector has the mistake X.
const MISTAKES: &[(&str, &str, &str)] = &[
    (
        "src/lib.rs",
        "external_account_id: me.id,",
        "external_account_id: if wrong(context, \"D1\") { format!(\"{:?}\", context.random_bytes(4)) } else { me.id },",
    ),
    (
        "src/lib.rs",
        "let me: Me = paper::read(context, &[\"me\"], &[], \"reading the account\")?;",
        "let me: Outcome<Me> = paper::read(context, &[\"me\"], &[], \"reading the account\");
         let me: Me = me.map_err(|e| if wrong(context, \"D2\") { e.with_code(code::UNAVAILABLE) } else { e })?;
         if wrong(context, \"S6\") {
             context.log(connector_sdk::Level::Info, &format!(\"{:?}\", me.email), &[]);
         }
         if wrong(context, \"S5\") {
             let _: Me = paper::read(context, &[\"me\"], &[(\"key\", me.feed_key.as_str())], \"reading it again\")?;
         }",
    ),
    ("src/paper.rs", "pub struct Me {", "#[serde(rename_all = \"camelCase\")]\npub struct Me {\n    pub feed_key: String,"),
    ("src/lib.rs", "sources, enumeration: true,", "sources, enumeration: !wrong(context, \"D3\"),"),
    (
        "src/lib.rs",
        "let token = context.cursor.as_deref().map(Cursor::of_page).transpose()?;",
        "let token = context.cursor.as_deref().map(|cursor| match Cursor::of_page(cursor) {
             Err(_) if wrong(context, \"P7\") => Ok(\"l2\".to_owned()),
             token => token,
         }).transpose()?;",
    ),
    (
        "src/lib.rs",
        "let page: ListPage = paper::read(context, &[\"lists\"], &query, \"listing the lists\")?;",
        "let page: Outcome<ListPage> = paper::read(context, &[\"lists\"], &query, \"listing the lists\");
         let page = match page {
             Err(e) if wrong(context, \"F5-lists\") && e.http_status == Some(500) => ListPage { lists: Vec::new(), next_page_token: None },
             page => page?,
         };
         if wrong(context, \"S5-log\") {
             for list in &page.lists {
                 context.log(connector_sdk::Level::Info, &format!(\"shared as {}\", list.share_token), &[]);
             }
         }",
    ),
    ("src/paper.rs", "pub struct List {", "#[serde(rename_all = \"camelCase\")]\npub struct List {\n    pub share_token: String,"),
    (
        "src/lib.rs",
        "fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {",
        "fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
             let place = context.cursor.as_deref();
             let skipped = place.map_or(Some(0), |cursor| cursor.strip_prefix(\"v1;skip;\").and_then(|n| n.parse::<usize>().ok()));
             if let Some(skipped) = skipped.filter(|_| args.limit == 2 && wrong(context, \"P6\")) {
                 return by_number(context, &args, skipped);
             }",
    ),
    (
        "src/lib.rs",
        "let page: ItemPage = paper::read(context, &[\"lists\", list, \"items\"], &query, \"listing the tasks\")?;",
        "let page: Outcome<ItemPage> = paper::read(context, &[\"lists\", list, \"items\"], &query, \"listing the tasks\");
         let page = match page {
             Err(e) if wrong(context, \"C8\") && e.code == code::NOT_FOUND => {
                 ItemPage { items: Vec::new(), next_page_token: None, next_since: Some(\"s0\".into()) }
             }
             page => page?,
         };",
    ),
    ("src/lib.rs", "(Some(token), _) => (Cursor::ChangesPage(token), true),", "(Some(token), _) if wrong(context, \"C7\") => (Cursor::Page(token), true),
            (Some(token), _) => (Cursor::ChangesPage(token), true),"),
    (
        "src/lib.rs",
        "let body = Sources { sources: sources.collect(), enumeration, ..Sources::default() };",
        "let mut body = Sources { sources: sources.collect(), enumeration, ..Sources::default() };
         if wrong(context, \"P1\") && page.next_page_token.is_some() {
             body.sources.pop();
         }
         if wrong(context, \"P2\") && context.cursor.is_some() && enumeration {
             body.sources.iter_mut().for_each(|s| s.etag = Some(format!(\"{:?}\", context.random_bytes(4))));
         }
         if !enumeration && wrong(context, \"C1\") {
             let again = body.sources.last().filter(|s| !s.deleted).cloned();
             body.sources.extend(again);
         }
         let has = |s: &connector_sdk::model::wire::Source, text: &str| s.items.iter().any(|i| i.body.as_str().contains(text));
         if !enumeration && wrong(context, \"C2\") {
             body.sources.retain(|s| !has(s, \"-after\"));
         }
         if !enumeration && wrong(context, \"C3\") {
             body.sources.retain(|s| !s.deleted);
         }
         if !enumeration && wrong(context, \"C4\") {
             body.sources.retain(|s| !has(s, \"-kept-after\"));
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
         let is_missing = read.as_ref().is_err_and(|e| e.code == code::NOT_FOUND);
         if wrong(context, \"R2\") && is_missing {
             return Ok(Sources::default());
         }
         if wrong(context, \"R3\") && is_missing && !args.source.starts_with(\"swkit\") {
             return Ok(Sources::default());
         }
         if wrong(context, \"F5-get\") && read.as_ref().is_err_and(|e| e.http_status == Some(500)) {
             let gone = Source { external_id: args.source, deleted: true, ..Source::default() };
             return Ok(Sources { sources: vec![gone], ..Sources::default() });
         }
         let mut item = read?;
         if wrong(context, \"X1\") {
             let mut source = item.source()?;
             let mut task: Task = serde_json::from_str(source.items[0].body.as_str()).expect(\"a task\");
             task.start_date = Some(\"2026-03-01\".into());
             source.items[0].body = connector_sdk::model::wire::JsonText::of(&task).expect(\"JSON\");
             return Ok(Sources { sources: vec![source], ..Sources::default() });
         }
         if wrong(context, \"R1\") {
             item.title.push('!');
         }",
    ),
    (
        "src/lib.rs",
        "(None, Some(since)) => (Cursor::Since(since), false),",
        "(None, Some(_)) if wrong(context, \"C6\") => (Cursor::Since(\"s0\".into()), false),
            (None, Some(_)) if wrong(context, \"C9\") && matches!(cursor, Some(Cursor::Since(_))) => {
                (cursor.ok_or_else(|| Failure::invalid(\"cursor\"))?, false)
            }
            (None, Some(since)) => (Cursor::Since(since), false),",
    ),
    (
        "src/lib.rs",
        "if let Some(key) = &context.idempotency_key {",
        "if let Some(key) = context.idempotency_key.as_ref().filter(|_| !wrong(context, \"W1\")) {",
    ),
    (
        "src/lib.rs",
        "let item: Item = context.send_ok(request, \"creating the task\")?.json()?;",
        "if wrong(context, \"S6-notes\") {
             context.log(connector_sdk::Level::Info, &format!(\"creating {:?}\", args.body.notes), &[]);
         }
         let mut sent = context.send_ok(request.clone(), \"creating the task\");
         for _ in 0..50 {
             if wrong(context, \"F3-create\") && sent.as_ref().is_err_and(|e| e.code == code::RATE_LIMITED) {
                 sent = context.send_ok(request.clone(), \"creating the task\");
             }
         }
         let is_lost = |e: &Failure| e.code == code::UNAVAILABLE && e.http_status.is_none();
         let sent = sent.map_err(|e| if wrong(context, \"W2\") && is_lost(&e) { e.with_code(code::INTERNAL) } else { e });
         let item: Item = sent?.json()?;",
    ),
    (
        "src/paper.rs",
        "Err(if response.status == 410 {",
        "let is = |status: u16, mistake: &str| response.status == status && crate::wrong(context, mistake);
         if is(302, \"F12\") {
             return Ok(serde_json::from_str(\"{\\\"items\\\":[],\\\"nextSince\\\":\\\"s0\\\"}\").expect(\"an empty page\"));
         }
         if [400, 403, 409, 500].contains(&response.status) && crate::wrong(context, \"S7\") {
             return Err(Failure::new(&failure.code, String::from_utf8_lossy(&response.body).into_owned()));
         }
         Err(if is(429, \"F3\") || is(410, \"C5\") {
            failure.with_code(code::UNAVAILABLE)
        } else if is(401, \"F2\") || is(503, \"F4\") || is(500, \"F5\") {
            failure.with_code(code::INVALID)
        } else if response.status == 410 {",
    ),
    (
        "src/paper.rs",
        "        if matches!(*segment, \".\" | \"..\") {",
        "        if crate::wrong(context, \"S8\") {
             url.push('/');
             url.push_str(segment);
             continue;
         }
        if matches!(*segment, \".\" | \"..\") {",
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
        "src/paper.rs",
        "let response = context.send(Request::get(url(context, path, query)?))?;",
        "let sent = context.send(Request::get(url(context, path, query)?));
         let response = match sent {
             Err(e) if e.code == code::TIMEOUT && crate::wrong(context, \"F6\") => return Err(e.with_code(code::INVALID)),
             Err(e) if e.code == code::UNAVAILABLE && crate::wrong(context, \"F13\") => return Err(e.with_code(code::INVALID)),
             Err(e) if e.code == code::UNAVAILABLE && crate::wrong(context, \"F7\") => {
                 return Ok(serde_json::from_str(\"{\\\"items\\\":[],\\\"nextSince\\\":\\\"s0\\\"}\").map_err(|_| e)?);
             }
             sent => sent?,
         };",
    ),
    (
        "src/lib.rs",
        "let limit = if args.limit == 0 { 100 } else { args.limit.min(100) }.to_string();",
        "let limit = if args.limit == 1 && wrong(context, \"P3\") { return Ok(Answer { body: Sources::default(), cursor: Some(\"v1;since;s0\".into()), more: false }) } else if args.limit == 0 { 100 } else { args.limit.min(100) }.to_string();
         if args.limit == 200 && wrong(context, \"S3\") {
             std::hint::black_box(vec![7_u8; 100 << 20]);
         }",
    ),
    (
        "src/lib.rs",
        "let request = request.json(&paper::fields(&args.body, Some(&args.changed)));",
        "let mut fields = paper::fields(&args.body, Some(&args.changed).filter(|_| !wrong(context, \"W3\")).map(|c| c.as_slice()));
         let path = [\"lists\", &args.collection, \"items\", id];
         if wrong(context, \"W9\") {
             let now: Item = paper::read(context, &path, &[], \"reading the task\")?;
             fields.insert(\"done\".into(), now.done.into());
         }
         let request = request.json(&fields);",
    ),
    (
        "src/lib.rs",
        "let request = Request::patch(url).if_match(args.if_match.as_deref());",
        "if args.if_match.is_some() && wrong(context, \"W5\") {
             let path = [\"lists\", &args.collection, \"items\", id];
             let now: Item = paper::read(context, &path, &[], \"reading the task\")?;
             if args.if_match.as_deref() != Some(now.etag.as_str()) {
                 return Err(Failure::conflict(\"the task was changed\"));
             }
         }
         let is_conditional = !wrong(context, \"W4\") && !wrong(context, \"W5\");
         let request = Request::patch(url).if_match(args.if_match.as_deref().filter(|_| is_conditional));",
    ),
    (
        "src/lib.rs",
        "Err(failure) if failure.code != code::NOT_FOUND => return Err(failure),",
        "Err(failure) if wrong(context, \"W6\") && failure.code == code::NOT_FOUND => {
                return Err(failure.with_code(code::INVALID));
            }
            Err(failure) if wrong(context, \"F13-delete\") && failure.http_status.is_none() && failure.code == code::UNAVAILABLE => {}
            Err(failure) if failure.code != code::NOT_FOUND => return Err(failure),",
    ),
    (
        "src/lib.rs",
        "let mut request = Request::post(url).json(&paper::fields(&args.body, None));",
        "let mut fields = paper::fields(&args.body, None);
         if wrong(context, \"W7\") {
             fields.insert(\"note\".into(), \"another\".into());
         }
         let mut request = Request::post(url).json(&fields);",
    ),
    (
        "src/lib.rs",
        "paper::refuse_unknown(&args)?;\n        let url = paper::url(context, &[\"lists\", &args.collection, \"items\"], &[])?;",
        "if !wrong(context, \"W8\") {
             paper::refuse_unknown(&args)?;
         }
         let url = paper::url(context, &[\"lists\", &args.collection, \"items\"], &[])?;",
    ),
    (
        "src/lib.rs",
        "fn features(_: &Context) -> Outcome<TasksFeatures> {\n        Ok(TasksFeatures { delta: \"syncToken\".into(), ..TasksFeatures::default() })",
        "fn features(context: &Context) -> Outcome<TasksFeatures> {
             let recurrence = wrong(context, \"X2\");
             Ok(TasksFeatures { delta: \"syncToken\".into(), recurrence, ..TasksFeatures::default() })",
    ),
    (
        "src/lib.rs",
        "export_connector!(",
        "fn wrong(context: &Context, mistake: &str) -> bool {
             context.setting(\"wrong\") == Some(mistake)
         }

         /// A page that begins after this number of the current tasks.
         fn by_number(context: &Context, args: &ChangesRequest, skipped: usize) -> Outcome<Answer<Sources>> {
             let list = args.collection.as_deref().unwrap_or_default();
             let page: ItemPage = paper::read(context, &[\"lists\", list, \"items\"], &[(\"limit\", \"100\")], \"listing the tasks\")?;
             let next = skipped + args.limit as usize;
             let more = next < page.items.len();
             let shown = page.items.iter().skip(skipped).take(args.limit as usize);
             let sources = shown.map(Item::source).collect::<Outcome<_>>()?;
             let cursor = if more { format!(\"v1;skip;{next}\") } else { \"v1;since;s0\".to_owned() };
             Ok(Answer { body: Sources { sources, enumeration: true, ..Sources::default() }, cursor: Some(cursor), more })
         }

         export_connector!(",
    ),
];

/// The mistake, and the cases that it fails: its own, and those that rely on the same promise. A mistake is named after its case, with a
/// suffix if the case has several.
const FAILS: &[(&str, &[&str])] = &[
    ("D1", &["D1"]),
    ("D2", &["D2"]),
    ("D3", &["D3"]),
    ("P1", &["P1", "P3", "C7"]),
    ("P2", &["P2"]),
    ("P3", &["P3", "C7"]),
    ("P5", &["P5"]),
    ("P6", &["P6"]),
    ("P7", &["P7"]),
    ("R1", &["R1", "W3", "W4", "W7"]),
    ("R2", &["R2", "R3"]),
    ("R3", &["R3"]),
    ("C1", &["C1", "C2", "C7"]),
    ("C2", &["C2", "C4"]),
    ("C3", &["C3"]),
    ("C4", &["C4"]),
    ("C5", &["C5"]),
    ("C6", &["C6", "C9"]),
    ("C7", &["C7"]),
    ("C8", &["C8"]),
    ("C9", &["C9"]),
    ("W1", &["W1", "W2"]),
    ("W2", &["W2", "F7", "F13"]),
    ("W3", &["W3", "W9"]),
    ("W4", &["W4", "W5"]),
    ("W5", &["W5"]),
    ("W6", &["W6"]),
    ("W7", &["W7"]),
    ("W8", &["W8"]),
    ("W9", &["W9"]),
    ("F2", &["D2", "F2"]),
    ("F3", &["F3"]),
    ("F3-create", &["F3"]),
    ("F4", &["F4"]),
    ("F5", &["F5"]),
    ("F5-lists", &["F5"]),
    ("F5-get", &["F5"]),
    ("F6", &["F6"]),
    ("F7", &["F7", "F13"]),
    ("F8", &["F8"]),
    ("F12", &["F12"]),
    ("F13", &["F7", "F13"]),
    ("F13-delete", &["F13"]),
    ("S1", &["S1"]),
    ("S2", &["S2"]),
    ("S3", &["S3"]),
    ("S5", &["S5"]),
    ("S5-log", &["S5"]),
    ("S6", &["S6"]),
    ("S6-notes", &["S6"]),
    ("S7", &["S7"]),
    ("S8", &["S8"]),
    ("X1", &["R1", "W3", "W7", "X1"]),
    ("X2", &["X2"]),
];

/// Adds the mistakes that only the SDK can make.
fn spoil_sdk(notes: &Notes) {
    const FILE: &str = "vendor/connector-sdk/src/surface/tasks.rs";
    let text = notes.read(FILE);
    assert_eq!(text.matches("op => unknown(op),").count(), 3);
    let guard = r#"op if request.body.contains("\"wrong\":\"S1\"") => Err(Failure::not_found(op)),"#;
    let text = text.replace("op => unknown(op),", &format!("{guard}\nop => unknown(op),"));
    const CHANGES: &str = r#""tasks" => run(host, request, C::changes),"#;
    assert_eq!(text.matches(CHANGES).count(), 1);
    let guard = r#""tasks" if request.body.contains("swkitUnknown") && request.body.contains("\"wrong\":\"S2\"") => Err(Failure::invalid("swkitUnknown")),"#;
    notes.write(FILE, &text.replace(CHANGES, &format!("{guard}\n{CHANGES}")));
    // Another version, so that no other project is given what is compiled of it.
    const MANIFEST: &str = "vendor/connector-sdk/Cargo.toml";
    let manifest = notes.read(MANIFEST);
    let version = manifest.lines().find(|line| line.starts_with("version = ")).unwrap();
    notes.write(
        MANIFEST,
        &manifest.replacen(version, &format!("{}+wrong\"", version.trim_end_matches('"')), 1),
    );
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
    let (mut tried, mut others) = (Vec::new(), Vec::new());
    for (mistake, expected) in FAILS {
        notes.write(
            "project.toml",
            &format!("lang = \"rust\"\n[test]\nsettings = {{ wrong = \"{mistake}\" }}\n"),
        );
        let tested = notes.run(&["connector", "test", "--no-build", "--json"]);
        let report = tested.json();
        let cases = report["cases"].as_array().unwrap();
        let failed: Vec<_> = cases.iter().filter(|case| case["verdict"] == "failed").collect();
        let ids: Vec<&str> = failed.iter().filter_map(|case| case["id"].as_str()).collect();
        if ids != *expected {
            others.push(format!("{mistake} fails {ids:?}: {failed:#?}"));
        }
        assert_eq!(tested.code == Some(3), !failed.is_empty(), "{mistake}: {}", tested.stderr);
        for case in &failed {
            assert!(case["help"].is_string() && case["said"].is_string(), "{case:#}");
        }
        for secret in ["feed-key-", "share-inbox-"] {
            assert!(!tested.stdout.contains(secret), "a report holds no secret: {}", tested.stdout);
        }
        tried = cases.iter().map(|case| case["id"].clone()).collect();
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
    let case = |mistake: &str| json!(mistake.split('-').next().unwrap_or(mistake));
    let mut own: Vec<_> = FAILS.iter().map(|(mistake, _)| case(mistake)).collect();
    tried.sort_by_key(ToString::to_string);
    own.sort_by_key(ToString::to_string);
    own.dedup();
    assert_eq!(tried, own, "every case of the kit has its mistake");
}
