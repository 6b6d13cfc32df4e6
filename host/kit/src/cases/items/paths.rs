//! Ids in the URLs of requests.

use serde_json::Value;
use url::Url;

use crate::bench::{Bench, Outcome, Verdict, failed};
use crate::cases::items::operations::Operation;
use crate::escapes::decoded;
use crate::line::{Exchange, Fault};
use crate::surface_bench::{Collection, ItemChange, ItemKind};

/// An id without special characters.
pub const PLAIN: &str = "swkit-plain";
/// Ids that lead to other URLs unless they are escaped.
const LEADING: [&str; 4] = ["../swkit-user", "swkit-a/swkit-b?swkit-c=1&swkit-d=2#swkit-e", "..", "%2e%2e"];
/// Path segments and query names that a request has only if one of these ids was not escaped.
const SEGMENTS: [&str; 2] = ["swkit-user", "swkit-b"];
const NAMES: [&str; 2] = ["swkit-c", "swkit-d"];

const HELP: &str = "escape each segment of a path and each value of a query; an id that is . or .. is failure not-found. `url` of the template does it";

/// The operations whose URLs are checked. The id is that of an item, of `changes` that of a collection.
const OPERATIONS: [Operation; 4] = [Operation::Get, Operation::Update, Operation::Delete, Operation::Changes];

/// `S8`: ids cannot lead to other URLs. No request reaches the provider.
pub async fn escaped_ids(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let collection = bench.collection(kind).await?;
    let mut is_tested = false;
    for operation in OPERATIONS {
        let plain = requests(bench, kind, &collection, operation, PLAIN).await;
        is_tested |= !plain.is_empty();
        for id in LEADING {
            let led = requests(bench, kind, &collection, operation, id).await;
            if let Some(request) = led.iter().find(|request| leads_elsewhere(request, id, &plain)) {
                return failed(format!("the id \"{id}\" leads to {request}"), HELP);
            }
        }
    }
    match is_tested {
        true => Ok(()),
        false => {
            Err(Verdict::NotApplicable(format!("the connector sends no HTTP requests for {}s", kind.item)))
        }
    }
}

/// Returns the connector's requests for an id, while every answer is 404.
async fn requests(
    bench: &mut Bench,
    kind: &ItemKind,
    collection: &Collection,
    operation: Operation,
    id: &str,
) -> Vec<Exchange> {
    bench.line.take_exchanges();
    bench.line.spoil_all(Fault::Answer(404, Vec::new(), "{}"));
    let key = kind.key("S8");
    match operation {
        Operation::Get => drop(bench.get_item(kind, collection, id).await),
        Operation::Update => {
            let change = ItemChange {
                source: Some(id.to_owned()),
                body: (kind.body)(&kind.label("S8")),
                changed: vec![kind.name.to_owned()],
                if_match: None,
            };
            drop(bench.try_write_item(kind, collection, change, &key).await);
        }
        Operation::Delete => drop(bench.try_delete_item(kind, collection, id, &key).await),
        _ => {
            let other = Collection { id: id.to_owned(), body: Value::Null };
            drop(bench.page_of(kind, &other, 0, None).await);
        }
    }
    bench.line.mend();
    bench.line.take_exchanges()
}

/// Returns whether a request for this id has another target than those for the plain one.
pub fn leads_elsewhere(request: &Exchange, id: &str, plain: &[Exchange]) -> bool {
    let Some((path, names)) = parts(&request.url) else { return true };
    if path.iter().any(|segment| SEGMENTS.contains(&segment.as_str()))
        || names.iter().any(|name| NAMES.contains(&name.as_str()))
    {
        return true;
    }
    // A connector may split an id at a slash; an id without a slash is one segment, or in no path.
    let expected = |exchange: &Exchange| {
        let path = parts(&exchange.url).map(|(path, _)| path).unwrap_or_default();
        path.into_iter().map(|segment| segment.replace(PLAIN, id)).collect::<Vec<_>>()
    };
    !id.contains('/') && !plain.is_empty() && !plain.iter().any(|exchange| expected(exchange) == path)
}

/// The segments of a URL's path without their escapes, and the names in its query.
fn parts(url: &str) -> Option<(Vec<String>, Vec<String>)> {
    let url = Url::parse(url).ok()?;
    let path = url.path_segments()?.map(decoded).collect();
    let names = url.query_pairs().map(|(name, _)| name.into_owned()).collect();
    Some((path, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(url: &str) -> Exchange {
        Exchange {
            method: "GET".to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            status: Some(404),
        }
    }

    #[test]
    fn an_id_that_is_not_escaped_leads_elsewhere() {
        let plain = [get("https://a.test/lists/l"), get("https://a.test/lists/l/items/swkit-plain")];
        let leads = |id: &str, url: &str| leads_elsewhere(&get(url), id, &plain);
        let [up, all, step, escaped_step] = LEADING;
        assert!(!leads(up, "https://a.test/lists/l/items/..%2Fswkit-user"));
        assert!(leads(up, "https://a.test/lists/l/items/../swkit-user"));
        let escaped = "swkit-a%2Fswkit-b%3Fswkit-c%3D1%26swkit-d%3D2%23swkit-e";
        assert!(!leads(all, &format!("https://a.test/lists/l/items/{escaped}")));
        assert!(!leads(all, &format!("https://a.test/lists/l?id={escaped}")));
        assert!(leads(all, &format!("https://a.test/lists/l/items/{all}")));
        assert!(leads(all, &format!("https://a.test/lists/l?id={all}")));
        assert!(leads(step, "https://a.test/lists/l/items/.."));
        assert!(leads(step, "https://a.test/lists/l/items/%2E%2E"));
        assert!(leads(escaped_step, "https://a.test/lists/l/items/%2e%2e"));
        assert!(!leads(escaped_step, "https://a.test/lists/l/items/%252e%252e"));
        assert!(!leads(step, "https://a.test/lists/l"));
    }
}
