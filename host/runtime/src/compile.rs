//! Compiling components. Code of third parties may make a compiler slow, hungry or stop, so in service it happens in a child
//! process with its own limits, which holds no secrets; one at a time.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Semaphore, SemaphorePermit};
use wasmtime::Engine;

use crate::engine;
use crate::log::harmless;

/// The subcommand that makes the host's own binary the compiler.
pub const CHILD_COMMAND: &str = "compile-connector";
/// Its flag that keeps files and lines in the code.
pub const LINES_FLAG: &str = "lines";

const CHILD_WALL: Duration = Duration::from_secs(180);
const CHILD_CPU_S: u64 = 120;
const CHILD_ADDRESS_SPACE: u64 = 4 << 30;
/// Most bytes of compiled code.
pub(crate) const MAX_ARTEFACT: u64 = 512 << 20;

/// Most bytes of the child's message that are shown.
const MAX_SHOWN: usize = 4_096;

/// The compiler: a child process, or this process.
#[derive(Clone)]
pub(crate) struct Compiler {
    child: Option<PathBuf>,
    lines: bool,
    turn: Arc<Semaphore>,
}

impl Compiler {
    /// Compiles in a child made of the binary `child`; without one in this process, for tests and tools. `lines`: the code has
    /// files and lines.
    pub(crate) fn new(child: Option<PathBuf>, lines: bool) -> Self {
        Compiler { child, lines, turn: Arc::new(Semaphore::new(1)) }
    }

    /// Waits until no other component is being compiled.
    pub(crate) async fn wait_for_turn(&self) -> anyhow::Result<CompilerTurn<'_>> {
        let permit = self.turn.acquire().await.context("the compiler is gone")?;
        Ok(CompilerTurn { compiler: self, _permit: permit })
    }
}

/// The right to compile a component now.
pub(crate) struct CompilerTurn<'a> {
    compiler: &'a Compiler,
    _permit: SemaphorePermit<'a>,
}

impl CompilerTurn<'_> {
    /// Native code for the component `wasm`.
    pub(crate) async fn compile(self, wasm: &[u8]) -> anyhow::Result<Vec<u8>> {
        let lines = self.compiler.lines;
        match &self.compiler.child {
            Some(binary) => in_child(binary, wasm, lines).await,
            None => {
                let wasm = wasm.to_vec();
                tokio::task::spawn_blocking(move || compile(&engine::compiler(lines)?, &wasm)).await?
            }
        }
    }
}

fn compile(engine: &Engine, wasm: &[u8]) -> anyhow::Result<Vec<u8>> {
    Ok(engine.precompile_component(wasm)?)
}

async fn in_child(binary: &std::path::Path, wasm: &[u8], lines: bool) -> anyhow::Result<Vec<u8>> {
    let mut child = tokio::process::Command::new(binary)
        .arg(CHILD_COMMAND)
        .args(lines.then(|| format!("--{LINES_FLAG}")))
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("starting {} {CHILD_COMMAND}", binary.display()))?;
    let mut stdin = child.stdin.take().context("no stdin")?;
    let mut stdout = child.stdout.take().context("no stdout")?.take(MAX_ARTEFACT + 1);
    let mut stderr = child.stderr.take().context("no stderr")?.take(16 << 10);
    let (mut code, mut said) = (Vec::new(), Vec::new());
    let exchange = async {
        let write = async {
            // A child that refuses early closes its end; its exit status has the reason.
            let _ = stdin.write_all(wasm).await;
            drop(stdin);
        };
        let (_, read, _) = tokio::join!(write, stdout.read_to_end(&mut code), stderr.read_to_end(&mut said));
        read?;
        anyhow::Ok(child.wait().await?)
    };
    let status = tokio::time::timeout(CHILD_WALL, exchange)
        .await
        .with_context(|| format!("compiling took longer than {} s", CHILD_WALL.as_secs()))??;
    if !status.success() {
        // The message quotes names of the component.
        let said = harmless(String::from_utf8_lossy(&said).trim(), MAX_SHOWN);
        bail!("the component does not compile: {said} ({status})");
    }
    ensure!(code.len() as u64 <= MAX_ARTEFACT, "the compiled component is larger than {MAX_ARTEFACT} bytes");
    Ok(code)
}

/// The main function of the child: limits itself, compiles the component on stdin, writes the artefact to stdout. `lines`:
/// [`LINES_FLAG`] was given. Returns the exit code.
pub fn compile_child_main(lines: bool) -> i32 {
    let run = || -> anyhow::Result<()> {
        limit_this_process()?;
        let mut wasm = Vec::new();
        std::io::stdin().read_to_end(&mut wasm)?;
        let code = compile(&engine::compiler(lines)?, &wasm)?;
        std::io::stdout().write_all(&code)?;
        Ok(())
    };
    match run() {
        Ok(()) => 0,
        Err(error) => {
            // The parent reads it; this stream has no other use.
            let _ = writeln!(std::io::stderr(), "{error:#}");
            1
        }
    }
}

fn limit_this_process() -> anyhow::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let at_most = |value| Rlimit { current: Some(value), maximum: Some(value) };
    setrlimit(Resource::Cpu, at_most(CHILD_CPU_S))?;
    setrlimit(Resource::Core, at_most(0))?;
    // Darwin has no working limit of the address space.
    #[cfg(target_os = "linux")]
    setrlimit(Resource::As, at_most(CHILD_ADDRESS_SPACE))?;
    let _ = rustix::process::nice(10);
    Ok(())
}
