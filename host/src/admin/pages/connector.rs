//! `/system/connectors/{n}`: one connector, what it may do, what its calls led to, and its earlier versions.

use base::error::{Code, Error, Result, not_found};
use http::StatusCode;
use runtime::{Installed, Level, Manifest, MemoryClass};
use service::locale::html::Html;
use service::manage::acting::{self, Target};
use service::manage::connectors::{self, ConnectorHealth};

use crate::admin::claim::once;
use crate::admin::pages::connector_words::{asks, destinations};
use crate::admin::pages::connectors::{PATH, source_word};
use crate::admin::parts::badge::BadgeTone;
use crate::admin::parts::code::code;
use crate::admin::parts::confirm::ConfirmPart;
use crate::admin::parts::facts::Facts;
use crate::admin::parts::field::hidden;
use crate::admin::parts::head::{head, short_name, trail};
use crate::admin::parts::note::{alert, note};
use crate::admin::parts::table::{RowTable, id_cell};
use crate::admin::texts::{ConnectorTexts, fill};
use crate::admin::view::{FlashCode, MenuEntry, PanelPage, View};
use crate::admin::visit::Visit;

/// The field with the digest of the version in service when the question was asked.
const DIGEST: &str = "digest";
/// Characters of a digest that a table shows.
const SHORT_DIGEST: usize = 12;
const MIB: u64 = 1 << 20;

/// The connector that the path names.
fn found(visit: &Visit) -> Result<ConnectorHealth> {
    connectors::find(&visit.app, visit.param("n")).ok_or_else(|| not_found("connector"))
}

/// The path of a connector's page below `/admin/`.
fn path_of(name: &str) -> String {
    format!("{PATH}/{name}")
}

/// The page.
pub async fn show(visit: &Visit) -> Result<View> {
    Ok(page(visit, &found(visit)?, &Html::default()).await?.into())
}

/// The page of a connector, with what an act on it led to.
async fn page(visit: &Visit, connector: &ConnectorHealth, said: &Html) -> Result<PanelPage> {
    let (t, manifest) = (visit.texts.connectors, &connector.loaded.manifest);
    let name = short_name(&manifest.title);
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(PATH), t.title)], &name);
    head(&mut body, &name, None);
    body.html(said);
    body.raw("<section class=\"stack\">").element("h2", t.facts);
    facts(visit, connector).add_to(&mut body);
    body.raw("</section>\n");
    add_items(&mut body, t.may, &destinations(t, manifest));
    add_items(&mut body, t.asks, &asks(t, manifest));
    add_calls(visit, connector, &mut body);
    if connector.is_installed()
        && let Some(installed) = connectors::installed(&visit.app, &manifest.name).await?
    {
        add_versions(visit, manifest, &installed, &mut body);
    }
    Ok(PanelPage::new(name, Some(MenuEntry::Connectors), body))
}

fn facts(visit: &Visit, connector: &ConnectorHealth) -> Facts {
    let (t, loaded) = (visit.texts.connectors, &connector.loaded);
    let manifest = &loaded.manifest;
    let mut facts = Facts::default();
    facts.id(t.name, &manifest.name).id(t.version, &manifest.version);
    facts.text(None, t.source, source_word(t, loaded.source)).id(t.digest, &loaded.digest);
    add_manifest_facts(t, manifest, &mut facts);
    facts
}

/// Adds the facts that a manifest says of its connector beside name and version.
pub fn add_manifest_facts(t: &ConnectorTexts, manifest: &Manifest, facts: &mut Facts) {
    if !manifest.description.is_empty() {
        facts.text(None, t.description, &manifest.description);
    }
    let surfaces: Vec<&str> = manifest.surfaces.iter().map(|exported| exported.surface.as_str()).collect();
    facts.id(t.surfaces, &surfaces.join(", "));
    let memory = match manifest.memory {
        MemoryClass::Small => t.memory_small,
        MemoryClass::Standard => t.memory_standard,
        MemoryClass::Large => t.memory_large,
    };
    let imports = match manifest.level {
        Level::Strict => t.strict,
        Level::Compat => t.compat,
    };
    facts.text(None, t.memory, memory).text(None, t.imports, imports);
}

/// Adds a list of sentences under a heading.
pub fn add_items(html: &mut Html, title: &str, items: &[String]) {
    html.raw("<section class=\"stack\">").element("h2", title).raw("<ul>");
    for item in items {
        html.raw("<li><bdi>").text(item).raw("</bdi></li>");
    }
    html.raw("</ul></section>\n");
}

/// Adds what the calls led to, by codes.
fn add_calls(visit: &Visit, connector: &ConnectorHealth, html: &mut Html) {
    let (t, stats) = (visit.texts.connectors, &connector.stats);
    html.raw("<section class=\"stack\">").element("h2", t.usage);
    let calls = connector.calls();
    if calls == 0 {
        html.raw("<p class=\"soft\">").text(t.no_calls).raw("</p></section>\n");
        return;
    }
    let mut facts = Facts::default();
    facts.id(t.calls, &calls.to_string()).id(t.errors, &connector.errors().to_string());
    facts.id(t.running, &stats.running.to_string());
    facts.text(None, t.average, &fill(t.ms, &[("n", &(stats.wall_us / calls / 1_000).to_string())]));
    facts.text(None, t.peak, &fill(t.mib, &[("n", &stats.peak_memory.div_ceil(MIB).to_string())]));
    facts.add_to(html);
    let mut table = RowTable::new(t.usage_caption, &[t.result, t.calls]);
    for (code, count) in connector.by_code() {
        let mut heading = Html::default();
        heading.raw("<span class=\"id\" dir=\"ltr\">").text(code).raw("</span>");
        table.row(&heading, vec![id_cell(&count.to_string())]);
    }
    table.add_to(html);
    html.raw("</section>\n");
}

/// Adds the earlier versions of an installed connector, and what can be done with it.
fn add_versions(visit: &Visit, manifest: &Manifest, installed: &Installed, html: &mut Html) {
    let (t, path) = (visit.texts.connectors, path_of(&manifest.name));
    let may_change = connectors::may_change(&visit.app);
    if !installed.previous.is_empty() {
        html.raw("<section class=\"stack\">").element("h2", t.versions);
        let mut table = RowTable::new(t.versions_caption, &[t.version, t.digest_short]);
        for previous in &installed.previous {
            let mut heading = Html::default();
            heading.raw("<span class=\"id\" dir=\"ltr\">").text(&previous.version).raw("</span>");
            let digest: String = previous.digest.chars().take(SHORT_DIGEST).collect();
            table.row(&heading, vec![id_cell(&digest)]);
        }
        table.add_to(html);
        if may_change {
            add_link(visit, html, &format!("{path}/roll-back"), "button plain", t.roll_back);
        }
        html.raw("</section>\n");
    }
    if may_change {
        html.raw("<section class=\"zone-of-danger stack\">").element("h2", t.remove);
        html.element("p", t.remove_text);
        add_link(visit, html, &format!("{path}/remove"), "button danger", t.remove);
        html.raw("</section>\n");
        return;
    }
    note(html, BadgeTone::Neutral, t.several_hosts);
    for act in ["rollback", "remove"] {
        code(html, visit.texts.frame, &format!("switchboard connector {act} {}", manifest.name), t.copy);
    }
}

fn add_link(visit: &Visit, html: &mut Html, path: &str, class: &'static str, word: &str) {
    html.raw("<p><a class=\"").raw(class).raw("\" href=\"").text(&visit.link(path)).raw("\">");
    html.text(word).raw("</a></p>");
}

/// The question whether to roll back.
pub async fn show_roll_back(visit: &Visit) -> Result<View> {
    let (t, connector) = (visit.texts.connectors, found(visit)?);
    let name = connector.loaded.manifest.name.as_str();
    let installed = connectors::installed(&visit.app, name).await?.filter(|_| connector.is_installed());
    let Some(installed) = installed.filter(|_| connectors::may_change(&visit.app)) else {
        return Ok(View::see_other(path_of(name)));
    };
    let Some(previous) = installed.previous.first() else {
        return Ok(View::see_other(path_of(name)));
    };
    let text = fill(t.roll_back_text, &[("version", &previous.version)]);
    let mut fields = Html::default();
    hidden(&mut fields, DIGEST, &installed.current);
    Ok(question(visit, &connector, ["roll-back", t.roll_back_title, &text, t.roll_back], fields).into())
}

/// The question whether to remove a connector.
pub async fn show_remove(visit: &Visit) -> Result<View> {
    let (t, connector) = (visit.texts.connectors, found(visit)?);
    if !connector.is_installed() || !connectors::may_change(&visit.app) {
        return Ok(View::see_other(path_of(&connector.loaded.manifest.name)));
    }
    let words = ["remove", t.remove_title, t.remove_text, t.remove];
    Ok(question(visit, &connector, words, Html::default()).into())
}

/// A question about a connector: the act in the address, the title, the consequence, and the word on the button; and fields beside it.
fn question(
    visit: &Visit,
    connector: &ConnectorHealth,
    [act, title, text, word]: [&str; 4],
    fields: Html,
) -> PanelPage {
    let (t, manifest) = (visit.texts.connectors, &connector.loaded.manifest);
    let (name, own) = (short_name(&manifest.title), visit.link(&path_of(&manifest.name)));
    let mut body = Html::default();
    trail(&mut body, &[(&visit.link(PATH), t.title), (&own, &name)], word);
    let part = ConfirmPart {
        title: &fill(title, &[("name", &name)]),
        text,
        action: &visit.link(&format!("{}/{act}", path_of(&manifest.name))),
        token: &visit.token(),
        button: word,
        is_danger: true,
        back: (&own, t.keep),
        fields,
    };
    part.add_to(&mut body);
    PanelPage::new(word, Some(MenuEntry::Connectors), body)
}

/// Puts the version before the current one into service.
pub async fn roll_back(visit: &Visit) -> Result<View> {
    let (app, actor, name) = (visit.app.clone(), visit.actor()?.clone(), visit.param("n").to_owned());
    let (path, digest) = (path_of(&name), visit.fields.first(DIGEST).to_owned());
    let changed = once(visit, |_| async move {
        let target = Target::installation(name.as_str());
        // The form's claim has its answer when the change is made.
        let attempt = acting::attempt(&app, &actor, "connector_rolled_back", &target, None);
        connectors::roll_back(&app, &name, &digest, &attempt).await
    });
    match changed.await {
        Ok(_) => Ok(View::done(path, FlashCode::ConnectorRolledBack)),
        Err(e) => refused(visit, e).await,
    }
}

/// Takes an installed connector out of service.
pub async fn remove(visit: &Visit) -> Result<View> {
    let (app, actor, name) = (visit.app.clone(), visit.actor()?.clone(), visit.param("n").to_owned());
    let changed = once(visit, |_| async move {
        let target = Target::installation(name.as_str());
        let attempt = acting::attempt(&app, &actor, "connector_removed", &target, None);
        connectors::remove(&app, &name, &attempt).await
    });
    match changed.await {
        Ok(_) => Ok(View::done(PATH, FlashCode::ConnectorRemoved)),
        Err(e) => refused(visit, e).await,
    }
}

/// The page of the connector after an act that is not possible. Other errors are handed on.
async fn refused(visit: &Visit, e: Error) -> Result<View> {
    let (Some(Code::InvalidState | Code::NotFound), Ok(connector)) = (e.code(), found(visit)) else {
        return Err(e);
    };
    let mut said = Html::default();
    alert(&mut said, visit.texts.connectors.not_changed);
    Ok(page(visit, &connector, &said).await?.with_status(StatusCode::CONFLICT).into())
}
