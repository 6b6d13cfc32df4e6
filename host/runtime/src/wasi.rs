//! WASI 0.2 for level `compat`: linked so that components of the usual toolchains start, with nothing granted. No files, no
//! arguments, no environment; standard output and error go to the call's log. `wasi:sockets` is not linked at all, `wasi:http`
//! is in `outbound/wasi_http.rs`.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime::component::Linker;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream, WasiCli, WasiCliView};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem, random};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};
use wasmtime_wasi::random::{Deterministic, WasiRandom};
use wasmtime_wasi::{HostWallClock, WasiCtx, WasiView};

use crate::log::{LogBook, LogLevel};
use crate::state::{NowMs, Random, State};
use crate::wasi_io;

/// The interfaces of WASI that are linked, without `wasi:` and version.
pub(crate) const OFFERED: [&str; 20] = [
    "cli/environment",
    "cli/exit",
    "cli/stdin",
    "cli/stdout",
    "cli/stderr",
    "cli/terminal-input",
    "cli/terminal-output",
    "cli/terminal-stdin",
    "cli/terminal-stdout",
    "cli/terminal-stderr",
    "clocks/monotonic-clock",
    "clocks/wall-clock",
    "filesystem/preopens",
    "filesystem/types",
    "io/error",
    "io/poll",
    "io/streams",
    "random/insecure",
    "random/insecure-seed",
    "random/random",
];

/// Links the interfaces in [`OFFERED`].
pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    wasi_io::add_to_linker(linker)?;
    clocks::wall_clock::add_to_linker::<State, WasiClocks>(linker, State::clocks)?;
    clocks::monotonic_clock::add_to_linker::<State, WasiClocks>(linker, State::clocks)?;
    random::random::add_to_linker::<State, WasiRandom>(linker, |s| s.ctx().ctx.random())?;
    cli::stdin::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    cli::stdout::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    cli::stderr::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    random::insecure::add_to_linker::<State, WasiRandom>(linker, |s| s.ctx().ctx.random())?;
    random::insecure_seed::add_to_linker::<State, WasiRandom>(linker, |s| s.ctx().ctx.random())?;
    filesystem::preopens::add_to_linker::<State, WasiFilesystem>(linker, State::filesystem)?;
    filesystem::types::add_to_linker::<State, WasiFilesystem>(linker, State::filesystem)?;
    cli::exit::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    cli::environment::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    cli::terminal_input::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    cli::terminal_output::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    cli::terminal_stdin::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    cli::terminal_stdout::add_to_linker::<State, WasiCli>(linker, State::cli)?;
    cli::terminal_stderr::add_to_linker::<State, WasiCli>(linker, State::cli)
}

/// A context that grants nothing. With a seed its randomness can be repeated.
pub(crate) fn context(log: &LogBook, now: &NowMs, seed: Option<u64>) -> wasmtime::Result<WasiCtx> {
    let mut builder = WasiCtx::builder();
    builder
        .stdout(Output { log: log.clone(), level: LogLevel::Info })
        .stderr(Output { log: log.clone(), level: LogLevel::Warn })
        .max_random_size(1 << 20)
        .wall_clock(Wall(now.clone()))
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false);
    if let Some(seed) = seed {
        // Another stream than the `random` import's, so that the two do not repeat each other.
        let stream = Random::new(Some(!seed)).bytes(4_096)?;
        builder
            .secure_random(Deterministic::new(stream.clone()))
            .insecure_random(Deterministic::new(stream))
            .insecure_random_seed(u128::from(seed));
    }
    Ok(builder.build())
}

struct Wall(NowMs);

impl HostWallClock for Wall {
    fn resolution(&self) -> Duration {
        Duration::from_millis(1)
    }

    fn now(&self) -> Duration {
        Duration::from_millis(u64::try_from((self.0)()).unwrap_or(0))
    }
}

/// Standard output or error: lines for the log.
struct Output {
    log: LogBook,
    level: LogLevel,
}

impl IsTerminal for Output {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Output {
    // Only WASI 0.3 calls this one, and that is not linked.
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(Lines { log: self.log.clone(), level: self.level, rest: Vec::new() })
    }
}

/// Splits output into lines, at once: a panic's text has to be there when the trap follows.
struct Lines {
    log: LogBook,
    level: LogLevel,
    rest: Vec<u8>,
}

/// A line that never ends is passed on in pieces of this size.
const LONGEST: usize = 4 << 10;

impl Lines {
    fn pass_on(&mut self, all: bool) {
        let mut start = 0;
        while start < self.rest.len() {
            let window = &self.rest[start..(start + LONGEST).min(self.rest.len())];
            let len = match window.iter().position(|b| *b == b'\n') {
                Some(end) => end + 1,
                None if window.len() == LONGEST || all => window.len(),
                None => break,
            };
            let line = String::from_utf8_lossy(&window[..len]);
            self.log.line(self.level, line.trim_end_matches(['\r', '\n']), &[]);
            start += len;
        }
        self.rest.drain(..start);
    }
}

impl OutputStream for Lines {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.rest.extend_from_slice(&bytes);
        self.pass_on(false);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(64 << 10)
    }
}

#[async_trait]
impl Pollable for Lines {
    async fn ready(&mut self) {}
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.pass_on(true);
    }
}
