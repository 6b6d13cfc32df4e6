//! The clients of `sdk/clients`: their tests on a faulty server of their own and on a server here, their types, examples and packages; the
//! samples of the documentation, which use them; and the conformance tests and the official client of `/mcp`.
//! TypeScript runs under the peers' Node, Python in the environment that `cargo xtask test` makes. Without them (`--no-peers`) the tests say
//! that they did not run.

mod mcp;
mod samples;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use harness::TestServer;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::timeout;

/// The longest time of one command. All of them together take well under a minute.
const LONGEST: Duration = Duration::from_secs(240);

/// The interpreters, and the folders with the packages of Node.
struct Tools {
    node: String,
    typescript: PathBuf,
    mcp: PathBuf,
    python: String,
}

/// The tools, or none where they are not installed; then, unless they are required, the test says so and ends.
fn tools() -> Option<Tools> {
    let find = |name: &str| {
        let value = std::env::var(name).ok();
        if value.is_none() {
            assert_ne!(std::env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref(), Ok("1"), "{name} is not set");
            println!("NOT RUN: {name} is not set; `cargo xtask test` installs the tools of the clients");
        }
        value
    };
    let (node, python) = (find("BROWSER_NODE")?, find("CLIENTS_PYTHON")?);
    let (typescript, mcp) = (find("CLIENTS_TYPESCRIPT")?.into(), find("CLIENTS_MCP")?.into());
    Some(Tools { node, typescript, mcp, python })
}

/// The folder of the clients.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sdk/clients").canonicalize().expect("the clients' folder")
}

/// A server with the sandbox, and the variables that lead the clients' tests to it.
struct Stage {
    _server: TestServer,
    environment: [(&'static str, String); 3],
}

impl Stage {
    async fn start() -> Stage {
        let server = TestServer::builder()
            .config(|config| {
                config.event_streams.look_every = Duration::from_millis(50);
                config.event_streams.beat_every = Duration::from_millis(50);
            })
            .real_time()
            .start()
            .await;
        let api = server.client().await;
        let key = api.key.clone().expect("a key");
        let environment = [
            ("SWITCHBOARD_SERVER", format!("http://{}", server.address)),
            ("SWITCHBOARD_API_KEY", key),
            // Tests that need a server fail if they do not find it.
            ("SWITCHBOARD_LIVE", "1".to_owned()),
        ];
        Stage { _server: server, environment }
    }
}

/// Runs a command in a folder; fails with its output if it fails or takes too long.
async fn run(command: &mut Command, folder: &Path) {
    command.current_dir(folder).stdin(Stdio::null()).kill_on_drop(true);
    let name = format!("{:?}", command.as_std());
    let output = timeout(LONGEST, command.output()).await;
    let output = output.unwrap_or_else(|_| panic!("{name} did not end in time")).expect("the command starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name}: {}\n{stdout}\n{stderr}", output.status);
}

/// Copies a file, or a folder in place of what is there.
fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        fs::copy(from, to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
        return;
    }
    if to.exists() {
        fs::remove_dir_all(to).expect("the copy can be removed");
    }
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

/// Copies the TypeScript client beside its tools, and builds it as its package is built, with its tests and examples.
async fn build_typescript(tools: &Tools) {
    let dir = &tools.typescript;
    for name in [
        "src",
        "test",
        "examples",
        "README.md",
        "package.json",
        "tsconfig.json",
        "tsconfig.test.json",
        "tsconfig.samples.json",
    ] {
        copy(&sources().join("typescript").join(name), &dir.join(name));
    }
    copy(&sources().join("cases.json"), &dir.join("../cases.json"));
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&sources().join("../..").join(name), &dir.join(name));
    }
    for name in ["dist", "build"] {
        if dir.join(name).exists() {
            fs::remove_dir_all(dir.join(name)).expect("the last build can be removed");
        }
    }
    let mut compiler = Command::new(&tools.node);
    compiler.args(["node_modules/typescript/bin/tsc", "-p", "tsconfig.json", "--emitDeclarationOnly"]);
    run(&mut compiler, dir).await;
    let mut compiler = Command::new(&tools.node);
    compiler.args(["node_modules/typescript/bin/tsc", "-p", "tsconfig.json"]);
    compiler.args(["--noCheck", "--declaration", "false", "--removeComments"]);
    run(&mut compiler, dir).await;
    let mut compiler = Command::new(&tools.node);
    compiler.args(["node_modules/typescript/bin/tsc", "-p", "tsconfig.test.json"]);
    run(&mut compiler, dir).await;
}

/// Checks the types of the documentation's samples for TypeScript, against the client that was built.
async fn check_typescript_samples(tools: &Tools) {
    samples::write("typescript", "ts", &tools.typescript.join("samples"));
    let mut compiler = Command::new(&tools.node);
    compiler.args(["node_modules/typescript/bin/tsc", "-p", "tsconfig.samples.json"]);
    run(&mut compiler, &tools.typescript).await;
}

/// The TypeScript client passes its tests, its examples run, the documentation's samples have its types, and its package can be installed
/// and imported.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_typescript_client() {
    let Some(tools) = tools() else { return };
    let stage = Stage::start().await;
    build_typescript(&tools).await;
    check_typescript_samples(&tools).await;
    let tests = fs::read_dir(tools.typescript.join("build/test")).expect("the compiled tests").flatten();
    let mut tests: Vec<PathBuf> = tests.map(|entry| entry.path()).collect();
    tests.retain(|path| path.to_string_lossy().ends_with(".test.js"));
    assert!(tests.len() >= 5, "{tests:?}");
    let mut node = Command::new(&tools.node);
    node.args(["--test", "--test-timeout=60000"]).args(tests).envs(stage.environment);
    run(&mut node, &tools.typescript).await;

    let empty = TempDir::new().expect("a folder");
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", "--ignore-scripts", "--pack-destination"]).arg(empty.path());
    run(&mut npm, &tools.typescript).await;
    let archive = fs::read_dir(empty.path()).expect("a folder").flatten().next().expect("an archive").path();
    let mut npm = Command::new("npm");
    npm.args(["install", "--offline", "--silent", "--no-audit", "--no-fund", "--prefix", "."]).arg(&archive);
    run(&mut npm, empty.path()).await;
    let mut node = Command::new(&tools.node);
    node.args(["--input-type=module", "--eval"]).arg(
        "import { Switchboard } from 'switchboard-client'; import 'switchboard-client/webhooks'; import 'switchboard-client/node'; \
         import 'switchboard-client/types'; new Switchboard({ apiKey: 'k' }).calendars.events.list('cal_1');",
    );
    run(&mut node, empty.path()).await;
}

/// The Python client passes its tests and two type checkers, the documentation's samples have its types, and its package can be installed
/// and imported.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_python_client() {
    let Some(tools) = tools() else { return };
    let stage = Stage::start().await;
    let dir = sources().join("python");
    let python = |arguments: &[&str]| {
        let mut command = Command::new(&tools.python);
        command.arg("-B").args(arguments);
        command
    };
    run(python(&["-m", "pytest"]).envs(stage.environment), &dir).await;
    run(&mut python(&["-m", "mypy"]), &dir).await;
    let samples = TempDir::new().expect("a folder");
    let files = samples::write("python", "py", &samples.path().join("samples"));
    run(python(&["-m", "mypy"]).args(files), &dir).await;
    // Without it the package downloads a Node.
    let node = Path::new(&tools.node).parent().expect("a program lies in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", node.display());
    run(
        python(&["-m", "pyright", "--pythonpath", &tools.python])
            .env("PATH", path)
            .env("PYRIGHT_PYTHON_GLOBAL_NODE", "1"),
        &dir,
    )
    .await;

    let empty = TempDir::new().expect("a folder");
    let built = empty.path().join("built").to_string_lossy().into_owned();
    run(&mut python(&["-m", "build", "--no-isolation", "--wheel", "--outdir", &built]), &dir).await;
    let wheel = fs::read_dir(&built).expect("a folder").flatten().next().expect("a wheel").path();
    let installed = empty.path().join("installed").to_string_lossy().into_owned();
    let mut pip = python(&["-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", &installed]);
    run(pip.arg(wheel), empty.path()).await;
    let import = "import switchboard; switchboard.Switchboard(api_key='k').calendars.events.list('cal_1')";
    run(python(&["-c", import]).env("PYTHONPATH", &installed), empty.path()).await;
}

/// The documentation's samples for curl are commands of a shell, and those for Go are programs.
#[tokio::test]
async fn the_samples_for_curl_and_go() {
    let dir = TempDir::new().expect("a folder");
    let each = r#"for file; do bash -n "$file" || { cat "$file"; exit 1; }; done"#;
    let mut bash = Command::new("bash");
    bash.args(["-c", each, "bash"]).args(samples::write("curl", "sh", &dir.path().join("curl")));
    run(&mut bash, dir.path()).await;
    let files = samples::write("go", "go", &dir.path().join("go"));
    let mut gofmt = Command::new("gofmt");
    match gofmt.arg("-h").stdin(Stdio::null()).output().await {
        Ok(_) => run(Command::new("gofmt").args(["-e", "-l"]).args(files), dir.path()).await,
        Err(_) => println!("NOT RUN: gofmt is not installed; the samples for Go are not checked"),
    }
}
