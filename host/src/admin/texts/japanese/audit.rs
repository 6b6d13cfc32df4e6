//! Words of the audit logs in Japanese.

use crate::admin::texts::AuditTexts;

pub static JAPANESE: AuditTexts = AuditTexts {
    title: "監査ログ",
    caption: "ここで行われた変更です。400日間保存されます。",
    caption_system: "このインスタンスで行われた変更です。400日間保存されます。",
    action: "操作",
    who: "実行者",
    on: "対象",
    at: "日時",
    from: "送信元",
    none: "記録はまだありません",
    none_text: "キー、アプリケーション、メンバー、設定の変更が、実行者と日時とともに表示されます。",
    by_command: "コマンドライン",
    by_key: "APIキー",
};
