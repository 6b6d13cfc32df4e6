//! Scopes in words, in German.

use crate::admin::texts::ScopeTexts;

pub static GERMAN: ScopeTexts = ScopeTexts {
    surfaces: &[
        (
            "E-Mail",
            &[
                ("email.read", "Nachrichten, Konversationen, Ordner, Entwürfe und Anhänge lesen."),
                (
                    "email.write",
                    "Nachrichten ändern, verschieben und löschen; Entwürfe und Ordner erstellen. Schließt das Lesen ein.",
                ),
                ("email.send", "Nachrichten senden. Schließt das Lesen nicht ein."),
                ("email.track", "Verfolgen, ob gesendete Nachrichten geöffnet und angeklickt werden."),
            ],
        ),
        (
            "Kalender",
            &[
                ("calendar.read", "Kalender und Termine lesen. Schließt belegte Zeiten ein."),
                ("calendar.write", "Termine erstellen, ändern und löschen. Schließt das Lesen ein."),
                ("calendar.freebusy", "Sehen, wann jemand belegt ist, ohne Einzelheiten."),
            ],
        ),
        (
            "Kontakte",
            &[
                ("contacts.read", "Kontakte, Gruppen und Fotos lesen."),
                ("contacts.write", "Kontakte erstellen, ändern und löschen. Schließt das Lesen ein."),
            ],
        ),
        (
            "Aufgaben",
            &[
                ("tasks.read", "Aufgabenlisten und Aufgaben lesen."),
                ("tasks.write", "Aufgaben erstellen, ändern und löschen. Schließt das Lesen ein."),
            ],
        ),
        (
            "Terminplanung",
            &[
                ("scheduling.read", "Termintypen, Zeitpläne und Buchungen lesen."),
                (
                    "scheduling.write",
                    "Termintypen und Zeitpläne erstellen und ändern, über Buchungen entscheiden. Schließt das Lesen und Buchen ein.",
                ),
                (
                    "scheduling.book",
                    "Freie Zeiten sehen und buchen. Geeignet für einen Schlüssel in einer Webseite.",
                ),
            ],
        ),
        (
            "Konten",
            &[
                ("connections.read", "Verbundene Konten und ihren Status auflisten."),
                ("connections.write", "Konten verbinden, aktualisieren und trennen."),
            ],
        ),
        (
            "Ereignisse und Webhooks",
            &[
                ("webhooks.read", "Webhooks und Zustellungen auflisten."),
                ("webhooks.write", "Webhooks erstellen, ändern und löschen; Ereignisse erneut senden."),
                ("events.read", "Das Ereignisprotokoll und seinen Live-Stream lesen."),
            ],
        ),
        (
            "Verwaltung",
            &[
                ("api_keys.write", "Schlüssel erstellen und widerrufen, die nicht mehr dürfen als dieser."),
                ("usage.read", "Nutzungszahlen lesen."),
            ],
        ),
    ],
    everything: "Liest und schreibt alles",
    reads_everything: "Liest alles",
    reads: "Liest {names}",
    writes: "Liest und schreibt {names}",
    list_more: "{a}, {b}",
    list_last: "{a} und {b}",
    acts_more: "{a}; {b}",
    names: &[
        ("email", "E-Mails"),
        ("calendar", "Kalender"),
        ("contacts", "Kontakte"),
        ("tasks", "Aufgaben"),
        ("scheduling", "Terminplanung"),
        ("connections", "Konten"),
        ("webhooks", "Webhooks"),
        ("events", "Ereignisse"),
        ("api_keys", "Schlüssel"),
        ("usage", "Nutzung"),
        ("admin", "die Installation"),
    ],
    sends: "Sendet E-Mails",
    books: "Bucht Zeiten",
    sees_busy: "Sieht belegte Zeiten",
    tracks: "Verfolgt E-Mails",
    runs_operators: "Verwaltet Betreiber",
    installs_connectors: "Installiert Konnektoren",
    nothing: "Nichts",
};
