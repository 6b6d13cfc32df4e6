//! The check of a client at a provider, and its removal.

use base::error::{Code, Error, Result};
use http::StatusCode;
use service::locale::html::Html;
use service::manage::acting::{self, Target};
use service::manage::provider_clients::{self, MAX_COUNTED_ACCOUNTS, RegisteredClient};
use service::writes::etag::ExpectedEtag;

use crate::admin::claim::once;
use crate::admin::pages::providers::{found, page};
use crate::admin::parts::badge::BadgeTone;
use crate::admin::parts::confirm::ConfirmPart;
use crate::admin::parts::field::{FormFaults, InputField};
use crate::admin::parts::head::trail;
use crate::admin::parts::note::{alert, note};
use crate::admin::texts::fill;
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// The field into which the provider's name is typed.
const TYPED: &str = "typed_name";

/// Checks the client, and shows what was found. Nothing is changed, so that the form may be sent again.
pub async fn check(visit: &Visit) -> Result<View> {
    let (t, provider) = (visit.texts.providers, found(visit).await?);
    let (name, title) = (provider.manifest.name.as_str(), provider.manifest.title.as_str());
    let mut said = Html::default();
    match provider_clients::check(&visit.app, visit.tenant()?, name).await {
        Ok(url) => {
            let text = fill(t.check_good, &[("provider", title), ("url", &url)]);
            note(&mut said, BadgeTone::Good, &text);
        }
        Err(Error::Refused(refusal)) if !refusal.code.is_outage() => {
            let named = [("provider", title), ("message", refusal.message.as_str())];
            alert(&mut said, &fill(t.check_bad, &named));
        }
        Err(e) => return Err(e),
    }
    Ok(page(visit, &provider, &FormFaults::default(), &said)?.into())
}

/// The question whether to remove a client. Where accounts are connected the provider's name has to be typed.
pub async fn show_remove(visit: &Visit) -> Result<View> {
    let provider = found(visit).await?;
    if provider.client.is_none() {
        return Ok(View::see_other(path_of(visit, &provider)?));
    }
    Ok(question(visit, &provider, &FormFaults::default()).await?.into())
}

/// The path of a provider's page below `/admin/`.
fn path_of(visit: &Visit, provider: &RegisteredClient) -> Result<String> {
    Ok(format!("apps/{}/providers/{}", visit.tenant()?.application_id, provider.manifest.name))
}

async fn question(visit: &Visit, provider: &RegisteredClient, faults: &FormFaults) -> Result<PanelPage> {
    let (t, frame) = (visit.texts.providers, visit.texts.frame);
    let (name, title) = (provider.manifest.name.as_str(), provider.manifest.title.as_str());
    let used = provider_clients::count_accounts(&visit.app, visit.tenant()?, name).await?;
    let count = used.to_string();
    let named = [("provider", title), ("name", name), ("n", count.as_str())];
    let own = path_of(visit, provider)?;
    let list = visit.link(&format!("apps/{}/providers", visit.tenant()?.application_id));
    let mut body = Html::default();
    trail(&mut body, &[(&list, t.title), (&visit.link(&own), title)], t.remove);
    faults.summary(&mut body, frame);
    let mut fields = Html::default();
    fields.element("p", &fill(t.remove_text, &named));
    if used > 0 {
        let label = fill(t.remove_type, &named);
        InputField::text(TYPED, &label, "").ltr().add_to(&mut fields, frame, faults);
    }
    let text = match used {
        0 => t.remove_unused,
        MAX_COUNTED_ACCOUNTS.. => t.remove_used_many,
        _ => t.remove_used,
    };
    let part = ConfirmPart {
        title: &fill(t.remove_title, &named),
        text: &fill(text, &named),
        action: &visit.link(&format!("{own}/remove")),
        token: &visit.token(),
        button: t.remove,
        is_danger: true,
        back: (&visit.link(&own), t.keep),
        fields,
    };
    part.add_to(&mut body);
    Ok(PanelPage::new(t.remove, Some(MenuEntry::Providers), body))
}

/// Removes a client. Accounts that are connected with it do not hinder that where the provider's name was typed.
pub async fn remove(visit: &Visit) -> Result<View> {
    let provider = found(visit).await?;
    let (app, actor, tenant) = (visit.app.clone(), visit.actor()?.clone(), visit.tenant()?.clone());
    let name = provider.manifest.name.clone();
    let is_forced = visit.fields.first(TYPED).trim() == name;
    let list = format!("apps/{}/providers", tenant.application_id);
    let target = Target::application(&tenant, name.clone());
    let removed = once(visit, |claimed| async move {
        let attempt = acting::attempt(&app, &actor, "oauth_client_removed", &target, Some(&claimed));
        let any_version = ExpectedEtag::Anything;
        provider_clients::remove(&app, &tenant, &name, is_forced, &any_version, &attempt).await
    });
    match removed.await {
        Ok(_) => Ok(View::done(list, FlashCode::ProviderRemoved)),
        Err(e) if e.code() == Some(Code::NotEmpty) => {
            let text =
                fill(visit.texts.providers.remove_typed_wrong, &[("name", provider.manifest.name.as_str())]);
            let page = question(visit, &provider, &FormFaults::of(TYPED, text)).await?;
            Ok(page.with_status(StatusCode::CONFLICT).into())
        }
        Err(e) => Err(e),
    }
}
