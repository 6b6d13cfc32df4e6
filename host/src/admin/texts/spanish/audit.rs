//! Words of the audit logs in Spanish.

use crate::admin::texts::AuditTexts;

pub static SPANISH: AuditTexts = AuditTexts {
    title: "Registro de auditoría",
    caption: "Cambios hechos aquí. Se conservan durante 400 días.",
    caption_system: "Cambios hechos en esta instalación. Se conservan durante 400 días.",
    action: "Acción",
    who: "Quién",
    on: "Objeto",
    at: "Cuándo",
    from: "Desde",
    none: "Todavía no hay nada",
    none_text: "Aquí aparecen los cambios en claves, aplicaciones, miembros y configuración, con quién los hizo y cuándo.",
    by_command: "línea de comandos",
    by_key: "clave de API",
};
