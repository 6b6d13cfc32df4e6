//! Words of the search in French.

use crate::admin::texts::SearchTexts;

pub static FRENCH: SearchTexts = SearchTexts {
    title: "Recherche",
    none: "Rien avec cet ID",
    none_text: "Il n’y a rien avec l’ID {q}, ou vous n’y avez pas accès.",
    empty: "Rechercher un ID ou un e-mail",
    empty_text: "Collez l’ID d’une organisation, d’une application, d’une clé, d’un compte, d’un webhook, d’un événement ou d’une requête. Les administrateurs peuvent aussi rechercher l’adresse e-mail d’un opérateur.",
};
