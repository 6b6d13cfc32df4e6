//! Words of the search in Spanish.

use crate::admin::texts::SearchTexts;

pub static SPANISH: SearchTexts = SearchTexts {
    title: "Búsqueda",
    none: "Nada con este ID",
    none_text: "No hay nada con el ID {q}, o usted no tiene acceso.",
    empty: "Buscar un ID o un correo",
    empty_text: "Pegue el ID de una organización, aplicación, clave, cuenta, webhook, evento o solicitud. Los administradores también pueden buscar la dirección de correo de un operador.",
};
