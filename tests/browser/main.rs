//! The booking page, the panel and the documentation in a real browser: Debian's Chromium, driven by `tests/browser/run.mjs` under the peers'
//! Node. The scenarios are in `tests/browser/scenarios/`; each has a server of its own here, whose clock stands still until the scenario moves
//! it. Pictures of the pages' states are written to `target/browser`. Without a browser (`--no-peers`) the tests say that they did not run.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use harness::{Actor, TestServer, bundle, share_compiled_code};
use reqwest::Method;
use serde_json::{Value, json};
use service::manage::operators::links;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::Mutex;

/// One browser at a time: each takes a processor for itself.
static TURN: Mutex<()> = Mutex::const_new(());

/// Paths of the browser and of what drives it, as `tests/browser/install.sh` tells.
struct Tools {
    node: String,
    environment: [(&'static str, String); 6],
}

/// The tools, or none where they are not installed; then, unless they are required, the test says so and ends.
fn tools() -> Option<Tools> {
    let found = |name: &str| {
        let value = std::env::var(name).ok();
        if value.is_none() {
            assert_ne!(std::env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref(), Ok("1"), "{name} is not set");
            println!("NOT RUN: {name} is not set; `cargo xtask test` installs a browser");
        }
        value
    };
    let (node, browser, modules) =
        (found("BROWSER_NODE")?, found("BROWSER_PATH")?, found("BROWSER_MODULES")?);
    let pictures = pictures();
    std::fs::create_dir_all(&pictures).expect("a folder for pictures");
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sdk/clients/typescript/src");
    let environment = [
        ("BROWSER_PATH", browser),
        ("BROWSER_MODULES", modules),
        ("BROWSER_PICTURES", pictures.to_string_lossy().into_owned()),
        ("SWITCHBOARD_TEST_BINARY", env!("CARGO_BIN_EXE_switchboard-under-test").to_owned()),
        ("SWITCHBOARD_TEST_BUNDLE", bundle().to_string_lossy().into_owned()),
        ("CLIENT_SOURCES", client.to_string_lossy().into_owned()),
    ];
    Some(Tools { node, environment })
}

fn pictures() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the workspace");
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from).join("browser")
}

/// A server, and what a scenario may ask of it.
struct Stage {
    server: TestServer,
    api: Actor,
    /// A data directory for a server of the scenario's own.
    folder: TempDir,
}

impl Stage {
    /// Handles a line of a scenario's; what it is answered with.
    async fn answer(&self, asked: &Value) -> Value {
        let text = |name: &str| asked[name].as_str().unwrap_or_default().to_owned();
        match text("op").as_str() {
            "advance" => {
                self.server.clock.advance_ms(asked["ms"].as_i64().expect("milliseconds"));
                Value::Null
            }
            "api" => {
                let method: Method = text("method").parse().expect("a method");
                let body = Some(asked["body"].clone()).filter(|body| !body.is_null());
                let exchange = self.api.ask(method, text("path"), body).send().await;
                json!({ "status": exchange.status, "body": exchange.answer })
            }
            // The provider's calendars do not answer, or do so again.
            "fault" => {
                let provider = self.server.provider("alice");
                match asked["isDown"].as_bool() {
                    Some(true) => {
                        let fault = json!({ "status": 503, "times": 1_000, "pathPrefix": "/sandbox/v1" });
                        provider.post("/sandbox/faults", fault).send().await.expect(201);
                    }
                    _ => {
                        provider.delete("/sandbox/faults").send().await.expect(204);
                    }
                }
                self.server.clock.advance_ms(1);
                Value::Null
            }
            "firstLink" => {
                let link = links::first(&self.server.app).await.expect("the link is stored");
                json!(link.expect("there is no operator yet").path())
            }
            "key" => json!(self.api.key),
            "folder" => json!(self.folder.path()),
            // The cookie of an administrator of the installation.
            "operator" => {
                let operator = self.server.operator(None).await;
                let (name, value) = operator.cookies.split_once('=').expect("a cookie");
                json!({ "name": name, "value": value })
            }
            "applicationPage" => {
                json!(format!("/admin/apps/{}", self.server.test_application().await.application_id))
            }
            "organizationPage" => {
                json!(format!("/admin/orgs/{}", self.server.test_application().await.organization_id))
            }
            other => panic!("a scenario asks for {other:?}"),
        }
    }
}

/// Answers what a scenario asks, line by line, until it ends; what else it wrote.
async fn serve(stage: &Stage, child: &mut Child, mut stdin: ChildStdin) -> String {
    let stdout = child.stdout.take().expect("standard output is piped");
    let mut lines = BufReader::new(stdout).lines();
    let mut said = String::new();
    while let Some(line) = lines.next_line().await.expect("the scenario writes text") {
        let asked: Option<Value> =
            line.strip_prefix("ASK ").and_then(|asked| serde_json::from_str(asked).ok());
        match asked {
            Some(asked) => {
                let answer = json!({ "id": asked["id"], "value": stage.answer(&asked).await });
                stdin.write_all(format!("{answer}\n").as_bytes()).await.expect("the scenario reads");
            }
            None => said.push_str(&format!("{line}\n")),
        }
    }
    said
}

/// Plays a scenario; fails with what it wrote, if it fails.
async fn play(name: &str) {
    let Some(tools) = tools() else { return };
    let _turn = TURN.lock().await;
    let server = TestServer::start().await;
    let api = server.client().await;
    let origin = format!("http://{}", server.address);
    let folder = TempDir::new().expect("a folder");
    share_compiled_code(folder.path());
    let stage = Stage { server, api, folder };
    let connection = stage.api.connect_account("alice").await;
    let calendar = json!({ "connectionId": connection, "name": "Bookings", "timeZone": "UTC" });
    let calendar = stage.api.post("/v1/calendars", calendar).send().await.expect(201);

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("browser/run.mjs");
    let host = json!({ "connectionId": connection, "calendarId": calendar["id"] });
    let mut child = Command::new(&tools.node)
        .arg(script)
        .args([name, &origin, &host.to_string()])
        .envs(tools.environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .spawn()
        .expect("Node starts");
    let stdin = child.stdin.take().expect("standard input is piped");
    let said = serve(&stage, &mut child, stdin).await;
    let status = child.wait().await.expect("Node ends");
    assert!(status.success(), "{name}: {status}\n{said}");
    println!("{said}");
}

macro_rules! scenarios {
    ($($(#[$about:meta])* $name:ident)*) => {
        $($(#[$about])* #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            play(stringify!($name)).await;
        })*
    };
}

scenarios! {
    /// From the month to the booking, to another time, to the end of it; months change without loading the page anew.
    choose_book_move_cancel
    /// The same by links and forms alone.
    the_same_without_javascript
    /// Everything by keys: the days are one stop, and move like a calendar.
    by_keyboard_alone
    space_chooses_a_day
    /// One link leads over everything before the times, without scripts too.
    the_times_are_two_keys_away
    /// A visitor who comes too late keeps the typed text.
    taken_meanwhile_keeps_what_was_typed
    a_calendar_that_is_down_is_not_an_empty_one
    /// Columns, arrows and dates run from right to left, and nothing is wider than the window.
    arabic_is_mirrored
    /// A zone is found by a part of its name, and the chosen day stays.
    a_zone_is_found
    /// The page begins in the visitor's zone and clock; a browser that hides its zone gets the host's, which the page says.
    the_visitors_own_zone
    double_click_books_once
    /// Back after a booking leads to the times that are left, and says nothing of a booking that was not made.
    back_after_a_booking_leads_to_the_times
    /// A click on the shown day adds no step to the history.
    the_same_day_once_more_is_no_step_back
    /// A form whose answer never came keeps what was typed, and is sent again.
    a_stopped_form_can_be_sent_again
    /// A page of another version of the service comes with its own script.
    another_version_is_loaded_anew
    /// Mail scanners open every address, with scripts: nothing is cancelled or moved.
    a_scanner_changes_nothing
    /// By links that hold in every zone and a file, all within reach of keys.
    the_booking_goes_into_the_visitors_calendar
    /// In a site of another origin: as high as it is, filled in, and told of the booking.
    embedded_inline_resizes_and_tells
    /// One tab goes from site to site: each shows the page as high as it is.
    the_next_site_in_the_same_tab
    a_notice_in_a_frame_is_read
    /// The dialog takes the focus and gives it back; a click beside it closes it, one on its edge does not.
    popup_and_button_give_focus_back
    /// By a key that names its host, without cookies; a page of any other host reads nothing and does nothing.
    a_page_of_another_origin_calls_the_api
    /// From other sites, which are told nothing; where they cannot be loaded there are initials.
    hosts_have_pictures
    /// Sizes, requests, and nothing that moves while the page is drawn.
    budgets_hold
    /// In six languages, with controls that a finger finds.
    the_calendar_is_in_the_first_view_of_a_phone
    large_text_and_long_names_fit
    /// With the colours of the visitor's system, and by keys.
    what_is_chosen_is_seen_without_colours
    /// Until its times are there a bar says that they are on their way.
    the_clicked_day_is_marked_at_once
    /// Pictures of every state, each without serious barriers.
    every_state_is_accessible
    /// From the printed link of the administration panel to a key whose line for a terminal works.
    a_newcomer_makes_a_key
    a_newcomer_without_javascript
    a_key_is_copied
    presets_tick_scopes
    events_come_to_the_open_list
    /// Every page of the panel in both sizes, light and dark.
    the_panel_keeps_nobody_out
    the_panel_is_light
    /// The documentation from a phone to a large screen, light and dark.
    docs_are_accessible_and_fit
    docs_are_read_without_scripts
    /// Prefixes and typing errors of one letter; titles come before fields and texts.
    docs_find_what_is_asked_for
    /// Ids come from lists. The key stays in its tab, and each request has an Idempotency-Key of its own.
    docs_send_requests_with_the_readers_key
    docs_follow_the_addresses_of_the_former_page
    docs_first_view_is_small
    /// By what the documentation says and nothing else, with the program as the terminal.
    a_newcomer_receives_a_webhook
    /// With a key that names the page's host; a page of any other host gets the client's error.
    the_client_runs_in_a_page_of_another_origin
}
