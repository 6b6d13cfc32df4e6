//! The form for a new key: what it shows, and the key that it asks for.

use base::error::{Detail, Refusal};
use base::input::errors;
use base::scopes;
use model::Instant;
use model::application::NewApiKey;
use service::locale::html::Html;
use service::manage::acting;

use crate::admin::pages::key_words::presets;
use crate::admin::parts::field::{FormFaults, InputField, LinesField, SelectField, fault_line};
use crate::admin::texts::{NewKeyTexts, fill};
use crate::admin::visit::Visit;
use crate::web::form::FormFields;

pub const NAME: &str = "name";
pub const PRESET: &str = "preset";
pub const SCOPE: &str = "scope";
pub const DOMAINS: &str = "domains";
pub const ADDRESSES: &str = "addresses";
pub const RATE: &str = "rate";
pub const EXPIRES: &str = "expires";
pub const ACCOUNTS: &str = "accounts";

/// Most lines of a list.
const MAX_LINES: usize = 50;
const DAY_MS: i64 = 86_400_000;
/// The preset under which the ticked scopes count.
const OWN: &str = "own";
/// Days until a key expires, by the word in the form.
const LIVES: [(&str, Option<i64>); 4] =
    [("never", None), ("30", Some(30)), ("90", Some(90)), ("365", Some(365))];

/// Adds the fields of the form.
pub fn add_fields(visit: &Visit, faults: &FormFaults, html: &mut Html) {
    let (t, frame, sent) = (visit.texts.new_key, visit.texts.frame, &visit.fields);
    InputField::text(NAME, t.name, sent.first(NAME)).with_hint(t.name_hint).add_to(html, frame, faults);
    add_presets(t, sent, html);
    add_scopes(visit, faults, html);
    let narrows = [DOMAINS, ADDRESSES, RATE, EXPIRES, ACCOUNTS];
    let is_open = narrows.iter().any(|id| faults.text(id).is_some());
    html.raw(if is_open { "<details open>" } else { "<details>" });
    html.raw("<summary>").text(t.narrow).raw("</summary>\n<div class=\"stack\">");
    for (id, label, hint) in [
        (DOMAINS, t.domains, t.domains_hint),
        (ADDRESSES, t.addresses, t.addresses_hint),
        (ACCOUNTS, t.accounts, t.accounts_hint),
    ] {
        LinesField { id, label, value: sent.first(id), hint }.add_to(html, frame, faults);
    }
    let rate = InputField::text(RATE, t.rate, sent.first(RATE)).with_hint(t.rate_hint).optional().ltr();
    rate.add_to(html, frame, faults);
    add_expiry(visit, faults, html);
    html.raw("</div></details>\n");
}

/// Adds the choice of how long a key works.
pub fn add_expiry(visit: &Visit, faults: &FormFaults, html: &mut Html) {
    let t = visit.texts.new_key;
    let options = [
        ("never", t.expires_never),
        ("30", t.expires_month),
        ("90", t.expires_quarter),
        ("365", t.expires_year),
    ];
    let chosen = visit.fields.first(EXPIRES);
    let field = SelectField { id: EXPIRES, label: t.expires, options: &options, chosen };
    field.add_to(html, visit.texts.frame, faults);
}

/// The time when a key expires, as a form asks for it; none for never. `now` in milliseconds.
pub fn expiry(t: &NewKeyTexts, sent: &FormFields, now: i64, faults: &mut FormFaults) -> Option<Instant> {
    let life = LIVES.iter().find(|(word, _)| *word == sent.first(EXPIRES) || sent.first(EXPIRES).is_empty());
    if life.is_none() {
        faults.add(EXPIRES, t.bad_expiry);
    }
    let days = life.and_then(|(_, days)| *days)?;
    Some(Instant::from_millis(now.saturating_add(days * DAY_MS)))
}

fn add_presets(t: &NewKeyTexts, sent: &FormFields, html: &mut Html) {
    let chosen = match sent.first(PRESET) {
        "" => "read",
        chosen => chosen,
    };
    html.raw("<fieldset class=\"scopes\"><legend>").text(t.preset).raw("</legend>");
    for (word, label, scopes) in presets(t) {
        html.raw("<label class=\"check\"><input type=\"radio\" name=\"preset\" value=\"").raw(word);
        html.raw("\" data-scopes=\"").text(&scopes.join(" "));
        html.raw(if word == chosen { "\" checked>" } else { "\">" });
        html.raw("<span>").text(label).raw("</span></label>");
    }
    html.raw("<label class=\"check\"><input type=\"radio\" name=\"preset\" value=\"own\"");
    html.raw(if chosen == OWN { " checked>" } else { ">" });
    html.raw("<span>").text(t.preset_own).raw("</span></label></fieldset>\n");
}

fn add_scopes(visit: &Visit, faults: &FormFaults, html: &mut Html) {
    let (t, sent) = (visit.texts.new_key, &visit.fields);
    let is_own = sent.first(PRESET) == OWN;
    let ticked = if is_own { sent.all(SCOPE).to_vec() } else { wanted_scopes(t, sent) };
    html.raw(if is_own { "<details open id=\"scope\">" } else { "<details id=\"scope\">" });
    html.raw("<summary>").text(t.scopes).raw("</summary>\n");
    fault_line(html, SCOPE, faults.text(SCOPE));
    for (heading, scopes) in visit.texts.scopes.surfaces {
        html.raw("<fieldset class=\"scopes\"><legend>").text(heading).raw("</legend>");
        for (scope, sentence) in *scopes {
            html.raw("<label class=\"check\"><input type=\"checkbox\" name=\"scope\" value=\"").text(scope);
            let is_ticked = ticked.iter().any(|one| one == scope);
            html.raw(if is_ticked { "\" checked>" } else { "\">" });
            html.raw("<span><span class=\"id\" dir=\"ltr\">").text(scope).raw("</span><small>");
            html.text(sentence).raw("</small></span></label>");
        }
        html.raw("</fieldset>\n");
    }
    html.raw("</details>\n");
}

/// The scopes that a form asks for: those of its preset, or those that are ticked.
fn wanted_scopes(t: &NewKeyTexts, sent: &FormFields) -> Vec<String> {
    let chosen = if sent.first(PRESET).is_empty() { "read" } else { sent.first(PRESET) };
    match presets(t).into_iter().find(|(word, ..)| *word == chosen) {
        Some((_, _, scopes)) => scopes.into_iter().map(str::to_owned).collect(),
        None => sent.all(SCOPE).to_vec(),
    }
}

/// The key that a form asks for, and what is wrong with it. `now` in milliseconds.
pub fn read(t: &NewKeyTexts, sent: &FormFields, now: i64) -> (NewApiKey, FormFaults) {
    let mut faults = FormFaults::default();
    let name = sent.filled(NAME).unwrap_or_default();
    if !(1..=100).contains(&name.chars().count()) {
        faults.add(NAME, t.bad_name);
    }
    let scopes = wanted_scopes(t, sent);
    if scopes.is_empty() {
        faults.add(SCOPE, t.bad_scopes);
    }
    if let Some(unknown) = scopes.iter().find(|scope| !scopes::is_scope(scope)) {
        faults.add(SCOPE, fill(t.bad_scope, &[("scope", unknown)]));
    }
    let allowed_domains = lines(t, sent, DOMAINS, &mut faults);
    if let Some(wrong) = allowed_domains.iter().find(|domain| errors::host_name(domain).is_none()) {
        faults.add(DOMAINS, fill(t.bad_domain, &[("value", wrong)]));
    }
    let allowed_ips = lines(t, sent, ADDRESSES, &mut faults);
    let connection_ids = lines(t, sent, ACCOUNTS, &mut faults);
    let rate = sent.filled(RATE).map(|text| text.replace([',', ' '], "").parse::<i64>());
    let rate_limit_per_minute = match rate {
        None => None,
        Some(Ok(rate)) if (1..=acting::RATE_LIMIT).contains(&rate) => Some(rate),
        Some(_) => {
            faults.add(RATE, fill(t.bad_rate, &[("n", &acting::RATE_LIMIT.to_string())]));
            None
        }
    };
    let expires_at = expiry(t, sent, now, &mut faults);
    let new = NewApiKey {
        name,
        scopes,
        allowed_domains,
        allowed_ips,
        rate_limit_per_minute,
        connection_ids,
        expires_at,
        agent: None,
    };
    (new, faults)
}

/// The lines of a field, without those that are empty.
pub fn lines(t: &NewKeyTexts, sent: &FormFields, id: &'static str, faults: &mut FormFaults) -> Vec<String> {
    let lines: Vec<String> =
        sent.first(id).lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    if lines.len() > MAX_LINES {
        faults.add(id, t.too_many_values);
    }
    lines
}

/// The faults of the form that a refusal of the key names; none where it is about no field.
pub fn refused(t: &NewKeyTexts, refusal: &Refusal, new: &NewApiKey, most: i64) -> Option<FormFaults> {
    let first = refusal.details.first().map(|detail: &Detail| detail.field.as_str());
    let param = refusal.param.as_deref().or(first)?;
    let (field, rest) = param.split_once('[').unwrap_or((param, ""));
    let number = rest.trim_end_matches(']').parse::<usize>().unwrap_or_default();
    let value = |values: &[String]| values.get(number).cloned().unwrap_or_default();
    Some(match field {
        "name" => FormFaults::of(NAME, t.bad_name),
        "scopes" => FormFaults::of(SCOPE, fill(t.bad_scope, &[("scope", &value(&new.scopes))])),
        "allowedDomains" => {
            FormFaults::of(DOMAINS, fill(t.bad_domain, &[("value", &value(&new.allowed_domains))]))
        }
        "allowedIps" => {
            FormFaults::of(ADDRESSES, fill(t.bad_address, &[("value", &value(&new.allowed_ips))]))
        }
        "connectionIds" => {
            FormFaults::of(ACCOUNTS, fill(t.bad_account, &[("value", &value(&new.connection_ids))]))
        }
        "rateLimitPerMinute" => FormFaults::of(RATE, fill(t.bad_rate, &[("n", &most.to_string())])),
        "expiresAt" => FormFaults::of(EXPIRES, t.bad_expiry),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::texts::texts;
    use service::locale::Language;

    fn read_form(body: &str) -> (NewApiKey, FormFaults) {
        read(texts(Language::English).new_key, &FormFields::read(body.as_bytes()), 0)
    }

    #[test]
    fn a_preset_stands_for_its_scopes_and_ticks_count_under_an_own_choice() {
        let (new, faults) = read_form("name=A&preset=booking&scope=email.read");
        assert!(faults.is_empty());
        assert_eq!(new.scopes, ["scheduling.book"]);
        let (new, faults) = read_form("name=A&preset=own&scope=email.read&scope=tasks.read");
        assert!(faults.is_empty());
        assert_eq!(new.scopes, ["email.read", "tasks.read"]);
        assert!(read_form("name=A&preset=own").1.text(SCOPE).is_some());
        assert!(read_form("name=A&preset=own&scope=admin.read").1.text(SCOPE).is_some());
    }

    #[test]
    fn limits_are_read_line_by_line() {
        let body = "name=A&domains=app.example.com%0D%0A%0D%0A+b.example.com+&rate=2,000&expires=30";
        let (new, faults) = read_form(body);
        assert!(faults.is_empty(), "{faults:?}");
        assert_eq!(new.allowed_domains, ["app.example.com", "b.example.com"]);
        assert_eq!(new.rate_limit_per_minute, Some(2_000));
        assert_eq!(new.expires_at.map(Instant::as_millis), Some(30 * DAY_MS));
        for (body, id) in [
            ("name=&preset=all", NAME),
            ("name=A&domains=https://x.example", DOMAINS),
            ("name=A&rate=0", RATE),
            ("name=A&rate=many", RATE),
            ("name=A&expires=1000", EXPIRES),
        ] {
            assert!(read_form(body).1.text(id).is_some(), "{body}");
        }
        let many = format!("name=A&domains={}", "a.example%0A".repeat(51));
        assert!(read_form(&many).1.text(DOMAINS).is_some());
    }
}
