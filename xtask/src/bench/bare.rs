//! The baseline: axum answering the same bytes, and nothing else, or another program's answer from the same database. It is a process of
//! its own, like the server.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;

use crate::http::Client;
use crate::project;
use crate::server;

#[derive(clap::Args)]
pub struct BareArguments {
    #[arg(long)]
    listen: SocketAddr,
    /// The body of every answer.
    #[arg(long)]
    body: PathBuf,
}

/// Serves until killed.
pub fn run(arguments: &BareArguments) -> Result<()> {
    let body: &'static [u8] = fs::read(&arguments.body)?.leak();
    let handler = move || async move { ([(CONTENT_TYPE, "application/json")], body) };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(arguments.listen).await?;
        Ok(axum::serve(listener, Router::new().route("/", get(handler))).await?)
    })
}

/// A running baseline; killed when dropped.
pub struct Bare {
    child: Child,
    pub address: SocketAddr,
}

impl Bare {
    /// Starts one that answers `body`; the file for it goes to `folder`.
    pub fn start(folder: &Path, body: &[u8]) -> Result<Bare> {
        let path = folder.join("bare.json");
        fs::write(&path, body)?;
        let own = std::env::current_exe().context("cannot find our own program")?;
        let mut command = project::command(&own.to_string_lossy());
        command.arg("bare").arg("--body").arg(&path);
        Bare::spawn(command)
    }

    /// Starts a program that answers at `/` of the address after `--listen`, which becomes its last argument.
    pub fn spawn(mut command: Command) -> Result<Bare> {
        let address = server::free_address(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        command.arg("--listen").arg(address.to_string()).stdin(Stdio::null());
        let bare = Bare { child: command.spawn().context("cannot start the baseline")?, address };
        let client = Client::new(&format!("http://{address}"), "");
        for _ in 0..500 {
            if client.send("GET", "/", &[], None).is_ok() {
                return Ok(bare);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        bail!("the baseline did not start")
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // Best effort: the process has no state.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
