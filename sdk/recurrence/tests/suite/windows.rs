//! Windows zones as tzlocal has them, whose table is made from CLDR.

use std::process::Command;

use recurrence::{iana_from_windows, windows_from_iana};
use serde_json::Value;

use crate::support::oracle_python;

/// Prints both tables as JSON. tzlocal has a row for no name at all.
const SCRIPT: &str = "import json; from tzlocal.windows_tz import tz_win, win_tz; \
    print(json.dumps({\"windows\": win_tz, \"iana\": {name: zone for name, zone in tz_win.items() if name}}))";

#[test]
fn tzlocal_names_the_same_zones() {
    let Some(python) = oracle_python() else { return };
    let output = Command::new(&python).args(["-c", SCRIPT]).output().expect("the interpreter starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tables: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = |name: &str| tables[name].as_object().expect("a table").clone();
    let (windows, iana) = (rows("windows"), rows("iana"));
    assert!(windows.len() > 130 && iana.len() > 550, "{} and {} rows", windows.len(), iana.len());
    let mut differing: Vec<String> = Vec::new();
    for (name, zone) in &windows {
        if iana_from_windows(name) != zone.as_str() {
            differing.push(format!("{name}: ours {:?}, theirs {zone}", iana_from_windows(name)));
        }
    }
    for (name, zone) in &iana {
        if windows_from_iana(name) != zone.as_str() {
            differing.push(format!("{name}: ours {:?}, theirs {zone}", windows_from_iana(name)));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
