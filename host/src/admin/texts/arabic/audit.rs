//! Words of the audit logs in Arabic.

use crate::admin::texts::AuditTexts;

pub static ARABIC: AuditTexts = AuditTexts {
    title: "سجل التدقيق",
    caption: "ما أُجري هنا من تغييرات. يُحتفظ بها 400 يوم.",
    caption_system: "ما أُجري في هذا النظام من تغييرات. يُحتفظ بها 400 يوم.",
    action: "الإجراء",
    who: "المنفّذ",
    on: "العنصر",
    at: "الوقت",
    from: "عنوان المصدر",
    none: "لا يوجد شيء بعد",
    none_text: "تُدرج هنا التغييرات في المفاتيح والتطبيقات والأعضاء والإعدادات، مع من أجراها ووقت إجرائها.",
    by_command: "سطر الأوامر",
    by_key: "مفتاح API",
};
