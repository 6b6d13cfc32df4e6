//! Words of the search in Japanese.

use crate::admin::texts::SearchTexts;

pub static JAPANESE: SearchTexts = SearchTexts {
    title: "検索",
    none: "この ID は見つかりません",
    none_text: "ID {q} は存在しないか、アクセス権がありません。",
    empty: "ID かメールアドレスで検索",
    empty_text: "組織、アプリケーション、キー、アカウント、ウェブフック、イベント、リクエストの ID を貼り付けてください。管理者は、オペレーターのメールアドレスでも検索できます。",
};
