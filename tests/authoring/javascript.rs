//! Connectors in TypeScript and JavaScript: the same commands, the same kit, and an engine that lacks functions of other engines.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use crate::project::{Ended, Notes};

/// The project's own tests.
fn npm_test(notes: &Notes) {
    let mut npm = Command::new("npm");
    let ended = Ended::of(npm.args(["test"]).current_dir(notes.folder()).output().unwrap());
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
}

/// Bodies of a function that `check` of a connector calls, each under a name that a setting chooses.
const MISTAKES: [(&str, &str); 5] = [
    (
        "surroundings",
        "const blob = context.host.createBlob(new Uint8Array(70_000), null);
  throw new Error(JSON.stringify({
    clock: Date.now() === context.nowMs() && new Date().getTime() === context.nowMs() && new Date() instanceof Date && performance.now() === Date.now(),
    zone: new Date(0).getHours(),
    text: new Date(Date.parse('Thu, 01 Jan 1970 00:00:10 GMT')).toISOString(),
    random: Math.random() !== Math.random() && Math.random() < 1,
    numbers: [typeof Date.now(), typeof context.deadlineMs, typeof context.host.blobSize(blob)],
    blob: [context.host.blobSize(blob), context.host.readBlob(blob, 69_999, 9).length, context.host.readBlob('none', 0, 1)],
    text8: new TextDecoder().decode(new TextEncoder().encode('é𝄞')),
    absent: [typeof fetch, typeof URL, typeof Intl, typeof setTimeout, typeof crypto],
  }));",
    ),
    (
        "zones",
        "const attempt = (get) => { try { return get(); } catch (error) { return error.name + ': ' + error.message; } };
  throw new Error(JSON.stringify({
    summer: context.instant('2026-05-01T09:00', 'Europe/Berlin'),
    windows: context.instant('2026-05-01', 'Tokyo Standard Time'),
    gap: context.instant('2026-03-29T02:30', 'Europe/Berlin'),
    twice: context.instant('2026-10-25T02:30', 'Europe/Berlin'),
    back: context.localTime('2026-05-01T07:00:00Z', 'Asia/Tokyo'),
    before: context.localTime('1969-12-31T23:59:59.5Z', 'America/New_York'),
    zone: attempt(() => context.instant('2026-05-01T09:00', 'Mars/Olympus')),
    local: attempt(() => context.instant('2026-05-01T09:00Z', 'UTC')),
    instant: attempt(() => context.localTime('2026-05-01T09:00', 'UTC')),
    plain: 'i'.toLocaleUpperCase() + 'I'.toLocaleLowerCase(),
  }));",
    ),
    (
        "locales",
        "const given = [
    () => new Date(0).toLocaleString('sv-SE', { timeZone: 'Asia/Tokyo' }),
    () => new Date(0).toLocaleDateString(),
    () => new Date(0).toLocaleTimeString(),
    () => (1234.5).toLocaleString('de'),
    () => 12n.toLocaleString(),
    () => [1].toLocaleString(),
    () => new Float64Array(1).toLocaleString(),
    () => 'a'.localeCompare('b'),
    () => 'i'.toLocaleUpperCase('tr'),
    () => 'I'.toLocaleLowerCase('tr'),
  ].filter((use) => { try { use(); return true; } catch (error) { return !error.help || !error.message.includes(error.help); } });
  if (given.length > 0) throw new Error('answered: ' + given.map(String).join());
  return new Date(0).toLocaleString('sv-SE', { timeZone: 'Asia/Tokyo' });",
    ),
    (
        "wanting",
        "return fetch('https://paper.test/v1/me');",
    ),
    (
        "promising",
        "return Promise.resolve({ externalAccountId: 'me' });",
    ),
];

/// Runs the kit's case D1 on a connector whose `check` makes this mistake. All mistakes are in one connector, which is built once.
fn throwing(name: &str) -> Ended {
    static MADE: OnceLock<Mutex<Notes>> = OnceLock::new();
    let notes = MADE.get_or_init(|| {
        let notes = Notes::with_tools("javascript", "throwing");
        let source = notes.read("src/connector.js");
        let begin = "check(context) {\n";
        assert_eq!(source.matches(begin).count(), 1);
        let chosen = format!("{begin}    if (context.setting(\"mistake\")) return mistake(context);\n");
        let mut source = source.replace(begin, &chosen);
        source.push_str("\nfunction mistake(context) {\n  switch (context.setting(\"mistake\")) {\n");
        for (name, body) in MISTAKES {
            source.push_str(&format!("    case \"{name}\": {{\n{body}\n    }}\n"));
        }
        source.push_str("  }\n}\n");
        notes.write("src/connector.js", &source);
        notes.run(&["connector", "build"]).ok();
        Mutex::new(notes)
    });
    assert!(MISTAKES.iter().any(|(mistake, _)| *mistake == name), "{name}");
    // The tests share the project's files.
    let notes = notes.lock().unwrap();
    let project = format!(
        "lang = \"javascript\"\n[test]\nprovider = \"paper\"\nsettings = {{ mistake = \"{name}\" }}\n"
    );
    notes.write("project.toml", &project);
    notes.run(&["connector", "test", "--no-build", "--case", "D1"])
}

#[test]
fn the_template_in_typescript_passes_the_kit() {
    // Its first build installs the tools, as the first build of an author does.
    let notes = Notes::written_in("typescript", "typed");
    assert!(notes.said.starts_with("created typed/ (typescript): 10 files"), "{}", notes.said);
    let tested = notes.run(&["connector", "test"]);
    assert_eq!(tested.code, Some(0), "{}\n{}", tested.stdout, tested.stderr);
    assert!(tested.stdout.contains("48 passed, 0 failed, 0 not applicable"), "{}", tested.stdout);
    // The tools are installed: a second build needs no registry.
    let again = notes.run(&["connector", "build", "--json"]);
    assert!(again.json()["bytes"].as_u64().is_some_and(|bytes| bytes < 3_000_000), "{}", again.stdout);

    let manifest = notes.read("connector.toml");
    assert!(manifest.contains("\nlevel = \"strict\"\n"), "{manifest}");

    fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("authoring/sdk.test.ts"),
        notes.folder().join("test/sdk.test.ts"),
    )
    .unwrap();
    npm_test(&notes);
}

#[test]
fn the_template_in_javascript_passes_the_kit() {
    let notes = Notes::with_tools("javascript", "plain");
    let tested = notes.run(&["connector", "test"]);
    assert_eq!(tested.code, Some(0), "{}\n{}", tested.stdout, tested.stderr);
    assert!(tested.stdout.contains("48 passed, 0 failed, 0 not applicable"), "{}", tested.stdout);
    npm_test(&notes);
}

/// The kit's clock has a time of its own, and a component is built long before it is called.
#[test]
fn time_and_randomness_are_the_hosts_and_numbers_are_numbers() {
    let ended = throwing("surroundings");
    let expected = r#"{\"clock\":true,\"zone\":0,\"text\":\"1970-01-01T00:00:10.000Z\",\"random\":true,\"numbers\":[\"number\",\"number\",\"number\"],\"blob\":[70000,1,null],\"text8\":\"é𝄞\",\"absent\":[\"undefined\",\"undefined\",\"undefined\",\"undefined\",\"undefined\"]}"#;
    assert!(ended.stdout.contains(expected), "{}\n{}", ended.stdout, ended.stderr);
}

/// The engine has no locales and no zones: its answers would be in UTC, a day off.
#[test]
fn functions_of_locales_say_what_to_write_and_the_host_converts_times() {
    let ended = throwing("zones");
    let expected = [
        r#"\"summer\":\"2026-05-01T07:00:00.000Z\""#,
        r#"\"windows\":\"2026-04-30T15:00:00.000Z\""#,
        r#"\"gap\":\"2026-03-29T01:30:00.000Z\""#,
        r#"\"twice\":\"2026-10-25T00:30:00.000Z\""#,
        r#"\"back\":{\"dateTime\":\"2026-05-01T16:00:00\",\"offset\":\"+09:00\"}"#,
        r#"\"before\":{\"dateTime\":\"1969-12-31T18:59:59.500\",\"offset\":\"-05:00\"}"#,
        "RangeError: ",
        "Mars/Olympus",
        "is not a local time",
        "is no instant",
        r#"\"plain\":\"Ii\""#,
    ];
    for part in expected {
        assert!(ended.stdout.contains(part), "{part}\n{}\n{}", ended.stdout, ended.stderr);
    }

    let ended = throwing("locales");
    assert_eq!(ended.code, Some(3), "{}\n{}", ended.stdout, ended.stderr);
    assert!(
        ended.stdout.contains("Date.prototype.toLocaleString is not available in a connector: toISOString()"),
        "{}",
        ended.stdout
    );
    assert!(!ended.stdout.contains("answered:"), "{}", ended.stdout);
    assert!(ended.stdout.contains("at mistake (src/connector.js:"), "{}", ended.stdout);
}

#[test]
fn an_error_has_its_line_and_says_what_to_do() {
    let ended = throwing("wanting");
    assert_eq!(ended.code, Some(3), "{}\n{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("a connector sends requests with context.send()"), "{}", ended.stdout);
    let line = ended.stdout.split("at mistake (src/connector.js:").nth(1);
    assert!(line.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())), "{}", ended.stdout);
}

#[test]
fn a_promise_is_no_answer() {
    let ended = throwing("promising");
    assert!(ended.stdout.contains("a connector's methods are not async"), "{}", ended.stdout);
}

#[test]
fn what_cannot_be_built_says_where() {
    let notes = Notes::with_tools("typescript", "untyped");
    let source = notes.read("src/connector.ts");
    notes.write("src/connector.ts", &source.replace("surfaces: [\"tasks\"]", "surfaces: 3"));
    let ended = notes.run(&["connector", "build"]);
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stderr.contains("src/connector.ts(")
            && ended.stderr.contains("Type 'number' is not assignable"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("error: the connector was not built\nhelp: fix what tsc says above"),
        "{}",
        ended.stderr
    );
    assert!(!notes.folder().join("build").exists());

    // Names of other engines: the type checker gives a remedy, and does not ask to install packages.
    notes.write(
        "src/connector.ts",
        &format!("{source}\nexport const wrong = [fetch(\"x\"), new URL(\"x\"), setTimeout(() => {{}}, 1), Buffer.from(\"x\")];\n"),
    );
    let ended = notes.run(&["connector", "build"]);
    assert_eq!(ended.code, Some(1));
    let advice = [
        "a connector sends requests with context.send()",
        "url() of #switchboard makes addresses",
        "a connector does not wait: the host calls it again",
        "encode(), decode(), toBase64() and fromBase64() of #switchboard work on bytes",
    ];
    for part in advice {
        assert!(ended.stderr.contains(part), "{part}\n{}", ended.stderr);
    }
    assert!(!ended.stderr.contains("npm i"), "{}", ended.stderr);

    // No function of the host is available while the engine's state is made.
    notes.write(
        "src/connector.ts",
        &format!("const BUILT = Date.now();\nif (BUILT < 0) throw BUILT;\n{source}"),
    );
    let ended = notes.run(&["connector", "build"]);
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stderr.contains("the time is not available while the connector is built"),
        "{}",
        ended.stderr
    );
}

/// The type checker and the engine give the same advice on the same names.
#[test]
fn the_types_and_the_engine_say_the_same_of_what_is_missing() {
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sdk/js");
    let types = fs::read_to_string(sdk.join("globals.d.ts")).unwrap();
    let engine = fs::read_to_string(sdk.join("absent.ts")).unwrap();
    let mut count = 0;
    for line in types.lines() {
        let Some((name, advice)) =
            line.strip_prefix("declare var ").and_then(|rest| rest.split_once(": NotInConnectors<"))
        else {
            continue;
        };
        let advice = advice.trim_end_matches(">;");
        let told = engine.lines().any(|entry| entry.contains(name) && entry.contains(advice));
        assert!(told, "{name}: {advice}");
        count += 1;
    }
    assert!(count >= 10, "{count}");
}

/// The operations of the SDK in Rust and of the one in TypeScript are the same, under the same names.
#[test]
fn every_operation_is_in_both_sdks() {
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sdk");
    let typescript = fs::read_to_string(sdk.join("js/surfaces.ts")).unwrap();
    let mut count = 0;
    for surface in ["tasks", "calendar", "contacts", "email", "watch"] {
        let (_, table) = typescript.split_once(&format!("\n  {surface}: {{\n")).unwrap();
        let (table, _) = table.split_once("\n  },\n").unwrap();
        let rust =
            fs::read_to_string(sdk.join("connector/src/surface").join(format!("{surface}.rs"))).unwrap();
        let (mut operations, mut verb) = (0, "");
        for line in rust.lines() {
            if let Some(name) = line.strip_prefix("pub fn ") {
                verb = name.split('<').next().unwrap_or_default();
            }
            let Some((op, call)) = line.trim().split_once(" => run(host, request, ") else { continue };
            let method = call.split("C::").nth(1).unwrap().split(['(', ')']).next().unwrap();
            let kind = if call.contains("Answer::whole(())") {
                "nothing"
            } else if call.contains("Answer::whole") {
                "whole"
            } else {
                "page"
            };
            let verbs = table.split_once(&format!(" {verb}: {{")).unwrap().1.split(" }").next().unwrap();
            let name = op.trim_matches('"');
            let keys = [format!("{op}: "), format!("{name}: ")];
            let entry = format!("{kind}(\"{}\")", camel(method));
            assert!(
                keys.iter().any(|key| verbs.contains(&format!("{key}{entry}"))),
                "{surface}.{verb} {op}: {entry}\n{verbs}"
            );
            operations += 1;
        }
        assert_eq!(table.matches("(\"").count(), operations, "{surface}");
        count += operations;
    }
    assert!(count > 40, "{count}");
}

fn camel(name: &str) -> String {
    let (mut upper, mut text) = (false, String::new());
    for letter in name.chars() {
        match letter {
            '_' => upper = true,
            _ if std::mem::take(&mut upper) => text.push(letter.to_ascii_uppercase()),
            _ => text.push(letter),
        }
    }
    text
}
