//! Words of the search in Arabic.

use crate::admin::texts::SearchTexts;

pub static ARABIC: SearchTexts = SearchTexts {
    title: "البحث",
    none: "لا يوجد شيء بهذا المعرّف",
    none_text: "لا يوجد شيء بالمعرّف \u{2068}{q}\u{2069}، أو ليس لديك إذن للوصول إليه.",
    empty: "البحث عن معرّف أو بريد إلكتروني",
    empty_text: "الصق معرّف مؤسسة أو تطبيق أو مفتاح أو حساب أو خطاف ويب أو حدث أو طلب. ويمكن للمسؤولين البحث أيضًا عن البريد الإلكتروني لمشغّل.",
};
