//! Calls of the connector, as the host makes them.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::wire::{Account, ChangesRequest, Connection, Mutated, Sources};
use runtime::{
    Answer, Blobs, Call, CallContext, CallStats, Credentials, CredentialsError, Error, Login, LoginSecret,
    Runtime, Secret, Surface, Verb,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::line::Line;
use crate::mail_args::{self, Steps};

/// More calls than a case makes: each fork numbers its own from a multiple of this on.
const FORK_CALLS: u64 = 10_000;

/// The credentials of the run's one connection.
#[derive(Clone, PartialEq, Eq)]
pub enum ProviderCredentials {
    /// A bearer token (RFC 6750).
    Token(String),
    /// A user name and a password, sent with the Basic scheme (RFC 7617).
    Password { username: String, password: String },
}

impl ProviderCredentials {
    /// The user name, if the account is opened by one.
    pub fn username(&self) -> Option<&str> {
        match self {
            ProviderCredentials::Token(_) => None,
            ProviderCredentials::Password { username, .. } => Some(username),
        }
    }

    /// The values that must never leave the connector.
    pub fn secrets(&self) -> Vec<String> {
        match self {
            ProviderCredentials::Token(token) => vec![token.clone()],
            ProviderCredentials::Password { username, password } => {
                vec![encode_pair(username, password), password.clone()]
            }
        }
    }

    /// The value of the `Authorization` header.
    fn header(&self) -> String {
        match self {
            ProviderCredentials::Token(token) => format!("Bearer {token}"),
            ProviderCredentials::Password { username, password } => {
                format!("Basic {}", encode_pair(username, password))
            }
        }
    }
}

/// User name and password as the Basic scheme sends them.
fn encode_pair(username: &str, password: &str) -> String {
    STANDARD.encode(format!("{username}:{password}"))
}

#[async_trait]
impl Credentials for ProviderCredentials {
    async fn authorization(&self, slot: &str) -> Result<Option<Secret>, CredentialsError> {
        Ok((slot == "default").then(|| Secret::new(self.header())))
    }

    async fn refreshed(&self, _: &str) -> Result<Option<Secret>, CredentialsError> {
        Ok(None)
    }

    /// The user name and the password; a token alone names no user, as SASL needs.
    async fn login(&self) -> Result<Option<Login>, CredentialsError> {
        Ok(match self {
            ProviderCredentials::Token(_) => None,
            ProviderCredentials::Password { username, password } => Some(Login {
                username: username.clone(),
                secret: LoginSecret::Password(password.clone().into()),
            }),
        })
    }
}

/// A page of an answer.
#[derive(Clone, Debug)]
pub struct Page {
    pub sources: Sources,
    pub cursor: Option<String>,
    pub more: bool,
}

/// Calls one connector for one connection.
pub struct Caller {
    pub runtime: Runtime,
    pub connector: String,
    pub connection: Connection,
    pub credentials: Arc<ProviderCredentials>,
    /// The way to the provider, whose pace says how long a call may take.
    pub line: Arc<Line>,
    pub seed: u64,
    /// How many calls there were in the present case.
    pub calls: u64,
    /// The surface of the last call in the present case.
    pub surface: Option<Surface>,
    /// Processor time and memory of the last call.
    pub last: Option<CallStats>,
    /// The idempotency keys of the calls of the present case.
    pub keys: Vec<String>,
    /// Everything that the connector answered in the present case: bodies, cursors, messages.
    pub outputs: Vec<String>,
    /// The hints that the connector gave with messages in the present case, by external id.
    pub hints: HashMap<String, Value>,
    /// The steps that calls have reported.
    pub steps: Arc<Steps>,
}

impl Caller {
    /// Begins a case. Its calls are the same whichever cases ran before it.
    pub fn begin_case(&mut self, seed: u64) {
        (self.seed, self.calls, self.surface) = (seed, 0, None);
        self.keys.clear();
        self.outputs.clear();
        self.hints.clear();
        self.steps.take();
    }

    /// Returns a caller for calls in parallel to those of this one. `number` differs for each fork of a case.
    pub fn fork(&self, number: u64) -> Caller {
        Caller {
            runtime: self.runtime.clone(),
            connector: self.connector.clone(),
            connection: self.connection.clone(),
            credentials: self.credentials.clone(),
            line: self.line.clone(),
            seed: self.seed,
            // A separate random generator, the same in every run.
            calls: self.calls + FORK_CALLS * (number + 1),
            surface: self.surface,
            last: None,
            keys: self.keys.clone(),
            outputs: Vec::new(),
            hints: self.hints.clone(),
            steps: Arc::default(),
        }
    }

    /// One call.
    pub async fn raw(
        &mut self,
        (surface, verb, op): (Surface, Verb, &str),
        args: &impl Serialize,
        cursor: Option<&str>,
        key: Option<&str>,
    ) -> Result<Answer, Error> {
        self.calls += 1;
        self.surface = Some(surface);
        self.keys.extend(key.map(str::to_owned));
        let (mut args, blobs) = (json!(args), Blobs::default());
        if surface == Surface::Email {
            mail_args::complete(&mut args, &blobs, &self.hints, self.seed);
        }
        let attempt = key.map(|key| self.keys.iter().filter(|used| *used == key).count());
        let call = Call {
            connector: self.connector.clone(),
            surface,
            verb,
            op: op.to_owned(),
            body: json!({ "connection": self.connection, "args": args }).to_string(),
            cursor: cursor.map(str::to_owned),
            idempotency_key: key.map(str::to_owned),
            extra: attempt.map(|number| ("attempt".to_owned(), number.to_string())).into_iter().collect(),
            blobs,
            context: CallContext {
                tenant: "kit".to_owned(),
                connection_id: "con_kit".to_owned(),
                request_id: format!("kit_{}", self.calls),
                background: false,
                settings: self.connection.settings.clone(),
                credentials: self.credentials.clone(),
                origins: Arc::default(),
                // A test waits for no limits.
                limits: Some(Arc::default()),
                progress: Some(self.steps.clone()),
                seed: Some(self.seed.wrapping_add(self.calls)),
                timeout_ms: Some(self.line.pace.call_limit_ms()),
            },
        };
        let answered = self.runtime.call(call).await;
        self.last =
            Some(answered.as_ref().map_or_else(|error| error.stats.clone(), |answer| answer.stats.clone()));
        match &answered {
            Ok(answer) => {
                self.outputs.push(answer.body.clone());
                self.outputs.extend(answer.cursor.clone());
                if surface == Surface::Email {
                    self.hints.extend(mail_args::find_hints(answer));
                }
            }
            Err(error) => {
                self.outputs.extend([error.message.clone(), error.author.detail.clone()]);
                self.outputs.extend(error.author.log.iter().map(|line| format!("{line:?}")));
            }
        }
        answered
    }

    pub async fn check(&mut self) -> Result<Account, Error> {
        self.raw((Surface::Lifecycle, Verb::Check, "check"), &json!({}), None, None).await?.parse()
    }

    pub async fn fetch<T: DeserializeOwned>(
        &mut self,
        surface: Surface,
        op: &str,
        args: &impl Serialize,
    ) -> Result<T, Error> {
        self.raw((surface, Verb::Fetch, op), args, None, None).await?.parse()
    }

    pub async fn mutate(
        &mut self,
        surface: Surface,
        op: &str,
        args: &impl Serialize,
        key: &str,
    ) -> Result<Mutated, Error> {
        self.raw((surface, Verb::Mutate, op), args, None, Some(key)).await?.parse()
    }

    /// One page of a walk.
    pub async fn page(
        &mut self,
        of: (Surface, Verb, &str),
        args: &ChangesRequest,
        cursor: Option<&str>,
    ) -> Result<Page, Error> {
        let answer = self.raw(of, args, cursor, None).await?;
        Ok(Page { sources: answer.parse()?, cursor: answer.cursor.clone(), more: answer.more })
    }
}
