//! Local parts of addresses that denote a function and not a person.

use std::collections::HashSet;
use std::sync::LazyLock;

/// RFC 2142's mailbox names, and common ones of businesses in several languages.
const ROLES: &str = "\
    abuse accounting accounts accueil admin administracion administration administrator alert alerts all \
    amministrazione anfrage ap ar assistenza atendimento auftrag bestellung billing biuro booking bookings bounce \
    bounces buchhaltung buero buh bureau buro business career careers comercial commercial compliance comptabilite \
    contabilidad contact contacto contato customer customercare customerservice daemon datenschutz dev direction \
    do-not-reply donotreply dpo einkauf empfang enquiries enquiry events everyone faq feedback finance frontdesk ftp \
    gdpr geral hallo hello help helpdesk hi hola hostmaster hotel hr inbox info infos inquiries inquiry investor \
    investors invoice invoices invoicing it itsupport jobs kanzlei klantenservice kontakt kundenservice kundeservice \
    kundtjanst legal list listserv logistics mail mailbox mailer-daemon mailerdaemon majordomo marketing media members \
    membership moderator news newsletter no-reply no_reply nobody noc noreply notification notifications notify office \
    operations ops order orders ordini orga partner partners payments payroll personal post postmaster pr praxis press \
    presse priemnaya privacy procurement purchasing receptie reception rechnung rechnungen recruiting recruitment \
    redaktion registrar registration reply reservation reservations reservierung returns root sales sav secretariat \
    secretary security segreteria sekretariat service services shipping shop soporte spam sprzedaz staff studio support \
    sysadmin system team tech techsupport test ticket tickets trouble unsubscribe usenet uucp vendas vendite ventas \
    verkauf verkoop vertrieb verwaltung webadmin webmaster welcome work www zakaz zakupy zentrale";

static INDEX: LazyLock<HashSet<&str>> = LazyLock::new(|| ROLES.split(' ').collect());

/// Whether the address, whose local part this is (folded, without a tag), is shared by role: the role alone, or with a place or
/// a department after it (`sales-emea`, `support.team`, `info2`).
pub fn is_role(local: &str) -> bool {
    let known = |part: &str| INDEX.contains(part);
    if known(local) {
        return true;
    }
    let bare = local.trim_end_matches(|c: char| c.is_ascii_digit());
    let first = bare.split(['-', '.', '_', '+', '=']).next().unwrap_or(bare);
    // Two-letter words are initials as often as roles when more follows.
    known(bare)
        || (first.len() > 2 && known(first))
        || local.starts_with("no-reply")
        || local.starts_with("noreply")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_not_people() {
        for role in [
            "info",
            "sales",
            "support",
            "noreply",
            "no-reply",
            "sales-emea",
            "info2",
            "support.team",
            "noreply-abc123",
        ] {
            assert!(is_role(role), "{role}");
        }
        for person in ["ann", "j.smith", "it.mueller", "supporter", "salesa", "informa", ""] {
            assert!(!is_role(person), "{person}");
        }
    }
}
