//! Languages of the panel: the one that the operator chose, else the browser's, else English.

use harness::panel_user::PanelUser;
use harness::{Exchange, TestServer};

use crate::admin::client::{assert_whole, led_to, token};

/// The languages that can be chosen, as they name themselves.
const NAMES: [(&str, &str); 7] = [
    ("en", "English"),
    ("en-US", "English (US)"),
    ("de", "Deutsch"),
    ("es", "Español"),
    ("fr", "Français"),
    ("ja", "日本語"),
    ("ar", "العربية"),
];

async fn opened(user: &PanelUser, path: &str, accept: &str) -> Exchange {
    let page = user.get(path).header("accept-language", accept).send().await;
    assert_whole(&page);
    page
}

async fn choose(user: &PanelUser, language: &str) {
    let fields = [("name", "Ada"), ("language", language)];
    let sent = user.post("/admin/account", &token(user).await, &fields).send().await;
    assert_eq!(led_to("/admin/account", &sent), "/admin/account");
}

/// A visitor reads the language that the browser asks for, and English where the panel does not have it.
#[tokio::test]
async fn a_visitor_reads_the_browsers_language() {
    let server = TestServer::start().await;
    server.operator(None).await;
    let visitor = server.visitor();
    for (accept, html, word) in [
        ("de-AT, en;q=0.5", "<html lang=\"de\">", ">Anmelden</"),
        ("ar", "<html lang=\"ar\" dir=\"rtl\">", "</html>"),
        ("pt-BR, pt;q=0.9", "<html lang=\"en\">", ">Sign in</"),
        ("", "<html lang=\"en\">", ">Sign in</"),
    ] {
        let page = opened(&visitor, "/admin/sign-in", accept).await;
        assert!(page.text.contains(html) && page.text.contains(word), "{accept}: {page}");
        let tag = html.split('"').nth(1);
        assert_eq!(page.header("content-language"), tag, "{accept}");
    }
}

/// An operator reads the chosen language whatever the browser asks for, on pages and in notices; a language that the panel does not have
/// is not stored.
#[tokio::test]
async fn an_operator_reads_the_chosen_language() {
    let server = TestServer::start().await;
    let operator = server.operator(None).await;
    let account = opened(&operator, "/admin/account", "de").await;
    assert!(account.text.contains("<title>Ihr Konto – "), "as the browser asks: {account}");
    for (tag, name) in NAMES {
        let option = format!("<option value=\"{tag}\"");
        let (_, rest) = account.text.split_once(&option).expect("the language can be chosen");
        assert!(rest.starts_with(&format!(">{name}<")) || rest.starts_with(&format!(" selected>{name}<")));
    }

    choose(&operator, "de").await;
    let usage = format!("/admin/apps/{}/usage", server.test_application().await.application_id);
    for (path, words) in [
        ("/admin/account", "Ihre Einstellungen sind gespeichert."),
        ("/admin/", "<title>Organisationen – "),
        (usage.as_str(), "Keine Anfragen in den letzten 30 Tagen"),
        ("/admin/nothing", "Hier ist nichts"),
    ] {
        let page = opened(&operator, path, "fr").await;
        assert!(page.text.contains("<html lang=\"de\">") && page.text.contains(words), "{path}: {page}");
    }
    let faulty = [("name", ""), ("language", "de")];
    let refused = operator.post("/admin/account", &token(&operator).await, &faulty).send().await;
    assert!(refused.status == 400 && refused.text.contains("Geben Sie Ihren Namen ein"), "{refused}");

    choose(&operator, "tlh").await;
    let page = opened(&operator, "/admin/", "tlh").await;
    assert!(
        page.text.contains("<html lang=\"en\">") && page.text.contains("<title>Organizations – "),
        "{page}"
    );
}
