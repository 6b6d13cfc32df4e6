//! Words of the search in German.

use crate::admin::texts::SearchTexts;

pub static GERMAN: SearchTexts = SearchTexts {
    title: "Suche",
    none: "Nichts mit dieser ID",
    none_text: "Es gibt nichts mit der ID {q}, oder Sie haben keinen Zugriff darauf.",
    empty: "ID oder E-Mail suchen",
    empty_text: "Fügen Sie die ID einer Organisation, einer Anwendung, eines Schlüssels, eines Kontos, eines Webhooks, eines Ereignisses oder einer Anfrage ein. Administratoren können auch nach der E-Mail-Adresse eines Betreibers suchen.",
};
