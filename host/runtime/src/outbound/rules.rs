//! Rules of the process on destinations of connectors' requests, beside their manifests.

use std::net::SocketAddr;
use std::sync::Arc;

use ipnet::IpNet;
use url::Url;

use crate::outbound::names::Lookup;
use crate::outbound::transport::Transport;

/// A provider that this process serves by itself.
#[derive(Clone, Debug)]
pub struct OwnProvider {
    /// The connector that may reach it, and no other.
    pub connector: String,
    /// The only address and port that the connector may reach there.
    pub address: SocketAddr,
}

/// Rules on destinations of requests, beside connectors' manifests and connections' settings.
pub(crate) struct Rules {
    /// The operator's networks beside public addresses.
    pub(crate) allowed: Vec<IpNet>,
    /// The same for webhooks, whose URLs the API's clients choose.
    pub(crate) webhook_allowed: Vec<IpNet>,
    pub(crate) approved: Vec<Url>,
    pub(crate) own: Option<OwnProvider>,
    pub(crate) lookup: Arc<dyn Lookup>,
    /// Replaces the network for connectors' requests.
    pub(crate) transport: Option<Arc<dyn Transport>>,
}

#[cfg(test)]
impl Rules {
    pub(super) fn of_tests(allowed: Vec<IpNet>) -> Self {
        let lookup = Arc::new(crate::outbound::SystemLookup);
        Rules {
            allowed,
            webhook_allowed: Vec::new(),
            approved: Vec::new(),
            own: None,
            lookup,
            transport: None,
        }
    }
}
