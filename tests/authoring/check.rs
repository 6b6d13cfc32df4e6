//! `check`: what a host would refuse, the permissions that a connector asks for, and warnings for its author.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};

use crate::project::{Ended, Notes, built, switchboard};

/// Runs `check` on a folder with this manifest and this component. The connector is called `notes`.
fn checked(manifest: &str, component: &[u8], arguments: &[&str]) -> Ended {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("connector.toml"), manifest).unwrap();
    fs::write(dir.path().join("notes.wasm"), component).unwrap();
    switchboard(dir.path(), &[&["connector", "check", "--folder", "."][..], arguments].concat())
}

/// Returns the manifest and the component of the unchanged project.
fn built_parts() -> (String, Vec<u8>) {
    let folder = built().folder().join("build/notes");
    (fs::read_to_string(folder.join("connector.toml")).unwrap(), fs::read(folder.join("notes.wasm")).unwrap())
}

/// Returns the smallest connector: it exports the calendar, and imports types at most.
pub fn smallest() -> Vec<u8> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| fs::read_to_string(here.join("conformance/guests").join(name)).unwrap();
    let text = read("noop.wat").replace(";;prelude", &read("prelude.wat"));
    let mut module = wat::parse_str(format!("(module {text})")).unwrap();
    let mut resolve = wit_parser::Resolve::default();
    let (package, _) = resolve.push_path(here.join("../wit")).unwrap();
    let world = resolve.packages[package].worlds.get("calendar-connector").copied().unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default().validate(true).module(&module).unwrap().encode().unwrap()
}

/// A manifest for it; `more` is appended.
pub fn smallest_manifest(more: &str) -> String {
    format!(
        "name = \"notes\"\nversion = \"0.1.0\"\ntitle = \"Notes\"\nsurfaces = [\"calendar@1.0.0\"]\n{more}"
    )
}

/// The codes of the warnings in a result as JSON.
fn codes(checked: &Value) -> Vec<&str> {
    checked["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].as_str().unwrap()).collect()
}

/// Asserts that the command ended with 1, this cause and this remedy, and no result.
#[track_caller]
fn refused(ended: &Ended, said: &str, help: &str) {
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{}", ended.stderr);
    let (error, remedy) = ended.stderr.trim_end().split_once("\nhelp: ").unwrap();
    assert!(error.starts_with("error: ") && error.contains(said), "{}", ended.stderr);
    assert!(remedy.contains(help) && !remedy.contains('\n'), "{}", ended.stderr);
}

#[test]
fn the_template_passes() {
    let notes = built();
    let ended = notes.run(&["connector", "check", "--json"]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let checked = ended.json();
    // The licence is the author's choice: templates have none.
    assert_eq!(codes(&checked), ["licence"], "{checked:#}");
    assert_eq!(
        (&checked["name"], &checked["version"], &checked["title"], &checked["level"]),
        (&json!("notes"), &json!("0.1.0"), &json!("Notes"), &json!("compat"))
    );
    assert_eq!(
        checked["surfaces"],
        json!({ "claimed": ["tasks@1.0.0", "lifecycle@1.0.0"], "exported": ["tasks", "lifecycle"] })
    );
    let imports = checked["imports"].as_array().unwrap();
    let http = imports.iter().find(|import| import["name"] == "switchboard:connector/http@1.0.0").unwrap();
    assert_eq!(http["means"], "requests to the hosts that the manifest allows");
    assert_eq!(checked["component"]["path"], "build/notes/notes.wasm");
    assert_eq!(checked["component"]["hasDebugInformation"], false);
    let bytes = fs::metadata(notes.folder().join("build/notes/notes.wasm")).unwrap().len();
    assert_eq!(checked["component"]["bytes"], bytes);
    let start = &checked["start"];
    assert!(start["cpuUs"].as_u64() > Some(0) && start["cpuUs"].as_u64() < start["mostCpuUs"].as_u64());
    assert!(start["memoryBytes"].as_u64() > Some(0), "{start}");
    assert_eq!((&start["mostCpuUs"], &start["mostMemoryBytes"]), (&json!(500_000), &json!(64 << 20)));
    assert_eq!(
        checked["mayUsePerCall"],
        json!({ "memory": "standard", "memoryMib": 64, "cpuMs": 2_000, "wallMs": 60_000 })
    );
    assert_eq!(checked["needsFromUser"], json!(["an access token", "the setting serverUrl"]));
    assert_eq!(checked["needsFromOperator"], json!([]));
    assert_eq!(checked["manifest"]["hosts_from_settings"], json!(["serverUrl"]));
    assert_eq!(checked["digest"].as_str().map(str::len), Some(64));
}

#[test]
fn permissions_are_shown_in_words() {
    let notes = built();
    let text = notes.run(&["connector", "check"]).ok();
    assert!(text.lines().count() <= 25, "{text}");
    for line in [
        "notes 0.1.0: Notes",
        "  exports                 tasks@1.0.0, lifecycle@1.0.0, as connector.toml says",
        "  may send requests to    the server that the user names in the setting serverUrl, with the account's credentials; \
         in private networks only where the operator allows it",
        "  may use per call        64 MiB, 2 s of processor time, 60 s in all",
        "  needs from the user     an access token; the setting serverUrl",
        "notes 0.1.0 can be installed: 1 warning",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line}\n{text}");
    }
    for part in [
        "  imports                 ",
        "output to the log",
        "a file system without files",
        "; sockets are refused",
        "build/notes/notes.wasm, ",
        " MiB of at most 40 MiB",
        " of processor time (at most 500 ms), ",
        " of memory (at most 64 MiB)",
        "warning: the project has no licence; ",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_warning_counts_where_it_is_wanted() {
    let notes = built();
    assert_eq!(notes.run(&["connector", "check", "--strict"]).code, Some(3));
    // The same project with a licence: sources are not checked.
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("build/notes")).unwrap();
    for file in ["project.toml", "connector.toml", "Cargo.toml", "build/notes/notes.wasm"] {
        fs::copy(notes.folder().join(file), dir.path().join(file)).unwrap();
    }
    fs::write(dir.path().join("LICENSE"), "do as you like").unwrap();
    let text = switchboard(dir.path(), &["connector", "check", "--strict"]).ok();
    assert!(text.ends_with("notes 0.1.0 can be installed: no warnings\n"), "{text}");
    // The manifest is the author's current one, not the copy of the last build.
    let manifest = fs::read_to_string(dir.path().join("connector.toml")).unwrap();
    fs::write(dir.path().join("connector.toml"), manifest.replace("Notes\"", "Other notes\"")).unwrap();
    let text = switchboard(dir.path(), &["connector", "check"]).ok();
    assert!(text.starts_with("notes 0.1.0: Other notes\n"), "{text}");
}

#[test]
fn a_wrong_manifest_is_refused() {
    let (manifest, component) = built_parts();
    for (from, to, said, help) in [
        ("description = \"Task", "descripton = \"Task", "unknown field `descripton`", "write description"),
        ("title = \"Notes\"\n", "", "missing field `title`", "add the key"),
        ("tasks@1.0.0", "tasks@2.0.0", "this host speaks version 1 of tasks, not 2", "@1.0.0"),
        ("\"tasks@1.0.0\"", "\"todo\"", "no surface is called \"todo\"", "surfaces are email, calendar"),
        (
            "name = \"notes\"",
            "name = \"notes\"\nhosts = 3",
            "line 3: hosts must be a list; got 3",
            "change that line",
        ),
        (
            "[\"bearer\"]",
            "[\"token\"]",
            "auth.kinds: \"token\" is not known; use \"basic\", \"bearer\" or \"oauth\"",
            "change that line",
        ),
        ("title = \"Notes\"", "title = \"a\\u001B[2Jb\"", "title: the character U+001B", "change the value"),
        (
            "title = \"Notes\"",
            "title = \"a\u{1b}[2Jb\"",
            "line 4: the character U+001B",
            "write the line again",
        ),
        (
            "[\"serverUrl\"]",
            "[\"url\"]",
            "hosts_from_settings: \"url\" is not one of the settings",
            "change the value",
        ),
    ] {
        assert!(manifest.contains(from), "{from}\n{manifest}");
        refused(&checked(&manifest.replace(from, to), &component, &[]), said, help);
    }
}

#[test]
fn a_component_that_no_host_takes_is_refused() {
    let (manifest, component) = built_parts();
    let claims = manifest.replace("\"tasks@1.0.0\"", "\"tasks@1.0.0\", \"email@1.0.0\"");
    refused(
        &checked(&claims, &component, &[]),
        "notes.wasm: surfaces: the manifest names email, which the component does not export",
        "surfaces in connector.toml",
    );
    let hides = manifest.replace(", \"lifecycle@1.0.0\"", "");
    refused(
        &checked(&hides, &component, &[]),
        "the component exports lifecycle, which the manifest does not name",
        "surfaces in connector.toml",
    );
    refused(
        &checked(&format!("level = \"strict\"\n{manifest}"), &component, &[]),
        "what level \"strict\" does not offer: wasi:",
        "write level = \"compat\"",
    );
    refused(
        &checked(&manifest, &of_version_two(&component), &[]),
        "does not offer: switchboard:connector/",
        "switchboard connector wit",
    );
    refused(
        &checked(&manifest, b"This is no component.", &[]),
        "notes.wasm: the file is not a WebAssembly component",
        "switchboard connector build",
    );
    refused(
        &checked(&manifest, b"\0asm\x01\0\0\0", &[]),
        "a core module, not a component",
        "makes components",
    );
}

/// Returns the component as if it were made for version 2 of the WIT package: both names have the same length.
fn of_version_two(component: &[u8]) -> Vec<u8> {
    let package = b"switchboard:connector/";
    let mut changed = component.to_vec();
    let mut names = 0;
    for at in 0..component.len() {
        let Some(interface) = component[at..].strip_prefix(package) else { continue };
        let letters = interface.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        if interface[letters..].starts_with(b"@1.0.0") {
            changed[at + package.len() + letters + 1] = b'2';
            names += 1;
        }
    }
    assert!(names > 0, "the component names the package");
    changed
}

#[test]
fn an_author_is_warned() {
    let more = "memory = \"large\"\nhosts_from_settings = [\"serverUrl\"]\n[[hosts]]\nhost = \"*.notes.example\"\n\
                [[settings]]\nname = \"serverUrl\"\ndescription = \"the server\"\n[auth]\npkce = \"off\"\n";
    let mut component = smallest();
    // A custom section: its size, the length of its name, its name, and no content.
    component.extend(b"\0\x0c\x0b.debug_info");
    let ended = checked(&smallest_manifest(more), &component, &["--json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let found = ended.json();
    assert_eq!(codes(&found), ["description", "wildcard", "hosts", "memory", "pkce", "level", "debug"]);
    assert_eq!(found["mayUsePerCall"]["memoryMib"], 256);

    let text = checked(&smallest_manifest(more), &component, &[]).ok();
    assert!(text.lines().count() <= 25, "{text}");
    assert!(text.contains(
        "warning: level is compat, and the component imports nothing of WASI; write level = \"strict\"\n"
    ));
    assert!(text.ends_with("can be installed: 7 warnings\n"), "{text}");

    let quiet = smallest_manifest("level = \"strict\"\ndescription = \"Notes of a calendar\"\n");
    let text = checked(&quiet, &smallest(), &["--strict"]).ok();
    assert!(text.contains("  imports of WASI         none: level strict\n"), "{text}");
    assert!(text.contains("  imports                 none\n"), "{text}");
    assert!(text.contains("  may send requests to    no host\n"), "{text}");
    assert!(text.contains("  needs from the user     nothing\n"), "{text}");
}

#[test]
fn there_must_be_something_to_check() {
    let notes = Notes::new("unbuilt");
    refused(
        &notes.run(&["connector", "check"]),
        "there is no build/unbuilt/unbuilt.wasm",
        "switchboard connector build, or give --build",
    );
    refused(
        &notes.run(&["connector", "check", "--folder", "src"]),
        "cannot read src/connector.toml",
        "--folder build/NAME",
    );
    refused(
        &notes.run(&["connector", "check", "--folder", "."]),
        "there is no unbuilt.wasm",
        "beside connector.toml",
    );
    let both = notes.run(&["connector", "check", "--folder", ".", "--build"]);
    assert_eq!(both.code, Some(2), "{}", both.stderr);
    assert!(!notes.folder().join("build").exists(), "check builds nothing");
}
