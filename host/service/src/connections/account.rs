//! Checks of the account data that a connector returns, before the host uses them: the connector reads them from a provider's responses,
//! and they are stored, shown and sent back with every call. So every text has a maximum length and no control characters, and every list a
//! maximum size.

use base::error::{Code, Error, refuse};
use model::wire::Account;
use runtime::{DISCOVERED, Manifest};
use serde_json::{Map, Value};

/// Longest id of an account, bytes. Some are URLs.
const ID: usize = 2_048;
/// Longest display name, characters.
const NAME: usize = 200;
/// Longest address: 64 and 255 octets and the `@` between them (RFC 5321 section 4.5.3.1).
const ADDRESS: usize = 320;
/// Most addresses of an account beside its primary one.
const ALIASES: usize = 200;
/// Most scopes of the provider, and most bytes of one.
const SCOPES: usize = 200;
const SCOPE: usize = 256;
/// Most bytes of the settings that a connector wants back with every call, as JSON.
const SETTINGS: usize = 64 << 10;

/// Removes texts that are too long or malformed, and truncates lists. Fails without an id, and with more settings than are kept: a
/// shortened id or settings would be another account.
pub fn bounded(mut account: Account) -> Result<Account, Error> {
    let id = &account.external_account_id;
    if id.is_empty() || id.len() > ID || id.chars().any(char::is_control) {
        return Err(fault("an account without an id of 1 to 2048 bytes"));
    }
    let settings: usize =
        account.settings.iter().map(|(name, value)| name.len() + value.to_string().len()).sum();
    if settings > SETTINGS {
        return Err(fault("more than 64 KiB of settings"));
    }
    account.display_name = account.display_name.map(|name| printable(&name)).filter(|name| !name.is_empty());
    account.email = account.email.filter(|email| is_address(email));
    account.aliases.retain(|alias| is_address(alias));
    account.aliases.truncate(ALIASES);
    let named = |zone: String| Some(recurrence::zone(&zone).ok()?.iana_name()?.to_owned());
    account.time_zone = account.time_zone.and_then(named);
    account
        .provider_scopes
        .retain(|s| (1..=SCOPE).contains(&s.len()) && s.bytes().all(|b| b.is_ascii_graphic()));
    account.provider_scopes.truncate(SCOPES);
    Ok(account)
}

fn fault(what: &str) -> Error {
    refuse(Code::ConnectorError, format!("the connector's answer was not well-formed: it has {what}"))
}

/// Returns a name safe to display: on one line, without control characters.
pub fn printable(text: &str) -> String {
    let harmless = |c: char| {
        !c.is_control()
            && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().filter(|c| harmless(*c)).take(NAME).collect::<String>().trim().to_owned()
}

/// Whether the text has the form of an email address: one word with an `@`.
pub fn is_address(text: &str) -> bool {
    let (user, host) = text.rsplit_once('@').unwrap_or_default();
    !user.is_empty()
        && !host.is_empty()
        && text.len() <= ADDRESS
        && !text.chars().any(|c| c.is_control() || c.is_whitespace())
}

/// Adds the settings that `check` found to a connection's. Settings that the manifest declares are the user's, given or not: among them are
/// all that name servers, and a connector that could change those could send the credentials anywhere.
pub fn merge(manifest: &Manifest, settings: &mut Map<String, Value>, found: Map<String, Value>) {
    for (name, value) in found {
        let is_users = name == DISCOVERED || manifest.settings.iter().any(|setting| setting.name == name);
        match settings.get(&name) {
            Some(same) if *same == value => {}
            _ if is_users => {
                tracing::warn!(
                    connector = manifest.name,
                    setting = name,
                    "check answered a setting that is the user's: ignored"
                );
            }
            _ => {
                settings.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn account() -> Account {
        Account { external_account_id: "id".into(), ..Account::default() }
    }

    #[test]
    fn what_is_no_text_of_its_kind_is_left_out() {
        let long = "x".repeat(400);
        let answer = Account {
            email: Some(format!("{long}@example.com")),
            aliases: ["a@b.test", "a b@c.test", "@c.test", "a@", "nobody", "a@b\n.test"]
                .map(str::to_owned)
                .to_vec(),
            display_name: Some(format!("Ann\u{1b}[31m\n\u{202e}{long}")),
            time_zone: Some("Mars/Olympus".into()),
            provider_scopes: vec!["mail".into(), long.clone(), "a\r\nb".into(), String::new()],
            ..account()
        };
        let kept = bounded(answer).unwrap();
        assert_eq!((kept.email, kept.time_zone), (None, None));
        assert_eq!(
            (kept.aliases, kept.provider_scopes),
            (vec!["a@b.test".to_owned()], vec!["mail".to_owned()])
        );
        for (told, stored) in [
            ("asia/kolkata", Some("Asia/Kolkata")),
            ("W. Europe Standard Time", Some("Europe/Berlin")),
            ("Etc/Unknown", None),
        ] {
            let answer = Account { time_zone: Some(told.into()), ..account() };
            assert_eq!(bounded(answer).unwrap().time_zone.as_deref(), stored, "{told}");
        }
        let name = kept.display_name.unwrap();
        assert!(name.starts_with("Ann[31mxxx") && name.chars().count() == NAME, "{name}");
        let many = Account { aliases: vec!["a@b.test".into(); 10_000], ..account() };
        assert_eq!(bounded(many).unwrap().aliases.len(), ALIASES);
    }

    #[test]
    fn half_an_account_is_none() {
        let settings = json!({ "homes": "x".repeat(70_000) }).as_object().unwrap().clone();
        for answer in [
            Account::default(),
            Account { external_account_id: "x".repeat(3_000), ..Account::default() },
            Account { external_account_id: "a\nb".into(), ..Account::default() },
            Account { settings, ..account() },
        ] {
            assert_eq!(bounded(answer).unwrap_err().code(), Some(Code::ConnectorError));
        }
    }

    #[test]
    fn a_users_settings_stay_his() {
        let manifest = Manifest::parse(
            r#"
            name = "x"
            version = "1.0.0"
            title = "X"
            surfaces = ["email"]
            servers_from_settings = ["imap"]
            settings = [{ name = "imap", description = "." }, { name = "email", description = "." }]
            "#,
        )
        .unwrap();
        let mut settings = json!({ "imap": { "host": "a.test" }, "home": "/1" }).as_object().unwrap().clone();
        let found = json!({ "imap": { "host": "evil.test" }, "email": "e@evil.test", "home": "/2", "new": 1,
            DISCOVERED: ["https://evil.test"] });
        merge(&manifest, &mut settings, found.as_object().unwrap().clone());
        assert_eq!(Value::Object(settings), json!({ "imap": { "host": "a.test" }, "home": "/2", "new": 1 }));
    }
}
