//! Messages about bookings in Arabic.

use crate::bookings::notify::texts::fields::{Changes, Texts};

pub static ARABIC: Texts = Texts {
    subjects: Changes {
        pending: "في انتظار التأكيد",
        confirmed: "تم التأكيد",
        rescheduled: "وقت جديد",
        rescheduled_pending: "وقت جديد في انتظار التأكيد",
        cancelled: "أُلغي",
        rejected: "رُفض",
        expired: "لم يُؤكد",
        reminder: "تذكير",
    },
    sentences: Changes {
        pending: "وصل طلبك. يجب أن يؤكده المضيف، وستصلك رسالة أخرى عندئذ.",
        confirmed: "تم تأكيد موعدك.",
        rescheduled: "نُقل موعدك إلى وقت آخر.",
        rescheduled_pending: "نُقل موعدك إلى وقت آخر يجب أن يؤكده المضيف.",
        cancelled: "أُلغي موعدك ولن يُعقد.",
        rejected: "رفض المضيف هذا الموعد، ولن يُعقد.",
        expired: "لم يؤكد المضيف هذا الموعد في الوقت المحدد، ولن يُعقد.",
        reminder: "يبدأ موعدك قريبًا.",
    },
    invited: "أنت مدعو إلى هذا الموعد.",
    replaced: "تحل محل هذه الدعوة دعوة أخرى تصل في رسالة منفصلة.",
    what: "الموضوع",
    when: "الموعد",
    before: "الموعد السابق",
    place: "المكان",
    host: "مع",
    invitee: "المدعو",
    email: "البريد الإلكتروني",
    phone: "رقم الهاتف",
    guests: "الضيوف",
    details: "الملاحظات والإجابات",
    reason: "السبب",
    in_person: "حضوريًا",
    by_phone: "عبر الهاتف",
    online: "عبر الإنترنت",
    change: "نقل هذا الموعد أو إلغاؤه",
    book_again: "حجز وقت آخر",
};
