//! Microsoft accounts, with the fake of `tests/fakes` in the place of Entra and Graph: it answers as they do, and an extract of Microsoft's
//! own SDK judges each request of the connector.

mod booking;
mod calendar;
mod connect;
mod contacts;
mod convergence;
mod mail;
mod push;
mod refusals;
mod series;
mod tasks;
mod throttling;
mod writing;

use fakes::Graph;
use fakes::graph::{AccountKind, GraphRequest, GraphService, GraphState};
use harness::Builder;

use crate::fake_provider::{self, FakeProvider};

/// The registered address to which users of the tests' application return.
pub const REDIRECT: &str = "https://app.example.test/microsoft";
pub const ALICE: &str = "alice@contoso.example";
/// A colleague of Alice's, who has an account where a test says so.
pub const BOB: &str = "bob@contoso.example";
/// The zone of Alice's mailbox, as Graph names it. It is Europe/Berlin.
pub const ZONE: &str = "W. Europe Standard Time";
/// The origin of Graph, and the one of upload sessions.
const GRAPH: &str = "https://graph.microsoft.com";
const UPLOADS: &str = "https://outlook.office.com";

pub type World = fake_provider::World<GraphService>;

impl FakeProvider for GraphService {
    const CONNECTOR: &'static str = "microsoft";
    const REDIRECT: &'static str = REDIRECT;
    const ALICE: &'static str = ALICE;
    const BOB: &'static str = BOB;
    const ENDPOINTS: &'static [(&'static str, &'static str)] = &[
        ("authorizeUrl", "/common/oauth2/v2.0/authorize"),
        ("tokenUrl", "/common/oauth2/v2.0/token"),
        ("userinfoUrl", "/v1.0/me?$select=id,mail,userPrincipalName,displayName"),
    ];

    async fn start_or_skip() -> Option<Graph> {
        Graph::start_or_skip().await
    }

    fn origins(graph: &Graph) -> Vec<(&'static str, &str)> {
        vec![(GRAPH, graph.url()), (UPLOADS, graph.upload_url())]
    }

    fn add_user(state: &mut GraphState, address: &str, name: &str) {
        state.add_account(address, name, ZONE, AccountKind::Work);
    }
}

impl World {
    /// Starts with an account of this kind.
    pub async fn of(builder: Builder, kind: AccountKind) -> Option<World> {
        World::with_account(builder, |state| state.add_account(ALICE, "Alice Example", ZONE, kind)).await
    }

    /// The requests that change something, since `clear_requests`; parts of batches each for itself.
    pub fn writes(&self) -> Vec<GraphRequest> {
        let all = self.fake.requests().into_iter().flat_map(unbatched);
        all.filter(|request| request.method != "GET" && !request.path.ends_with("/token")).collect()
    }

    /// The methods of `writes`.
    pub fn methods(&self) -> Vec<String> {
        self.writes().into_iter().map(|request| request.method).collect()
    }

    /// Requests to Graph since `clear_requests`, a batch as one.
    pub fn round_trips(&self) -> usize {
        self.fake.requests().iter().filter(|request| request.path.starts_with("/v1.0")).count()
    }
}

/// The parts of a batch; of any other request the request itself.
fn unbatched(request: GraphRequest) -> Vec<GraphRequest> {
    match request.parts.is_empty() {
        true => vec![request],
        false => request.parts,
    }
}
