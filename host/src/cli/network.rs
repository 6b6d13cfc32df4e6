//! A network as a setting.

use std::str::FromStr;

use ipnet::IpNet;
use serde::Deserialize;
use service::manage::keys::restrictions;

/// A network, or one address.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub struct Network(pub IpNet);

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let network = restrictions::network(text.trim()).map(Network);
        network.ok_or_else(|| format!("\"{text}\" is neither an address nor a network such as 10.1.0.0/16"))
    }
}

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}
