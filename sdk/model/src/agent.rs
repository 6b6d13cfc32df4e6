//! The policy of an API key that an assistant uses through the MCP server.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds::access::DEFAULT_AGENT_SENDS;
#[cfg(feature = "schema")]
use crate::bounds::access::{MAX_AGENT_RECIPIENTS, MAX_AGENT_SENDS};
#[cfg(feature = "schema")]
use crate::formats;

/// The rights of an assistant that uses the key at the MCP server (`/mcp`), beside reading. It narrows the key's scopes there, and does not
/// change what the key may do in the API.
// Contract silent: that a key has a policy for assistants, and which.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AgentPolicy {
    /// Whether the assistant may write drafts, mark and move messages, and change events, contacts and tasks.
    pub writes: bool,
    /// The condition under which the assistant may send messages, invitations and answers to them.
    pub send: AgentSend,
    /// The only recipients with `send` `allowed`: addresses such as `ada@acme.com`, and domains such as `*@acme.com`, without their
    /// subdomains. At most 100.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::RecipientPattern>", length(max = MAX_AGENT_RECIPIENTS)))]
    pub recipients: Vec<String>,
    /// The number of messages, invitations and answers that the assistant may send per hour.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_AGENT_SENDS)))]
    pub per_hour: i64,
    /// Whether the assistant sees addresses of links in full. Otherwise it sees their hosts alone.
    pub links: bool,
}

impl Default for AgentPolicy {
    fn default() -> Self {
        AgentPolicy {
            writes: false,
            send: AgentSend::Drafts,
            recipients: Vec::new(),
            per_hour: DEFAULT_AGENT_SENDS,
            links: false,
        }
    }
}

/// The condition under which an assistant may send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum AgentSend {
    /// Never: it writes drafts, and a person sends them.
    #[default]
    Drafts,
    /// After a person confirmed the message in the assistant's program. If the program cannot ask, as `drafts`.
    Ask,
    /// Without a question, to `recipients` alone.
    Allowed,
}
