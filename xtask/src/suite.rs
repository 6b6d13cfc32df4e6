//! All tests of the workspace. They run in two parallel lanes of about the same length: the tests of the API on SQLite and then those
//! that also run on PostgreSQL, through two hosts; and everything else, one program after the other.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::changed::plan::{Kind, executable};
use crate::connectors;
use crate::counts::Counts;
use crate::deadline;
use crate::engines::{PostgresScope, PostgresTests};
use crate::project;

/// The maximum time of one program of a lane, far more than any takes: it hangs then.
const LONGEST: Duration = Duration::from_secs(30 * 60);

/// Milliseconds by which the network of a data centre delays an answer of PostgreSQL.
const DATABASE_DELAY_MS: &str = "2";

/// The tests of the workspace, built.
pub struct Suite {
    programs: Vec<TestProgram>,
    /// The environment of all compilations.
    compiler: Vec<(&'static str, &'static str)>,
    /// The tests of the API that run on PostgreSQL, if there is a server.
    pub postgres_tests: PostgresTests,
}

/// The tests of one target.
struct TestProgram {
    manifest: PathBuf,
    kind: Kind,
    target: String,
    executable: PathBuf,
}

/// The results of the programs of a lane.
#[derive(Default)]
struct Lane {
    counts: Counts,
    failed: Vec<String>,
}

impl Suite {
    /// Builds every target of the workspace, with `compiler` in the environment, and chooses the tests for PostgreSQL.
    pub fn build(compiler: Vec<(&'static str, &'static str)>, scope: PostgresScope) -> Result<Suite> {
        let start = Instant::now();
        let mut command = project::cargo();
        // Binaries too: tests start and kill the server.
        command.args([
            "build",
            "--workspace",
            "--all-targets",
            "--message-format",
            "json-render-diagnostics",
        ]);
        command.envs(compiler.iter().copied()).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start cargo build")?;
        let stdout = child.stdout.take().expect("standard output is piped");
        let mut programs = Vec::new();
        for line in BufReader::new(stdout).lines() {
            if let Some(((manifest, kind, target), executable)) = executable(&line?) {
                programs.push(TestProgram { manifest, kind, target, executable });
            }
        }
        let status = child.wait()?;
        if !status.success() {
            bail!("building the tests failed: {status}");
        }
        programs.sort_by(|a, b| (&a.manifest, a.kind, &a.target).cmp(&(&b.manifest, b.kind, &b.target)));
        eprintln!("    building the tests: {}", project::seconds(start));
        let mut tests = Vec::new();
        for program in programs.iter().filter(|program| program.is_api()) {
            tests.extend(program.tests()?);
        }
        let postgres_tests = PostgresTests::choose(&tests, scope)?;
        Ok(Suite { programs, compiler, postgres_tests })
    }

    /// Runs all tests, even if some fail. `environment` has the addresses of the peers; with `postgres`, the URL of a server, the chosen
    /// tests of the API run on it too.
    pub fn run(&self, environment: &[(String, String)], postgres: Option<&str>) -> Result<()> {
        let start = Instant::now();
        let (api, others): (Vec<&TestProgram>, Vec<&TestProgram>) =
            self.programs.iter().partition(|program| program.is_api());
        let [api, others] = thread::scope(|scope| {
            let api = scope.spawn(|| self.api_lane(&api, environment, postgres));
            let others = scope.spawn(|| self.other_lane(&others, environment));
            [api, others].map(|lane| lane.join().expect("a lane reports its failures"))
        });
        let (mut api, others) = (api?, others?);
        api.counts.add(others.counts);
        api.failed.extend(others.failed);
        eprintln!("==> tests: {} ({})", api.counts, project::seconds(start));
        if postgres.is_some() {
            eprintln!("    {}", self.postgres_tests.summary());
        }
        if !api.failed.is_empty() {
            bail!("tests failed: {}", api.failed.join(", "));
        }
        Ok(())
    }

    fn api_lane(
        &self,
        programs: &[&TestProgram],
        environment: &[(String, String)],
        postgres: Option<&str>,
    ) -> Result<Lane> {
        let mut lane = Lane::default();
        for program in programs {
            let mut command = program.command();
            lane.run("the API on SQLite", command.envs(environment.iter().cloned()))?;
        }
        if let Some(url) = postgres {
            self.run_on_postgres(&mut lane, programs, url)?;
        }
        Ok(lane)
    }

    fn other_lane(&self, programs: &[&TestProgram], environment: &[(String, String)]) -> Result<Lane> {
        let mut lane = Lane::default();
        for program in programs {
            let mut command = program.command();
            command.envs(environment.iter().cloned());
            lane.run(&program.name(), &mut command)?;
        }
        let mut docs = project::cargo();
        docs.args(["test", "--workspace", "--doc", "--quiet"]).envs(self.compiler.iter().copied());
        lane.run("examples in documentation", &mut docs)?;
        Ok(lane)
    }

    /// Runs the chosen tests of the API on the PostgreSQL server at `url`, and those chosen for it once more with a network delay.
    fn run_on_postgres(&self, lane: &mut Lane, api: &[&TestProgram], url: &str) -> Result<()> {
        for program in api {
            let mut command = program.command_on_postgres(url, &self.postgres_tests.names);
            lane.run("the API on PostgreSQL, through two hosts", &mut command)?;
            if self.postgres_tests.distant.is_empty() {
                continue;
            }
            let mut command = program.command_on_postgres(url, &self.postgres_tests.distant);
            command.env("SWITCHBOARD_TEST_DATABASE_DELAY_MS", DATABASE_DELAY_MS);
            // Some of them make a database of their own.
            command.env("POSTGRES_URL", url);
            let name = format!("kills and convergence, PostgreSQL {DATABASE_DELAY_MS} ms away");
            lane.run(&name, &mut command)?;
        }
        Ok(())
    }
}

impl Lane {
    /// Runs a test command, and shows its output at its end, so that the lanes do not mix. A command that exceeds its time is killed, and
    /// the running tests are named.
    fn run(&mut self, name: &str, command: &mut Command) -> Result<()> {
        let start = Instant::now();
        let ran = deadline::run(command, start + LONGEST).with_context(|| format!("cannot run {name}"))?;
        let counts = Counts::from_output(&ran.stdout);
        self.counts.add(counts);
        let mut shown = std::io::stderr().lock();
        writeln!(shown, "    {name}: {counts} ({})", project::seconds(start))?;
        if ran.status.is_some_and(|status| status.success()) {
            return Ok(());
        }
        self.failed.push(name.to_owned());
        // Passed tests print nothing; a panic of a thread that belongs to no test is on standard error.
        for line in ran.stdout.lines().filter(|line| !line.ends_with(" ... ok")) {
            writeln!(shown, "{line}")?;
        }
        writeln!(shown, "{}", ran.stderr)?;
        if ran.status.is_none() {
            let running = ran.running.join(", ");
            writeln!(
                shown,
                "    {name} did not end in {} s and was ended; still running: {running}",
                LONGEST.as_secs()
            )?;
        }
        Ok(())
    }
}

impl TestProgram {
    fn is_api(&self) -> bool {
        self.kind == Kind::Test && self.target == "api"
    }

    /// Returns the folder of the crate, and the target.
    fn name(&self) -> String {
        let folder = self.folder().strip_prefix(project::root()).unwrap_or(self.folder()).display();
        format!("{folder} {}", self.target)
    }

    fn folder(&self) -> &Path {
        self.manifest.parent().expect("a manifest lies in a folder")
    }

    /// The full names of its tests.
    fn tests(&self) -> Result<Vec<String>> {
        let mut command = self.command();
        command.args(["--list", "--format", "terse"]);
        let list = project::output(&mut command, &format!("listing the tests of {}", self.name()))?;
        Ok(list.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    }

    /// Returns the command for these tests of the program, on the PostgreSQL server at `url` through two hosts.
    fn command_on_postgres(&self, url: &str, tests: &[String]) -> Command {
        let mut command = self.command();
        // Without `--exact` a name would also choose the tests whose names contain it.
        command.arg("--exact").args(tests);
        command.env("SWITCHBOARD_TEST_DATABASE_URL", url);
        // Requests go alternately to two hosts on one database.
        command.env("SWITCHBOARD_TEST_HOSTS", "2");
        command.env("SWITCHBOARD_TEST_BUNDLE", connectors::bundle());
        command
    }

    /// Returns the program's command in the folder and with the environment that `cargo test` gives it.
    fn command(&self) -> Command {
        let mut command = project::command(&self.executable.to_string_lossy());
        command.current_dir(self.folder()).env("CARGO_MANIFEST_DIR", self.folder());
        command.env("CARGO_MANIFEST_PATH", &self.manifest);
        command
    }
}
