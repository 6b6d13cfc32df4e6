//! A question to the person, as a form elicitation of a result that needs input, and the person's answer.

use std::collections::BTreeMap;

use rmcp::model::{
    ConstTitle, ElicitRequest, ElicitRequestParams, ElicitationSchema, EnumSchema, InputRequest,
    InputRequiredResult, InputResponses, PrimitiveSchemaDefinition, SingleSelectEnumSchema,
    TitledSingleSelectEnumSchema,
};

/// The name of the question among the input requests of a result.
const REQUEST: &str = "confirmation";
/// The field of the form.
const FIELD: &str = "decision";
/// The value of the field that confirms the act.
const SEND: &str = "send";

/// A question to the person, with the state that the client brings back with the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub message: String,
    pub state: String,
}

impl Question {
    /// Returns the result that makes a client ask the question.
    pub fn into_result(self) -> InputRequiredResult {
        let choices = vec![ConstTitle::new(SEND, "Send once"), ConstTitle::new("do_not_send", "Do not send")];
        let field =
            EnumSchema::Single(SingleSelectEnumSchema::Titled(TitledSingleSelectEnumSchema::new(choices)));
        let fields = BTreeMap::from([(FIELD.to_owned(), PrimitiveSchemaDefinition::Enum(field))]);
        let form = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: self.message,
            requested_schema: ElicitationSchema::new(fields).with_required(vec![FIELD.to_owned()]),
        };
        let request = InputRequest::Elicitation(ElicitRequest::new(form));
        InputRequiredResult::new(Some(BTreeMap::from([(REQUEST.to_owned(), request)])), Some(self.state))
    }
}

/// The person's answer to a question of an earlier call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonAnswer {
    /// The state of the question, as the client brought it back.
    pub state: String,
    /// Whether the person chose to send. Anything else declines: a closed form, another value, an answer to another question.
    pub is_confirmed: bool,
}

impl PersonAnswer {
    /// Returns the answer that a call brings; none for a call without a state, since nobody was asked about it.
    pub fn from_call(state: Option<&str>, responses: Option<&InputResponses>) -> Option<Self> {
        let state = state?.to_owned();
        let response = responses.and_then(|responses| responses.get(REQUEST));
        let is_confirmed = response
            .is_some_and(|response| response["action"] == "accept" && response["content"][FIELD] == SEND);
        Some(PersonAnswer { state, is_confirmed })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_question_is_a_form_with_two_choices() {
        let question = Question { message: "Send this email?".to_owned(), state: "sealed".to_owned() };
        let result = serde_json::to_value(question.into_result()).unwrap();
        assert_eq!(result["resultType"], "input_required");
        assert_eq!(result["requestState"], "sealed");
        let request = &result["inputRequests"]["confirmation"];
        assert_eq!(request["method"], "elicitation/create");
        assert_eq!(request["params"]["mode"], "form");
        assert_eq!(request["params"]["message"], "Send this email?");
        let schema = &request["params"]["requestedSchema"];
        assert_eq!(schema["required"], json!(["decision"]));
        let choices = json!([
            { "const": "send", "title": "Send once" },
            { "const": "do_not_send", "title": "Do not send" },
        ]);
        assert_eq!(schema["properties"]["decision"]["oneOf"], choices);
    }

    #[test]
    fn only_the_choice_to_send_confirms() {
        let asked = |response: serde_json::Value| {
            let responses = BTreeMap::from([("confirmation".to_owned(), response)]);
            PersonAnswer::from_call(Some("sealed"), Some(&responses)).is_some_and(|asked| asked.is_confirmed)
        };
        assert!(asked(json!({"action": "accept", "content": {"decision": "send"}})));
        for declined in [
            json!({"action": "accept", "content": {"decision": "do_not_send"}}),
            json!({"action": "accept", "content": {"decision": true}}),
            json!({"action": "accept", "content": {"decision": ["send"]}}),
            json!({"action": "accept", "content": "send"}),
            json!({"action": "accept"}),
            json!({"action": "decline", "content": {"decision": "send"}}),
            json!({"action": "cancel"}),
            json!("accept"),
            json!(null),
            json!([]),
        ] {
            assert!(!asked(declined.clone()), "{declined}");
        }
        let other = BTreeMap::from([(
            "other".to_owned(),
            json!({"action": "accept", "content": {"decision": "send"}}),
        )]);
        assert_eq!(
            PersonAnswer::from_call(Some("s"), Some(&other)).map(|asked| asked.is_confirmed),
            Some(false)
        );
        assert_eq!(PersonAnswer::from_call(Some("s"), None).map(|asked| asked.is_confirmed), Some(false));
        assert_eq!(PersonAnswer::from_call(None, Some(&other)), None);
    }
}
