//! Options of `switchboard keys create` for a key that an assistant uses.

use anyhow::{Result, ensure};
use base::recipients::Recipient;
use clap::{Args, ValueEnum};
use model::agent::{AgentPolicy, AgentSend};
use model::bounds::access::{DEFAULT_AGENT_SENDS, MAX_AGENT_SENDS};
use service::manage::keys::agent::check_agent;

use crate::cli::refusal::{command_error, ensure_or_help};

/// The condition under which an assistant sends, as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SendCondition {
    /// Never: a person sends the drafts that it writes
    Drafts,
    /// After a person confirmed the message in the assistant's program
    Ask,
    /// Without a question, to --agent-recipients only
    Allowed,
}

/// The options that make the policy of a key for assistants.
#[derive(Args)]
pub struct AgentOptions {
    /// Let assistants with this key write: drafts, marks, events, contacts and tasks [default: they only read]
    #[arg(long = "agent-writes")]
    writes: bool,
    /// When assistants send messages and invitations [default: drafts]
    #[arg(long = "agent-send", value_name = "CONDITION")]
    send: Option<SendCondition>,
    /// Address, or domain such as '*@acme.com', that --agent-send allowed sends to (repeatable)
    #[arg(long = "agent-recipients", value_name = "PATTERN", value_delimiter = ',')]
    recipients: Vec<String>,
    /// Messages and invitations that assistants send per hour [default: 20]
    #[arg(long = "agent-per-hour", value_name = "N", value_parser = clap::value_parser!(i64).range(1..=MAX_AGENT_SENDS))]
    per_hour: Option<i64>,
    /// Show assistants the addresses of links in full [default: their hosts only]
    #[arg(long = "agent-links")]
    links: bool,
}

impl AgentOptions {
    /// Returns the policy of the key; none if no option is given.
    ///
    /// # Errors
    /// Names the option that is wrong, or that is missing.
    pub fn policy(&self) -> Result<Option<AgentPolicy>> {
        let is_given = self.writes
            || self.links
            || self.send.is_some()
            || self.per_hour.is_some()
            || !self.recipients.is_empty();
        if !is_given {
            return Ok(None);
        }
        for text in &self.recipients {
            ensure_or_help(
                Recipient::parse(text).is_ok(),
                || format!("--agent-recipients \"{text}\" is neither an address nor a domain"),
                || "use for example ada@acme.com, or '*@acme.com' for a domain".to_owned(),
            )?;
        }
        let send = match self.send {
            None | Some(SendCondition::Drafts) => AgentSend::Drafts,
            Some(SendCondition::Ask) => AgentSend::Ask,
            Some(SendCondition::Allowed) => AgentSend::Allowed,
        };
        ensure!(
            send != AgentSend::Allowed || !self.recipients.is_empty(),
            "--agent-send allowed needs --agent-recipients"
        );
        let policy = AgentPolicy {
            writes: self.writes,
            send,
            recipients: self.recipients.clone(),
            per_hour: self.per_hour.unwrap_or(DEFAULT_AGENT_SENDS),
            links: self.links,
        };
        check_agent(&policy).map_err(command_error)?;
        Ok(Some(policy))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Options {
        #[command(flatten)]
        agent: AgentOptions,
    }

    fn policy(options: &[&str]) -> Result<Option<AgentPolicy>> {
        let options = Options::try_parse_from(["keys"].iter().chain(options))?;
        options.agent.policy()
    }

    #[test]
    fn a_key_without_options_has_no_policy() {
        assert_eq!(policy(&[]).unwrap(), None);
        let links = policy(&["--agent-links"]).unwrap();
        assert_eq!(links, Some(AgentPolicy { links: true, ..AgentPolicy::default() }));
    }

    #[test]
    fn options_make_a_policy() {
        let options =
            ["--agent-writes", "--agent-send", "ask", "--agent-recipients", "*@acme.com,bob@x.test"];
        let expected = AgentPolicy {
            writes: true,
            send: AgentSend::Ask,
            recipients: vec!["*@acme.com".to_owned(), "bob@x.test".to_owned()],
            ..AgentPolicy::default()
        };
        assert_eq!(policy(&options).unwrap(), Some(expected));
    }

    #[test]
    fn a_wrong_option_is_named() {
        for (options, named) in [
            (&["--agent-send", "allowed"][..], "--agent-recipients"),
            (&["--agent-recipients", "acme.com"][..], "acme.com"),
            (&["--agent-send", "always"][..], "always"),
            (&["--agent-per-hour", "0"][..], "--agent-per-hour"),
        ] {
            let error = policy(options).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
