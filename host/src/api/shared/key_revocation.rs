//! The query string of revocations of API keys.

use schemars::JsonSchema;
use serde::Deserialize;
use storage::key_revocations::KeyWebhooks;

/// The query string of a revocation.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct KeyRevocationQuery {
    /// The treatment of the key's webhooks: `disable` disables them instead of passing them to another key. Use it for a stolen key:
    /// webhooks that the thief created end with it.
    webhooks: Option<WebhookTreatment>,
}

/// Treatments of the webhooks of a revoked key.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum WebhookTreatment {
    Disable,
}

impl KeyRevocationQuery {
    /// The treatment of the key's webhooks.
    pub fn webhooks(&self) -> KeyWebhooks {
        match self.webhooks {
            Some(WebhookTreatment::Disable) => KeyWebhooks::End,
            None => KeyWebhooks::PassOn,
        }
    }
}
