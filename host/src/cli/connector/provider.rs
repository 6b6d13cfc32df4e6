//! `switchboard connector provider`, and the author's own provider while tests run.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use authoring::{Fault, Local};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use clap::{Args, ValueEnum};
use kit::provider::notes::Notes;
use kit::provider::paper::Paper;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

use crate::cli::listen_address::ListenAddress;
use crate::cli::output::answer;

/// Most bytes of a request to such a service.
const MAX_REQUEST_BYTES: usize = 1 << 20;
/// Time limit for an author's provider to start answering.
const STARTS_WITHIN: Duration = Duration::from_secs(30);

/// Serve a small service to write a connector for
///
/// Paper has lists, calendars and address books; the templates use it. Notes has notebooks and notes; the tutorial uses it. Any token
/// paper-<name> or notes-<name> opens an account, which is empty at first. All data is lost when the command ends.
#[derive(Args)]
#[command(after_help = "\
Example:
  switchboard connector provider paper --listen 127.0.0.1:8081
  curl -H 'Authorization: Bearer paper-ann' http://127.0.0.1:8081/v1/lists")]
pub struct ProviderCommand {
    /// The service
    #[arg(value_enum, default_value_t = Service::Paper)]
    service: Service,
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8081")]
    listen: ListenAddress,
}

#[derive(Clone, Copy, ValueEnum)]
enum Service {
    Paper,
    Notes,
}

impl ProviderCommand {
    pub async fn run(self) -> Result<()> {
        let listener = TcpListener::bind(self.listen.0);
        let listener = listener.await.with_context(|| format!("cannot listen on {}", self.listen.0))?;
        let (name, service) = match self.service {
            Service::Paper => ("paper", paper()),
            Service::Notes => ("notes", notes()),
        };
        answer(&format!("{name} on http://{}", listener.local_addr()?))?;
        axum::serve(listener, service).await.with_context(|| format!("{name} has stopped"))
    }
}

/// The router of Paper.
pub fn paper() -> Router {
    let paper = Paper::default();
    behind_a_port(move |request| paper.answer(request))
}

/// The router of Notes.
fn notes() -> Router {
    let notes = Notes::default();
    behind_a_port(move |request| notes.answer(request))
}

fn behind_a_port(
    answer: impl Fn(&http::Request<Bytes>) -> http::Response<Bytes> + Send + Sync + 'static,
) -> Router {
    let answer = Arc::new(answer);
    Router::new().fallback(move |request: Request| {
        let answer = answer.clone();
        async move {
            let (head, body) = request.into_parts();
            // A body that is too long or breaks off counts as empty, which the service refuses.
            let body = axum::body::to_bytes(body, MAX_REQUEST_BYTES)
                .await
                .unwrap_or_else(|_| Bytes::from_static(b"?"));
            let answer: Response = answer(&Request::from_parts(head, body)).map(Body::from);
            answer
        }
    })
}

/// The author's provider, stopped on drop.
pub struct RunningProvider {
    _child: Child,
}

impl RunningProvider {
    /// Starts it, if it has a command, and waits until it accepts connections.
    pub async fn start(local: &Local, folder: &Path) -> Result<Option<RunningProvider>> {
        let Some((program, arguments)) = local.command.split_first() else { return Ok(None) };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder).stdin(Stdio::null()).kill_on_drop(true);
        // Stdout is for this command's own result.
        command.stdout(std::io::stderr());
        let child = command.spawn().map_err(|error| {
            Fault::new(
                format!("the provider of project.toml cannot be started: {program}: {error}"),
                "command is the program and its arguments: command = [\"python3\", \"service.py\"]",
            )
        })?;
        let url: url::Url = local.url.parse().map_err(|error| {
            Fault::new(format!("url of project.toml: {error}"), "write url = \"http://127.0.0.1:9000\"")
        })?;
        let addresses = url.socket_addrs(|| None).unwrap_or_default();
        let ready = async {
            while TcpStream::connect(addresses.as_slice()).await.is_err() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(STARTS_WITHIN, ready).await.map_err(|_| {
            Fault::new(
                format!("the provider of project.toml takes no connections at {url}"),
                "look at what it prints above, and whether its url names the port that it listens on",
            )
        })?;
        Ok(Some(RunningProvider { _child: child }))
    }
}
