//! Words of the audit logs in French.

use crate::admin::texts::AuditTexts;

pub static FRENCH: AuditTexts = AuditTexts {
    title: "Journal d’audit",
    caption: "Les modifications faites ici. Conservées 400 jours.",
    caption_system: "Les modifications faites dans cette installation. Conservées 400 jours.",
    action: "Action",
    who: "Auteur",
    on: "Cible",
    at: "Quand",
    from: "Depuis",
    none: "Rien pour l’instant",
    none_text: "Les modifications des clés, des applications, des membres et des paramètres s’affichent ici, avec leur auteur et leur date.",
    by_command: "ligne de commande",
    by_key: "clé API",
};
