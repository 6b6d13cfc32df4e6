//! The documents that generators of clients read: `/openapi/clients.json` beside the contract's `/openapi.json`.

use std::collections::BTreeSet;

use harness::TestServer;
use serde_json::{Value, json};
use switchboard::api;
use switchboard::api::openapi::{self, Flavour};

const ADDRESS: &str = "https://api.example.org";
const NOT_USED: &str = "#/components/responses/NotUsed";

fn document(flavour: Flavour) -> Value {
    openapi::print(&api::operations(), ADDRESS, flavour)
}

/// Without the statuses that operations do not answer, the contract's document is the one for clients.
#[test]
fn the_documents_differ_in_unused_statuses_alone() {
    let mut contract = document(Flavour::Contract);
    let mut unused = 0;
    for item in contract["paths"].as_object_mut().unwrap().values_mut() {
        for operation in item.as_object_mut().unwrap().values_mut() {
            let responses = operation["responses"].as_object_mut().unwrap();
            let before = responses.len();
            responses.retain(|_, response| response["$ref"] != NOT_USED);
            unused += before - responses.len();
        }
    }
    contract["components"]["responses"].as_object_mut().unwrap().remove("NotUsed");
    assert!(unused > 300, "the contract declares four successes on each operation");
    assert_eq!(contract, document(Flavour::Clients));
}

/// For clients a success has one type: one status has a body, or none has, and 204 never has.
#[test]
fn a_success_has_one_type() {
    let document = document(Flavour::Clients);
    for o in api::operations() {
        let responses = &document["paths"][o.path][o.method.as_str().to_lowercase()]["responses"];
        let successes = ["200", "201", "202", "204"].map(|status| (status, &responses[status]));
        let with_body = successes.iter().filter(|(_, response)| response["content"].is_object());
        let with_body: Vec<&str> = with_body.map(|(status, _)| *status).collect();
        let own = o.status().to_string();
        let wanted: Vec<&str> = (o.status() != 204).then_some(own.as_str()).into_iter().collect();
        assert_eq!(with_body, wanted, "{} {}", o.method, o.path);
        assert!(responses[&own].is_object(), "{} {}", o.method, o.path);
    }
}

/// Each operation lists its codes once, the responses name those of their status, and the introduction explains each.
#[test]
fn each_operation_lists_its_error_codes() {
    let document = document(Flavour::Clients);
    let introduction = text(&document["info"]["description"]);
    for o in api::operations().iter().filter(|o| !o.oauth_errors) {
        let printed = &document["paths"][o.path][o.method.as_str().to_lowercase()];
        let codes: Vec<&str> = printed["x-error-codes"].as_array().unwrap().iter().map(text).collect();
        assert_eq!(codes.iter().collect::<BTreeSet<_>>().len(), codes.len(), "{} {}", o.method, o.path);
        assert!(codes.contains(&"rate_limited"), "{} {}", o.method, o.path);
        assert!(!o.takes_etag() || codes.contains(&"stale_etag"), "{} {}", o.method, o.path);
        let stated = ["400", "401", "409", "429", "default"].map(|status| stated(&document, printed, status));
        for code in codes {
            assert!(introduction.contains(&format!("| `{code}` |")), "introduction.md lacks {code}");
            let is_stated = stated.iter().any(|text| text.contains(&format!("`{code}`")));
            assert!(is_stated, "{} {}: no response states {code}", o.method, o.path);
        }
    }
}

/// The token endpoint has the errors of RFC 6749, section 5.2.
#[test]
fn the_token_endpoint_lists_the_errors_of_oauth() {
    let document = document(Flavour::Clients);
    let codes = document["paths"]["/v1/oauth/token"]["post"]["x-error-codes"].as_array().unwrap();
    for code in ["invalid_client", "invalid_grant", "invalid_request", "rate_limited"] {
        assert!(codes.contains(&json!(code)), "{code}");
    }
    assert!(!codes.contains(&json!("invalid_api_key")));
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// The descriptions of a response: the operation's own, and that of the shared response.
fn stated(document: &Value, printed: &Value, status: &str) -> String {
    let response = &printed["responses"][status];
    let pointer = response["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    let shared = pointer.and_then(|pointer| document.pointer(pointer)?["description"].as_str());
    [response["description"].as_str(), shared].into_iter().flatten().collect()
}

/// Generators and linters find the licence, a contact, and a description of each heading.
#[test]
fn the_document_says_whose_it_is() {
    let document = document(Flavour::Contract);
    let licence = "MIT OR Apache-2.0";
    assert_eq!(document["info"]["license"], json!({ "name": licence, "identifier": licence }));
    assert_eq!(document["info"]["contact"]["url"], ADDRESS);
    let headings = document["tags"].as_array().unwrap();
    assert!(headings.len() > 20);
    for heading in headings {
        assert!(!text(&heading["description"]).is_empty(), "{heading}");
    }
}

/// Both documents are served without a key, and not again to a client that has them.
#[tokio::test]
async fn a_client_that_has_the_document_is_not_sent_it_again() {
    let server = TestServer::start().await;
    let anybody = server.anonymous();
    let mut etags = BTreeSet::new();
    for path in ["/openapi.json", "/openapi/clients.json"] {
        let first = anybody.get(path).send().await;
        assert_eq!(first.header("cache-control"), Some("no-cache"));
        let etag = first.header("etag").expect("an etag").to_owned();
        assert!(etag.starts_with('"'), "{etag} is a strong etag");
        assert_eq!(first.expect(200)["openapi"], "3.1.0");
        let again = anybody.get(path).header("if-none-match", &etag).send().await;
        assert_eq!((again.status, again.text.as_str(), again.header("etag")), (304, "", Some(etag.as_str())));
        let other = anybody.get(path).header("if-none-match", "\"other\"").send().await;
        assert_eq!(other.status, 200);
        etags.insert(etag);
    }
    assert_eq!(etags.len(), 2, "each document has an etag of its own");
}
