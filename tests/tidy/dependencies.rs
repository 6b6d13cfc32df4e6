//! Rules on dependencies: the files that may name one, and the crates of ours that may depend on each other.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use crate::files::Project;
use crate::ratchet::Offence;

/// A crate, and where its name may stand outside tests.
const HOMES: [(&str, &[&str]); 24] = [
    ("wasmtime", &["host/runtime/src/"]),
    ("wasmtime_wasi", &["host/runtime/src/"]),
    ("wasmtime_wasi_http", &["host/runtime/src/outbound/"]),
    ("rusqlite", &["host/storage/src/", "host/storage/examples/"]),
    ("sqlx", &["host/storage/src/"]),
    ("oauth2", &["host/service/src/connections/", "host/service/src/manage/operators/oidc/"]),
    (
        "jsonwebtoken",
        &[
            "host/service/src/app/jwks/",
            "host/service/src/push/jwt.rs",
            "host/service/src/manage/operators/oidc/",
        ],
    ),
    ("hyper_rustls", &["host/runtime/src/outbound/"]),
    ("hyper_util::client", &["host/runtime/src/outbound/"]),
    (
        "axum",
        &[
            "host/src/api/",
            "host/src/admin/",
            "host/src/routes/",
            "host/src/web/",
            "host/sandbox-provider/src/",
            "host/storage/examples/",
            "host/src/cli/",
            "host/src/main.rs",
            "host/src/lib.rs",
            "xtask/src/bench/",
        ],
    ),
    ("ical_rs", &["sdk/itip/", "sdk/recurrence/", "connectors/dav/"]),
    ("rlibphonenumber", &["host/text/src/phones.rs"]),
    ("vcard", &["connectors/dav/"]),
    ("wit_bindgen", &["sdk/connector/"]),
    ("io_imap", &["host/runtime/src/outbound/tcp/", "connectors/imap/", "xtask/src/bench/mail/"]),
    ("io_smtp", &["host/runtime/src/outbound/tcp/", "connectors/imap/"]),
    ("mail_parser", &["sdk/mail/", "xtask/src/bench/mail/"]),
    ("ammonia", &["sdk/mail/"]),
    ("pulldown_cmark", &["host/src/api/docs/"]),
    ("lol_html", &["host/service/src/tracking/"]),
    ("argon2", &["host/service/src/manage/operators/"]),
    ("totp_rs", &["host/service/src/manage/operators/"]),
    ("qrcode", &["host/service/src/manage/operators/"]),
    ("rmcp", &["host/mcp/src/", "host/src/api/mcp/"]),
];

/// The manifest of a crate beside the host, and the crates of the workspace that it may depend on. Without a row: none.
const MAY_KNOW: [(&str, &[&str]); 12] = [
    (
        "host/service/Cargo.toml",
        &[
            "base",
            "compute",
            "itip",
            "mail",
            "merging",
            "model",
            "recurrence",
            "runtime",
            "sandbox-provider",
            "scheduling",
            "storage",
            "text",
        ],
    ),
    ("host/scheduling/Cargo.toml", &["model", "recurrence"]),
    ("host/text/Cargo.toml", &[]),
    ("host/authoring/Cargo.toml", &[]),
    ("host/kit/Cargo.toml", &["model", "runtime"]),
    ("host/merging/Cargo.toml", &["model", "text"]),
    ("host/compute/Cargo.toml", &[]),
    ("host/base/Cargo.toml", &["mail", "model", "recurrence"]),
    ("host/mcp/Cargo.toml", &["base", "mail", "model"]),
    ("host/sandbox-provider/Cargo.toml", &["base", "compute", "mail", "model", "recurrence"]),
    ("host/storage/Cargo.toml", &["base", "compute", "model"]),
    ("host/runtime/Cargo.toml", &["compute", "mail", "recurrence"]),
];

/// Big dependencies outside their home.
pub fn homes(project: &Project) -> Vec<Offence> {
    let mut offences = Vec::new();
    for file in project.rust().filter(|file| !file.is_test()) {
        for (number, line) in file.code().into_iter().filter(|(_, line)| line.contains("::")) {
            for (name, homes) in HOMES {
                let at_home = homes.iter().any(|home| file.path.starts_with(home));
                if !at_home && names(line, name) {
                    let why = format!("{name} lives in {}: ask there for what is needed", homes.join(", "));
                    offences.push(Offence::at(&file.path, number, why));
                }
            }
        }
    }
    offences
}

/// Manifests that depend on what their crate must not know.
pub fn crates(project: &Project) -> Vec<Offence> {
    let mut offences = Vec::new();
    let ours = ours(project);
    for file in project.files.iter().filter(|file| file.path.ends_with("/Cargo.toml")) {
        let row = MAY_KNOW.iter().find(|(path, _)| *path == file.path);
        let known = row.map_or(&[][..], |(_, known)| known);
        let connector = file.path.starts_with("connectors/");
        for name in dependencies(&file.text) {
            let wrong = match file.path.as_str() {
                "sdk/model/Cargo.toml" => {
                    ["tokio", "sqlx", "axum", "connector-sdk", "service", "switchboard"].contains(&name)
                }
                "host/Cargo.toml" => name == "connector-sdk" || name.starts_with("connector-"),
                _ if connector => {
                    ["service", "switchboard"].contains(&name)
                        || name.starts_with("connector-") && name != "connector-sdk"
                }
                path if path.starts_with("host/") => ours.contains(&name) && !known.contains(&name),
                _ => false,
            };
            if wrong {
                let why = format!(
                    "it must not depend on {name}: connectors are found on disk, the model knows nobody, and MAY_KNOW lists the rest"
                );
                offences.push(Offence::new(&file.path, why));
            }
        }
    }
    offences
}

/// The crates of the workspace that others depend on.
fn ours(project: &Project) -> Vec<&str> {
    let lines = project.file("Cargo.toml").into_iter().flat_map(|file| file.text.lines());
    lines.filter_map(|line| Some(line.split_once(" = { path = ")?.0)).collect()
}

/// The keys of `[dependencies]`.
fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let section =
        manifest.split("\n[").find(|section| section.starts_with("dependencies]")).unwrap_or_default();
    section
        .lines()
        .skip(1)
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty())
}

/// `name::` as a path that begins there.
fn names(line: &str, name: &str) -> bool {
    let path = format!("{name}::");
    line.match_indices(&path)
        .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'))
}
