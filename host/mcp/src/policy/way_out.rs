//! The decision about an act that reaches other people.

use crate::api::Api;
use crate::ask::{Question, SealedAct, new_nonce, new_question};
use crate::policy::act::Act;
use crate::policy::settings::SendPolicy;
use crate::recipients;
use crate::tool::{Context, ToolError};

/// The decision about an act.
#[derive(Clone, Debug, PartialEq)]
pub enum Passage {
    /// The act may be done, with this `Idempotency-Key`. It counts in the key's hour already.
    Go { idempotency_key: String },
    /// A person has to be asked.
    Ask(Question),
}

/// Decides whether an act may reach its recipients.
///
/// # Errors
/// `person_required` where a person has to act: under `Drafts`, and under `Ask` with a client that cannot ask. `missing_field`,
/// `invalid_parameter`, `too_many_recipients` and `recipient_not_allowed` for the recipients. `send_declined` if the person refused.
/// `invalid_confirmation` for a confirmation that is too old, of another call or another key, or was changed. `hourly_limit_reached`
/// after the policy's number of sends.
pub async fn way_out<A: Api>(context: &Context<'_, A>, act: &Act) -> Result<Passage, ToolError> {
    match context.policy.send {
        SendPolicy::Drafts => Err(act.kind.person_required()),
        SendPolicy::Ask if !context.can_ask => Err(act.kind.person_required()),
        SendPolicy::Allowed => {
            recipients::check(&act.recipients)?;
            recipients::ensure_allowed(&act.recipients, &context.policy.recipients)?;
            let idempotency_key = new_nonce();
            take_send(context, &idempotency_key).await?;
            Ok(Passage::Go { idempotency_key })
        }
        SendPolicy::Ask => {
            recipients::check(&act.recipients)?;
            let target = act.target.as_ref();
            let confirmed = confirmed(context, act.tool, &act.arguments, target.map(|of| of.id.as_str()))?;
            let is_current = |sealed: &SealedAct| sealed.etag.as_ref() == target.map(|of| &of.etag);
            match confirmed {
                None => Ok(Passage::Ask(new_question(context.api, act, false))),
                Some(sealed) if !is_current(&sealed) => {
                    Ok(Passage::Ask(new_question(context.api, act, true)))
                }
                Some(sealed) => {
                    take_send(context, &sealed.nonce).await?;
                    Ok(Passage::Go { idempotency_key: sealed.nonce })
                }
            }
        }
    }
}

/// Returns the act that a person confirmed with this call; none if the call brings no answer to a question.
///
/// # Errors
/// `send_declined` if the person refused; `invalid_confirmation` if the answer belongs to another call or key, is too old or was changed.
pub fn confirmed<A: Api>(
    context: &Context<'_, A>,
    tool: &str,
    arguments: &str,
    target: Option<&str>,
) -> Result<Option<SealedAct>, ToolError> {
    let Some(asked) = &context.asked else { return Ok(None) };
    let act = SealedAct::open(context.api, &asked.state);
    let Some(act) = act.filter(|act| act.is_for(context.api.key_id(), tool, arguments, target)) else {
        let message = "the confirmation is older than 10 minutes, or belongs to another call or another key";
        return Err(ToolError::new("invalid_confirmation", message)
            .param("requestState")
            .remedy("Call the tool again without `requestState`: the user is asked again."));
    };
    if !asked.is_confirmed {
        return Err(ToolError::new("send_declined", "the user declined to send it")
            .remedy("Do not try again unless the user asks for it."));
    }
    Ok(Some(act))
}

/// Takes one send of the key's hour; none if the act with this idempotency key took one before.
///
/// # Errors
/// `hourly_limit_reached` if there is none left.
pub async fn take_send<A: Api>(context: &Context<'_, A>, act: &str) -> Result<(), ToolError> {
    let limit = context.policy.per_hour;
    if limit > 0 && context.api.take_send(act, limit).await {
        return Ok(());
    }
    let message =
        format!("assistants with this key may send {limit} messages, invitations and answers per hour");
    Err(ToolError::new("hourly_limit_reached", message)
        .remedy("Try again in an hour. Drafts stay where they are."))
}
