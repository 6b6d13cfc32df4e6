//! `switchboard api`: one request to a running server.

mod fields;
mod output;
mod target;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result};
use base::clock::Entropy;
use bytes::Bytes;
use clap::Args;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use http::{Method, StatusCode};
use runtime::{OperatorAnswer, OperatorClient, PostError};
use serde::Deserialize;
use serde_json::value::RawValue;
use url::Url;

use crate::api;
use crate::api::request::body::MAX_BODY_WITH_FILES;
use crate::cli::answer_failure::{FailedAnswer, printable, printable_json};
use crate::cli::call::fields::{BodyField, QueryParameter};
use crate::cli::call::output::{CallOutput, JsonIndenter, TerminalText};
use crate::cli::call::target::RequestTarget;
use crate::cli::refusal::{INTERRUPTED, SERVER_FAILED, WRONG_USAGE, ensure_or_help, exit_failure, failure};
use crate::cli::serve::Signals;
use crate::cli::server_options::{self, ServerOptions};

/// Time limit for the head of an answer: some operations wait for a provider.
const HEAD_TIMEOUT: Duration = Duration::from_secs(120);
/// Longest silence within an answer. Event streams are silent for at most 15 seconds.
const MAX_SILENCE: Duration = Duration::from_secs(60);
/// Most bytes of a page that `--paginate` reads.
const MAX_PAGE_BYTES: usize = 64 << 20;
/// Most bytes of an error.
const MAX_ERROR_BYTES: usize = 64 << 10;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Call an operation of the API
///
/// REQUEST is a method and a path (GET /v1/calendars), a path alone (GET, or POST if there is a body), or an operation's ID from the API
/// documentation with the IDs of its path (calendars.events.get CALENDAR_ID EVENT_ID).
///
/// The answer goes to stdout, JSON indented. An error is two lines on stderr: the cause and the remedy. Requests that change something get
/// an Idempotency-Key, unless -H names one. The API key comes from a profile, a variable or a file, never from an argument.
///
/// Exit codes: 0 success, 1 the server refuses the request (4xx), 2 wrong usage, 4 the server fails (5xx) or cannot be reached.
#[derive(Args)]
#[command(after_help = "\
Examples:
  switchboard api GET /v1/calendars -q limit=5
  switchboard api calendars.list --paginate | jq -r .name
  switchboard api POST /v1/calendars -f connectionId=conn_… -f name=Work
  switchboard api PATCH /v1/calendars/cal_… -f name=Office -H 'If-Match: \"…\"'
  switchboard api POST /v1/email/send --input message.json
  switchboard api GET /v1/email/messages/msg_…/attachments/att_… --output report.pdf")]
pub struct ApiCall {
    /// Method and path, path, or operation with its IDs
    #[arg(value_name = "REQUEST", required = true)]
    request: Vec<String>,
    /// Query parameter (repeatable)
    #[arg(short = 'q', long, value_name = "NAME=VALUE", value_parser = fields::parse_query)]
    query: Vec<QueryParameter>,
    /// Text field of the JSON body (repeatable); a.b=… sets a field of an object, a[]=… adds to a list
    #[arg(short = 'f', long = "raw-field", value_name = "FIELD=TEXT", value_parser = fields::parse_text)]
    raw_fields: Vec<BodyField>,
    /// Field of the JSON body (repeatable): true, false, null and numbers are JSON, @FILE is the text of a file, all else is text
    #[arg(short = 'F', long = "field", value_name = "FIELD=VALUE", value_parser = fields::parse_typed)]
    fields: Vec<BodyField>,
    /// File with the body; - reads it from stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["raw_fields", "fields"])]
    input: Option<PathBuf>,
    /// Request header (repeatable)
    #[arg(short = 'H', long = "header", value_name = "NAME:VALUE")]
    headers: Vec<String>,
    /// Read all pages of a list, and print each item as a line of JSON
    #[arg(long)]
    paginate: bool,
    /// Print the status and the headers of the answer too
    #[arg(short = 'i', long, conflicts_with = "paginate")]
    include: bool,
    /// File to write the answer to, as it is
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    server: ServerOptions,
}

/// A page of a list.
#[derive(Deserialize)]
struct ListPage {
    data: Option<Vec<Box<RawValue>>>,
    next_cursor: Option<String>,
}

/// A request that is ready to be sent.
struct PreparedCall {
    client: OperatorClient,
    server: Url,
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Bytes,
    paginate: bool,
    include: bool,
    output: CallOutput,
}

impl ApiCall {
    /// Sends the request, and writes the answer.
    pub async fn run(self) -> Result<ExitCode> {
        let call = self.prepare()?;
        if !call.output.is_file() {
            call.run().await?;
            return Ok(ExitCode::SUCCESS);
        }
        // A signal removes the part of the file that was written.
        let mut signals = Signals::new()?;
        tokio::select! {
            done = call.run() => done.map(|()| ExitCode::SUCCESS),
            () = signals.end() => Ok(ExitCode::from(INTERRUPTED)),
        }
    }

    fn prepare(self) -> Result<PreparedCall> {
        let fields: Vec<BodyField> = self.raw_fields.iter().chain(&self.fields).cloned().collect();
        let has_body = !fields.is_empty() || self.input.is_some();
        let target = RequestTarget::parse(&self.request, has_body, &api::operations())?;
        let is_get = target.method == Method::GET;
        ensure_usage(
            !(is_get && has_body),
            "a GET request has no body",
            "use -q NAME=VALUE for query parameters, or another method",
        )?;
        ensure_usage(!self.paginate || is_get, "--paginate reads lists alone", "use it with a GET request")?;
        let mut headers = parse_headers(&self.headers)?;
        headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(server_options::USER_AGENT));
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        let body = match (&self.input, fields.is_empty()) {
            (Some(file), _) => read_input(file)?,
            (None, false) => Bytes::from(serde_json::to_vec(&fields::body(&fields)?)?),
            (None, true) => Bytes::new(),
        };
        if has_body {
            headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
        }
        if target.is_write() && !headers.contains_key(IDEMPOTENCY_KEY) {
            let key = format!("cli-{}", hex::encode(Entropy::system().bytes::<16>()));
            headers
                .insert(IDEMPOTENCY_KEY, HeaderValue::try_from(key).context("hexadecimal digits are text")?);
        }
        let access = self.server.resolve()?;
        if target.needs_key() {
            headers.insert(AUTHORIZATION, server_options::authorization(access.key()?)?);
        }
        let mut url = server_options::url_of(&access.server, &target.path);
        url.set_query(target.query.as_deref());
        for parameter in &self.query {
            url.query_pairs_mut().append_pair(&parameter.name, &parameter.value);
        }
        Ok(PreparedCall {
            client: access.client,
            server: access.server,
            method: target.method,
            url,
            headers,
            body,
            paginate: self.paginate,
            include: self.include,
            output: CallOutput::open(self.output.as_deref())?,
        })
    }
}

/// An earlier cursor of a list, to which the later ones are compared. It is replaced after 1, 2, 4, 8, … pages, so that cursors that come
/// around are noticed whatever their number, and only one is stored.
#[derive(Default)]
struct SeenCursor {
    cursor: Option<String>,
    pages: u64,
}

impl SeenCursor {
    /// Whether the list leads back to an earlier page, given the cursor of its next one.
    fn repeats(&mut self, next: &str) -> bool {
        if self.cursor.as_deref() == Some(next) {
            return true;
        }
        self.pages += 1;
        if self.pages.is_power_of_two() {
            self.cursor = Some(next.to_owned());
        }
        false
    }
}

impl PreparedCall {
    async fn run(mut self) -> Result<()> {
        match self.paginate {
            true => self.print_pages().await?,
            false => self.print_answer().await?,
        }
        self.output.finish()
    }

    /// Writes each item of a list as a line, page by page.
    async fn print_pages(&mut self) -> Result<()> {
        let mut seen = SeenCursor::default();
        loop {
            let answer = self.exchange().await?;
            let body = answer.whole(MAX_PAGE_BYTES, HEAD_TIMEOUT).await.map_err(|e| self.no_answer(&e))?;
            let page = serde_json::from_slice::<ListPage>(&body).ok();
            let Some(ListPage { data: Some(items), next_cursor }) = page else {
                return Err(failure("the answer is not a list", "leave out --paginate"));
            };
            for item in items {
                let line = printable_json(item.get()) + "\n";
                if !self.output.write(line.as_bytes())? {
                    return Ok(());
                }
            }
            let Some(next) = next_cursor else { return Ok(()) };
            if seen.repeats(&next) {
                let help = "report this to the operator of the server";
                return Err(exit_failure(SERVER_FAILED, "the list returned the same cursor twice", help));
            }
            self.set_cursor(&next);
        }
    }

    fn set_cursor(&mut self, cursor: &str) {
        let kept: Vec<(String, String)> =
            self.url.query_pairs().into_owned().filter(|(name, _)| name != "cursor").collect();
        self.url.query_pairs_mut().clear().extend_pairs(kept).append_pair("cursor", cursor);
    }

    /// Writes the answer piece by piece.
    async fn print_answer(&mut self) -> Result<()> {
        let mut answer = self.exchange().await?;
        let content_type = answer.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let content_type = content_type.unwrap_or_default().to_ascii_lowercase();
        let is_json = content_type.starts_with("application/json") || content_type.contains("+json");
        let is_text = is_json || content_type.is_empty() || content_type.starts_with("text/");
        ensure_or_help(
            is_text || !self.output.is_terminal(),
            || format!("the answer is {}, which a terminal cannot show", printable(&content_type)),
            || "write it to a file with --output FILE".to_owned(),
        )?;
        let mut indenter = (is_json && !self.output.is_file()).then(JsonIndenter::default);
        let mut terminal_text = self.output.is_terminal().then(TerminalText::default);
        let mut is_empty = true;
        loop {
            let piece = match answer.piece(MAX_SILENCE).await {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(e) => {
                    // The error begins on a line of its own.
                    if indenter.is_some() && !is_empty {
                        self.output.write(b"\n")?;
                    }
                    return Err(self.no_answer(&e));
                }
            };
            is_empty = false;
            let is_read = match (&mut indenter, &mut terminal_text) {
                (Some(indenter), _) => self.output.write(&indenter.indent(&piece))?,
                (None, Some(text)) => self.output.write(&text.filter(&piece))?,
                (None, None) => self.output.write(&piece)?,
            };
            if !is_read {
                return Ok(());
            }
        }
        if indenter.is_some() && !is_empty {
            self.output.write(b"\n")?;
        }
        Ok(())
    }

    /// Sends the request, and returns the answer if it is a success.
    async fn exchange(&mut self) -> Result<OperatorAnswer> {
        let (headers, body) = (self.headers.clone(), self.body.clone());
        let sent = self.client.send(self.method.clone(), &self.url, headers, body, HEAD_TIMEOUT).await;
        let answer = sent.map_err(|e| self.no_answer(&e))?;
        if self.include {
            self.print_head(&answer)?;
        }
        if matches!(answer.status, 200..=299 | 304) {
            return Ok(answer);
        }
        let (status, headers) = (answer.status, answer.headers.clone());
        // An error whose body does not arrive still has its status.
        let body = answer.whole(MAX_ERROR_BYTES, MAX_SILENCE).await.unwrap_or_default();
        Err(FailedAnswer { server: &self.server, status, headers: &headers, body: &body }.error())
    }

    fn print_head(&mut self, answer: &OperatorAnswer) -> Result<()> {
        let reason = StatusCode::from_u16(answer.status).ok().and_then(|status| status.canonical_reason());
        let mut head =
            format!("HTTP/1.1 {} {}", answer.status, reason.unwrap_or_default()).trim_end().to_owned();
        for (name, value) in &answer.headers {
            head.push_str(&format!("\n{name}: {}", printable(&String::from_utf8_lossy(value.as_bytes()))));
        }
        head.push_str("\n\n");
        self.output.write(head.as_bytes())?;
        Ok(())
    }

    /// The error of a request without an answer. A write may have happened: its key makes a repetition safe.
    fn no_answer(&self, error: &PostError) -> anyhow::Error {
        let key = self.headers.get(IDEMPOTENCY_KEY).and_then(|key| key.to_str().ok());
        match (key, error) {
            (Some(key), PostError::Timeout | PostError::Http(_)) => exit_failure(
                SERVER_FAILED,
                server_options::describe_failure(&self.server, error),
                format!("repeat the request with -H 'Idempotency-Key: {key}': then it happens once"),
            ),
            _ => server_options::no_answer(&self.server, error),
        }
    }
}

fn ensure_usage(holds: bool, cause: &str, help: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(exit_failure(WRONG_USAGE, cause, help)) }
}

/// Parses `NAME:VALUE`. No error shows a value.
fn parse_headers(lines: &[String]) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(':').unwrap_or((line.as_str(), ""));
        let parsed = HeaderName::from_str(name.trim()).ok().zip(HeaderValue::from_str(value.trim()).ok());
        let Some((name, value)) = parsed.filter(|_| line.contains(':')) else {
            return Err(exit_failure(WRONG_USAGE, "-H: this is not a header", "write -H 'NAME: VALUE'"));
        };
        ensure_usage(
            name != AUTHORIZATION,
            "-H: the API key is not given as an argument",
            "run `switchboard login`, or set SWITCHBOARD_API_KEY",
        )?;
        headers.append(name, value);
    }
    Ok(headers)
}

/// The body in a file, or in stdin.
fn read_input(file: &Path) -> Result<Bytes> {
    let mut body = Vec::new();
    let limit = u64::try_from(MAX_BODY_WITH_FILES).unwrap_or(u64::MAX).saturating_add(1);
    let read = match file == Path::new("-") {
        true => std::io::stdin().lock().take(limit).read_to_end(&mut body),
        false => std::fs::File::open(file).and_then(|file| file.take(limit).read_to_end(&mut body)),
    };
    read.map_err(|e| {
        let cause = format!("--input: cannot read {}: {e}", file.display());
        exit_failure(WRONG_USAGE, cause, "name a file with the body, or - for stdin")
    })?;
    ensure_usage(
        body.len() <= MAX_BODY_WITH_FILES,
        "--input: the body is larger than any operation accepts",
        "add large attachments to a draft one by one",
    )?;
    Ok(Bytes::from(body))
}

#[cfg(test)]
mod tests {
    use crate::cli::refusal::{exit_code, render};

    use super::*;

    fn refused(lines: &[&str]) -> String {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let error = parse_headers(&lines).unwrap_err();
        assert_eq!(exit_code(&error), WRONG_USAGE);
        render(&error)
    }

    #[test]
    fn headers_are_names_with_values() {
        let headers =
            parse_headers(&["If-Match: \"1\"".to_owned(), "prefer:handling=strict".to_owned()]).unwrap();
        assert_eq!(headers["if-match"], "\"1\"");
        assert_eq!(headers["prefer"], "handling=strict");
        assert!(refused(&["If-Match"]).contains("-H 'NAME: VALUE'"));
    }

    #[test]
    fn a_list_that_leads_back_to_an_earlier_page_is_noticed() {
        for (beginning, length) in [(0, 1), (0, 2), (3, 1), (3, 2), (5, 7)] {
            let mut seen = SeenCursor::default();
            let page = |at: u64| if at < beginning { at } else { beginning + (at - beginning) % length };
            let found = (0..100).find(|at| seen.repeats(&page(*at).to_string()));
            assert!(found.is_some_and(|at| at >= length), "{beginning} {length}: {found:?}");
        }
        let mut seen = SeenCursor::default();
        assert!(!(0..100).any(|at: u64| seen.repeats(&at.to_string())));
    }

    #[test]
    fn no_key_is_an_argument() {
        let text = refused(&["Authorization: Bearer uc_live_secret"]);
        assert!(text.contains("switchboard login") && !text.contains("secret"), "{text}");
    }
}
