//! The policy of a new API key for assistants: its checks, and its bounds by that of the key that creates it.

use base::error::{Code, Result, invalid};
use base::recipients::Recipient;
use model::agent::{AgentPolicy, AgentSend};
use model::bounds::access::{MAX_AGENT_RECIPIENTS, MAX_AGENT_SENDS};

/// Checks the policy of a new key, and completes it with that of `maker`, which it may only narrow.
///
/// A maker without a policy sets no bounds: its key is in the hands of a program, which decides about the keys for its assistants. Contract
/// silent: whether such a key may give a policy.
///
/// # Errors
/// Names the field that is wrong, or wider than `maker` has it.
pub fn restrict_agent(new: &mut Option<AgentPolicy>, maker: Option<&AgentPolicy>) -> Result<()> {
    let Some(policy) = new else {
        *new = maker.cloned();
        return Ok(());
    };
    check_agent(policy)?;
    match maker.and_then(|maker| wider_field(policy, maker)) {
        None => Ok(()),
        Some(field) => {
            let message = format!("agent.{field} is wider than that of the key that asks");
            Err(invalid(Code::InvalidParameter, format!("agent.{field}"), message))
        }
    }
}

/// Checks the recipients and the number of sends of a policy.
///
/// # Errors
/// Names the field that is wrong.
pub fn check_agent(policy: &AgentPolicy) -> Result<()> {
    if policy.recipients.len() > MAX_AGENT_RECIPIENTS {
        let message = format!("agent.recipients has at most {MAX_AGENT_RECIPIENTS} entries");
        return Err(invalid(Code::InvalidParameter, "agent.recipients", message));
    }
    for (i, text) in policy.recipients.iter().enumerate() {
        if let Err(fault) = Recipient::parse(text) {
            let field = format!("agent.recipients[{i}]");
            let message = format!(
                "{field} must be an address such as ada@acme.com, or *@acme.com for its domain: {fault}"
            );
            return Err(invalid(Code::InvalidParameter, field, message));
        }
    }
    if policy.send == AgentSend::Allowed && policy.recipients.is_empty() {
        let message = "agent.send allowed needs agent.recipients: addresses, or domains such as *@acme.com";
        return Err(invalid(Code::MissingField, "agent.recipients", message));
    }
    if !(1..=MAX_AGENT_SENDS).contains(&policy.per_hour) {
        let message = format!("agent.perHour must be from 1 to {MAX_AGENT_SENDS}; got {}", policy.per_hour);
        return Err(invalid(Code::InvalidParameter, "agent.perHour", message));
    }
    Ok(())
}

/// Whether a key with the policy `narrower` lets an assistant do no more than one with `wider`. A key without a policy lets it read.
pub fn is_within(narrower: Option<&AgentPolicy>, wider: Option<&AgentPolicy>) -> bool {
    match (narrower, wider) {
        (Some(narrower), Some(wider)) => wider_field(narrower, wider).is_none(),
        (None, _) | (_, None) => true,
    }
}

/// The first field in which a policy allows more than `most`.
fn wider_field(policy: &AgentPolicy, most: &AgentPolicy) -> Option<&'static str> {
    // `ask` reaches everybody with a person's word, and `allowed` some without one: neither is within the other.
    let is_send_within = policy.send == AgentSend::Drafts || policy.send == most.send;
    let is_covered = |text: &String| {
        let pattern = Recipient::parse(text);
        pattern.is_ok_and(|pattern| {
            most.recipients
                .iter()
                .filter_map(|wide| Recipient::parse(wide).ok())
                .any(|wide| wide.covers(&pattern))
        })
    };
    let are_recipients_within = policy.send != AgentSend::Allowed || policy.recipients.iter().all(is_covered);
    [
        (!policy.writes || most.writes, "writes"),
        (is_send_within, "send"),
        (are_recipients_within, "recipients"),
        (policy.per_hour <= most.per_hour, "perHour"),
        (!policy.links || most.links, "links"),
    ]
    .into_iter()
    .find_map(|(is_within, field)| (!is_within).then_some(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(send: AgentSend, recipients: &[&str]) -> AgentPolicy {
        let recipients = recipients.iter().map(|text| (*text).to_owned()).collect();
        AgentPolicy { writes: true, send, recipients, ..AgentPolicy::default() }
    }

    /// Returns the field that is refused for a new key, or the policy that it gets.
    fn restricted(
        new: Option<AgentPolicy>,
        maker: Option<&AgentPolicy>,
    ) -> Result<Option<AgentPolicy>, String> {
        let mut new = new;
        match restrict_agent(&mut new, maker) {
            Ok(()) => Ok(new),
            Err(base::error::Error::Refused(refusal)) => Err(refusal.param.clone().unwrap_or_default()),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_policy_names_readable_recipients() {
        let refused = |policy: AgentPolicy| restricted(Some(policy), None).err().unwrap_or_default();
        assert_eq!(refused(policy(AgentSend::Allowed, &["ada@acme.com", "*@acme.com"])), "");
        assert_eq!(refused(policy(AgentSend::Allowed, &[])), "agent.recipients");
        assert_eq!(refused(policy(AgentSend::Ask, &[])), "");
        assert_eq!(refused(policy(AgentSend::Allowed, &["ada@acme.com", "*"])), "agent.recipients[1]");
        assert_eq!(refused(policy(AgentSend::Allowed, &["Ada <ada@acme.com>"])), "agent.recipients[0]");
        for per_hour in [0, -1, MAX_AGENT_SENDS + 1] {
            assert_eq!(refused(AgentPolicy { per_hour, ..AgentPolicy::default() }), "agent.perHour");
        }
        let many = vec!["*@acme.com"; MAX_AGENT_RECIPIENTS + 1];
        assert_eq!(refused(policy(AgentSend::Allowed, &many)), "agent.recipients");
    }

    #[test]
    fn a_key_inherits_the_policy_of_its_maker_and_narrows_it_alone() {
        let maker = policy(AgentSend::Allowed, &["*@acme.com", "bob@partner.example"]);
        assert_eq!(restricted(None, Some(&maker)), Ok(Some(maker.clone())));
        assert_eq!(restricted(None, None), Ok(None));
        let refused = |policy: AgentPolicy| restricted(Some(policy), Some(&maker)).err().unwrap_or_default();
        for narrower in [
            AgentPolicy::default(),
            maker.clone(),
            policy(AgentSend::Drafts, &["*@evil.example"]),
            policy(AgentSend::Allowed, &["ada@acme.com", "BOB@partner.example"]),
            AgentPolicy { per_hour: 1, ..maker.clone() },
        ] {
            assert_eq!(refused(narrower.clone()), "", "{narrower:?}");
        }
        for (wider, field) in [
            (policy(AgentSend::Ask, &[]), "agent.send"),
            (policy(AgentSend::Allowed, &["*@partner.example"]), "agent.recipients"),
            (policy(AgentSend::Allowed, &["ada@acme.com", "eve@evil.example"]), "agent.recipients"),
            (AgentPolicy { per_hour: 21, ..maker.clone() }, "agent.perHour"),
            (AgentPolicy { links: true, ..maker.clone() }, "agent.links"),
        ] {
            assert_eq!(refused(wider), field);
        }
        let asking = policy(AgentSend::Ask, &[]);
        assert_eq!(restricted(Some(maker.clone()), Some(&asking)), Err("agent.send".to_owned()));
        let reading = AgentPolicy::default();
        assert_eq!(restricted(Some(asking.clone()), Some(&reading)), Err("agent.writes".to_owned()));
        assert!(is_within(None, Some(&reading)) && is_within(Some(&maker), None));
        assert!(is_within(Some(&reading), Some(&maker)) && !is_within(Some(&asking), Some(&maker)));
    }
}
