//! The watch interface: the provider posts to the host when something of the account changes.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, Watch};
use model::Instant;
use model::wire::watch::{WatchRenew, WatchStart, WatchStop, Watching};
use serde::Deserialize;
use serde_json::json;

use crate::api::{ask, failure, url};
use crate::connector::Sandbox;

/// A watch of the provider.
#[derive(Deserialize)]
struct Channel {
    id: String,
    /// The path that is watched.
    path: String,
    until: Instant,
}

impl Watch for Sandbox {
    fn start(context: &Context, args: WatchStart) -> Outcome<Watching> {
        let path = watched_path(&args.surface, args.scope.as_deref())?;
        let body = json!({
            "id": args.channel,
            "path": path,
            "address": args.address,
            "secret": args.token,
            "until": args.wanted_until,
        });
        let request = Request::post(url(context, &["watches"], &[])?).json(&body);
        Ok(watching(ask(context, request, "starting the notifications")?))
    }

    fn renew(context: &Context, args: WatchRenew) -> Outcome<Watching> {
        let address = url(context, &["watches", &args.external_id, "renew"], &[])?;
        let request =
            Request::post(address).json(&json!({ "until": args.wanted_until, "address": args.address }));
        Ok(watching(ask(context, request, "prolonging the notifications")?))
    }

    fn stop(context: &Context, args: WatchStop) -> Outcome<()> {
        let path = args.resource.as_deref().map(|path| ("path", path));
        let request = Request::delete(url(context, &["watches", &args.external_id], path.as_slice())?);
        let response = context.send(request)?;
        // Stopped already, or expired.
        if response.is_success() || response.status == 404 {
            return Ok(());
        }
        Err(failure(context, &response, "stopping the notifications"))
    }
}

fn watching(channel: Channel) -> Watching {
    Watching { external_id: channel.id, resource: Some(channel.path), expires_at: channel.until }
}

/// Returns the provider's name of the contents of a collection, or of the collections themselves.
fn watched_path(surface: &str, scope: Option<&str>) -> Outcome<String> {
    let (folders, records) = match surface {
        "email" => return Ok("mail".to_owned()),
        "calendar" => ("calendars", "events"),
        "contacts" => ("books", "cards"),
        "tasks" => ("lists", "todos"),
        _ => return Err(Failure::unsupported(&format!("notifications of {surface:?}"))),
    };
    Ok(scope.map_or_else(|| folders.to_owned(), |folder| format!("{folders}/{folder}/{records}")))
}
