//! Words of the audit logs in German.

use crate::admin::texts::AuditTexts;

pub static GERMAN: AuditTexts = AuditTexts {
    title: "Audit-Log",
    caption: "Was hier geändert wurde. Wird 400 Tage aufbewahrt.",
    caption_system: "Was in dieser Installation geändert wurde. Wird 400 Tage aufbewahrt.",
    action: "Aktion",
    who: "Wer",
    on: "Woran",
    at: "Wann",
    from: "Von",
    none: "Noch nichts",
    none_text: "Hier stehen Änderungen an Schlüsseln, Anwendungen, Mitgliedern und Einstellungen, jeweils mit Person und Zeitpunkt.",
    by_command: "Kommandozeile",
    by_key: "API-Schlüssel",
};
