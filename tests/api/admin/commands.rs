//! `switchboard admin`, and the variables that make the first operator of an unattended installation.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::admin::PASSWORD;
use crate::cli::{printed, refused, run, switchboard};

/// An installation's data directory.
struct Installation(TempDir);

impl Installation {
    fn new() -> Installation {
        let installation = Installation(tempfile::tempdir().expect("a data directory"));
        let migrated = run(&["migrate", "--init", "--data-dir", installation.path()]);
        assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
        installation
    }

    fn path(&self) -> &str {
        self.0.path().to_str().expect("a plain path")
    }

    /// The arguments of an `admin` command for this installation.
    fn arguments<'a>(&'a self, arguments: &[&'a str]) -> Vec<&'a str> {
        ["admin"].iter().chain(arguments).chain(&["--data-dir", self.path()]).copied().collect()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let mut arguments = self.arguments(arguments);
        arguments.push("--json");
        printed(&arguments)
    }

    fn refused(&self, arguments: &[&str]) -> (Option<i32>, String) {
        refused(&mut switchboard(&self.arguments(arguments)))
    }

    fn states(&self) -> Vec<(String, String)> {
        let listed = self.json(&["list"]);
        let text = |operator: &Value, field: &str| operator[field].as_str().expect("a text").to_owned();
        let all = listed.as_array().expect("an array").iter();
        all.map(|operator| (text(operator, "email"), text(operator, "state"))).collect()
    }
}

fn url(made: &Value) -> &str {
    made["url"].as_str().expect("an address")
}

/// An operator is made beside a server or before the first one, and sets the password by the link.
#[test]
fn an_operator_is_made_by_a_command() {
    let installation = Installation::new();
    let made = installation.json(&["create", "Ada@example.com", "--admin"]);
    assert!(made["id"].as_str().is_some_and(|id| id.starts_with("opr_")), "{made}");
    assert!(url(&made).starts_with("http://127.0.0.1:8080/admin/join/"), "{made}");
    let listed = installation.json(&["list"]);
    let ada = &listed[0];
    assert_eq!((&ada["email"], &ada["isAdmin"]), (&json!("Ada@example.com"), &json!(true)));
    assert_eq!((&ada["state"], &ada["lastSignInAt"]), (&json!("no password yet"), &Value::Null));
    let (code, said) = installation.refused(&["create", "ada@EXAMPLE.com", "--admin"]);
    assert_eq!(code, Some(1), "one address is one operator: {said}");

    let shown = run(&installation.arguments(&["link", "ada@example.com"]));
    let shown = String::from_utf8(shown.stdout).expect("UTF-8");
    for part in ["ada@example.com", "switchboard.db", "/admin/join/", "works once"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

/// A role is in an organization; the first operator is one who can give roles to others.
#[test]
fn a_role_is_in_an_organization() {
    let installation = Installation::new();
    let developer = ["create", "bo@example.com", "--role", "developer", "--org", "Acme"];
    let (code, said) = installation.refused(&developer);
    assert_eq!(code, Some(1));
    assert!(said.contains("--admin"), "{said}");
    installation.json(&["create", "ada@example.com", "--admin"]);
    let (_, said) = installation.refused(&developer);
    assert!(said.contains("there is no organization \"Acme\""), "{said}");
    printed(&["apps", "create", "Shop", "--org", "Acme", "--json", "--data-dir", installation.path()]);
    installation.json(&developer);
    let listed = installation.json(&["list"]);
    let roles = listed[1]["roles"].as_array().expect("a list");
    assert_eq!((&roles[0]["organization"], &roles[0]["role"]), (&json!("Acme"), &json!("developer")));
    for wrong in [
        &["create", "x@example.com"][..],
        &["create", "x@example.com", "--role", "owner"],
        &["create", "x@example.com", "--admin", "--role", "owner", "--org", "Acme"],
        &["create", "x@example.com", "--role", "king", "--org", "Acme"],
    ] {
        assert_eq!(installation.refused(wrong).0, Some(2), "{wrong:?}");
    }
}

/// Without operators the command prints the link that `serve` logs; later it asks whose link it is to be.
#[test]
fn a_link_is_printed_again() {
    let installation = Installation::new();
    let first = installation.json(&["link", "--admin-url", "https://admin.example.com/"]);
    assert!(url(&first).starts_with("https://admin.example.com/admin/first/"), "{first}");
    assert_ne!(url(&first), url(&installation.json(&["link"])), "each is a link of its own");
    installation.json(&["create", "ada@example.com", "--admin"]);
    let (code, said) = installation.refused(&["link"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("switchboard admin list"), "{said}");
    let (_, said) = installation.refused(&["link", "bo@example.com"]);
    assert!(said.contains("there is no operator bo@example.com"), "{said}");
    let again = installation.json(&["link", "ada@example.com", "--without-second-factor"]);
    assert!(url(&again).contains("/admin/join/"), "{again}");
}

/// A command ends an operator's access, but not the last administrator's. Where nobody has signed in yet, the others count all the same.
#[test]
fn access_is_taken_away() {
    let installation = Installation::new();
    installation.json(&["create", "ada@example.com", "--admin"]);
    installation.json(&["create", "bo@example.com", "--admin"]);
    installation.json(&["disable", "bo@example.com"]);
    let state = |email: &str, state: &str| (email.to_owned(), state.to_owned());
    let expected = [state("ada@example.com", "no password yet"), state("bo@example.com", "disabled")];
    assert_eq!(installation.states(), expected);
    assert_eq!(installation.refused(&["disable", "ada@example.com"]).0, Some(1));
    assert_eq!(installation.states(), expected, "an administrator has to be left");
    assert_eq!(installation.refused(&["link", "bo@example.com"]).0, Some(1), "a link would be of no use");
}

/// A server process, which ends with this.
struct Process {
    child: Child,
    log: BufReader<std::process::ChildStderr>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    fn start(data: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Process {
        let mut command = switchboard(&["serve", "--log-format", "json", "--data-dir"]);
        command.arg(data).arg("--connectors").arg(data).args(arguments).envs(variables.iter().copied());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the server can be started");
        let log = BufReader::new(child.stderr.take().expect("its log"));
        Process { child, log }
    }

    /// Reads the log up to a line with this text. None: the process ended before.
    fn logged(&mut self, text: &str) -> Option<String> {
        (&mut self.log).lines().map_while(Result::ok).find(|line| line.contains(text))
    }
}

/// The line in the log has an address that a browser on this machine can open, also where the server listens everywhere.
#[test]
fn the_log_has_the_first_link() {
    let installation = Installation::new();
    let mut server = Process::start(installation.0.path(), &["--listen", "0.0.0.0:0"], &[]);
    let line = server.logged("administration panel: ").expect("the link is logged");
    let is_link = line.contains("http://127.0.0.1:") && line.contains("/admin/first/");
    assert!(is_link && line.contains("works once, until "), "{line}");
}

/// Variables make the first operator of an unattended installation, and have no effect later.
#[test]
fn variables_make_the_first_operator() {
    let installation = Installation::new();
    let file = installation.0.path().join("password");
    std::fs::write(&file, format!("{PASSWORD}\n")).expect("a file");
    let file = file.to_str().expect("a plain path");
    let start = |email| {
        let variables = [("SWITCHBOARD_ADMIN_EMAIL", email), ("SWITCHBOARD_ADMIN_PASSWORD_FILE", file)];
        Process::start(installation.0.path(), &["--listen", "127.0.0.1:0"], &variables)
    };
    let mut server = start("ada@example.com");
    let line = server.logged("administration panel: ").expect("the operator is logged");
    assert!(line.contains("ada@example.com") && !line.contains("/admin/first/"), "{line}");
    assert!(!line.contains(PASSWORD), "{line}");
    drop(server);
    let ada = [("ada@example.com".to_owned(), "active".to_owned())];
    assert_eq!(installation.states(), ada);
    let mut again = start("bo@example.com");
    again.logged("listening on http://").expect("the server starts");
    assert_eq!(installation.states(), ada);
}

/// A variable that cannot be used ends the start, because there would be no operator.
#[test]
fn variables_that_make_nobody_end_the_start() {
    let installation = Installation::new();
    let file = installation.0.path().join("password");
    std::fs::write(&file, "short").expect("a file");
    let file = file.to_str().expect("a plain path");
    for (variables, said) in [
        (&[("SWITCHBOARD_ADMIN_EMAIL", "ada@example.com")][..], "SWITCHBOARD_ADMIN_PASSWORD_FILE"),
        (
            &[("SWITCHBOARD_ADMIN_EMAIL", "ada@example.com"), ("SWITCHBOARD_ADMIN_PASSWORD_FILE", file)],
            "cannot create the operator of SWITCHBOARD_ADMIN_EMAIL",
        ),
    ] {
        let mut server = Process::start(installation.0.path(), &["--listen", "127.0.0.1:0"], variables);
        let line = server.logged(said);
        assert!(line.is_some(), "{said}");
        assert_eq!(server.child.wait().expect("it ends").code(), Some(1));
    }
    assert!(installation.states().is_empty());
}
