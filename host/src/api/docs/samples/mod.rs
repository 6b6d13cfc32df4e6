//! Samples of a request in the languages of the pages.

pub mod curl;
pub mod go;
pub mod python;
pub mod request;
pub mod typescript;

use crate::api::docs::samples::request::SampleRequest;

/// A sample in one language.
pub struct CodeSample {
    /// The language's name.
    pub label: &'static str,
    /// Its identifier, which the pages remember.
    pub language: &'static str,
    pub code: String,
}

/// The samples of a request, curl first.
pub fn all(request: &SampleRequest<'_>) -> [CodeSample; 4] {
    [
        CodeSample { label: "curl", language: "curl", code: curl::print(request) },
        CodeSample { label: "TypeScript", language: "typescript", code: typescript::print(request) },
        CodeSample { label: "Python", language: "python", code: python::print(request) },
        CodeSample { label: "Go", language: "go", code: go::print(request) },
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api;
    use crate::api::docs::reference::ApiReference;
    use crate::api::openapi::{Flavour, print};

    fn reference() -> ApiReference {
        let operations = api::operations();
        let document = print(&operations, "https://api.example.com", Flavour::Clients);
        ApiReference::read(&document, "https://api.example.com")
    }

    fn printed(request: &SampleRequest<'_>) -> [String; 4] {
        all(request).map(|sample| sample.code)
    }

    #[test]
    fn a_create_is_printed_in_four_languages() {
        let reference = reference();
        let operation = reference.operation("calendars.events.create").unwrap();
        let exchange = json!({ "request": {
            "path": "/v1/calendars/cal_1/events?strict=true", "body": { "title": "Ada's lunch", "tags": [] },
        } });
        let [curl, typescript, python, go] =
            printed(&SampleRequest::recorded(&reference, operation, &exchange));
        assert_eq!(
            curl,
            "curl -X POST 'https://api.example.com/v1/calendars/cal_1/events?strict=true' \\\n  \
             -H \"Authorization: Bearer $SWITCHBOARD_API_KEY\" \\\n  -H 'Content-Type: application/json' \\\n  \
             -d '{\n  \"title\": \"Ada'\\''s lunch\",\n  \"tags\": []\n}'\n"
        );
        assert!(
            typescript.contains(
                "await sb.calendars.events.create(\"cal_1\", {\n  title: \"Ada's lunch\",\n  tags: [],\n});\n"
            ),
            "{typescript}"
        );
        assert!(python.contains("sb.calendars.events.create(\n    \"cal_1\",\n    {\n"), "{python}");
        assert!(go.contains("strings.NewReader(`{") && go.contains("\"POST\""), "{go}");
    }

    #[test]
    fn a_list_is_iterated_and_a_version_is_an_option() {
        let reference = reference();
        let list = reference.operation("calendars.events.list").unwrap();
        let exchange =
            json!({ "request": { "path": "/v1/calendars/cal_1/events?limit=2&time_zone=Europe%2FBerlin" } });
        let [_, typescript, python, _] = printed(&SampleRequest::recorded(&reference, list, &exchange));
        assert!(typescript.contains("for await (const item of sb.calendars.events.list(\"cal_1\", { limit: 2, timeZone: \"Europe/Berlin\" }))"), "{typescript}");
        assert!(
            python.contains(
                "for item in sb.calendars.events.list(\"cal_1\", limit=2, time_zone=\"Europe/Berlin\"):"
            ),
            "{python}"
        );
        let delete = reference.operation("calendars.delete").unwrap();
        let exchange =
            json!({ "request": { "path": "/v1/calendars/cal_1", "headers": { "if-match": "\"1\"" } } });
        let [curl, typescript, python, _] = printed(&SampleRequest::recorded(&reference, delete, &exchange));
        assert!(curl.contains("-H 'if-match: \"1\"'"), "{curl}");
        assert!(typescript.contains("ifMatch: \"\\\"1\\\"\""), "{typescript}");
        assert!(python.contains("if_match=\"\\\"1\\\"\""), "{python}");
    }

    #[test]
    fn options_come_after_the_query_and_a_list_is_a_list() {
        let reference = reference();
        let update = reference.operation("calendars.events.update").unwrap();
        let exchange = json!({ "request": {
            "path": "/v1/calendars/cal_1/events/evt_1", "headers": { "if-match": "1" }, "body": { "title": "Lunch" },
        } });
        let [_, typescript, ..] = printed(&SampleRequest::recorded(&reference, update, &exchange));
        assert!(typescript.contains("}, undefined, { ifMatch: \"1\" });"), "{typescript}");
        let events = reference.operation("events.list").unwrap();
        let exchange = json!({ "request": { "path": "/v1/events?type=task.created%2Ccontact.*&limit=1" } });
        let [_, typescript, python, _] = printed(&SampleRequest::recorded(&reference, events, &exchange));
        assert!(typescript.contains("{ type: [\"task.created\", \"contact.*\"], limit: 1 }"), "{typescript}");
        assert!(python.contains("type=[\"task.created\", \"contact.*\"], limit=1"), "{python}");
    }

    #[test]
    fn a_form_is_an_object_for_the_clients() {
        let reference = reference();
        let operation = reference.operation("oauth.token").unwrap();
        let exchange = json!({ "request": {
            "path": "/v1/oauth/token", "body": "grant_type=refresh_token&refresh_token=uc_rt_1",
        } });
        let [curl, typescript, python, _] =
            printed(&SampleRequest::recorded(&reference, operation, &exchange));
        assert!(curl.contains("-d 'grant_type=refresh_token&refresh_token=uc_rt_1'"), "{curl}");
        assert!(typescript.contains("{\n  grant_type: \"refresh_token\","), "{typescript}");
        assert!(python.contains("\"grant_type\": \"refresh_token\","), "{python}");
    }

    #[test]
    fn every_operation_has_samples() {
        let reference = reference();
        for operation in &reference.operations {
            for code in printed(&SampleRequest::for_operation(&reference, operation)) {
                assert!(code.ends_with('\n') && !code.contains("{connectionId}"), "{}: {code}", operation.id);
            }
        }
    }
}
