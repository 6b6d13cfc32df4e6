//! Messages about bookings in Japanese.

use crate::bookings::notify::texts::fields::{Changes, Texts};

pub static JAPANESE: Texts = Texts {
    subjects: Changes {
        pending: "確認待ち",
        confirmed: "確定",
        rescheduled: "日時変更",
        rescheduled_pending: "日時変更、確認待ち",
        cancelled: "キャンセル",
        rejected: "辞退",
        expired: "未確認",
        reminder: "リマインダー",
    },
    sentences: Changes {
        pending: "お申し込みを受け付けました。ホストの確認が必要です。確認後に改めてお知らせします。",
        confirmed: "ご予約が確定しました。",
        rescheduled: "ご予約の日時が変更されました。",
        rescheduled_pending: "ご予約の日時が変更されました。新しい日時はホストの確認が必要です。",
        cancelled: "ご予約はキャンセルされました。開催されません。",
        rejected: "ホストがこのご予約を辞退しました。開催されません。",
        expired: "期限までにホストの確認がありませんでした。このご予約は開催されません。",
        reminder: "まもなくご予約の時間です。",
    },
    invited: "この予定に招待されています。",
    replaced: "この招待は別の招待に置き換えられます。新しい招待は別のメールで届きます。",
    what: "内容",
    when: "日時",
    before: "変更前",
    place: "場所",
    host: "ホスト",
    invitee: "予約者",
    email: "メールアドレス",
    phone: "電話番号",
    guests: "その他の参加者",
    details: "備考と回答",
    reason: "理由",
    in_person: "対面",
    by_phone: "電話",
    online: "オンライン",
    change: "ご予約の変更・キャンセル",
    book_again: "別の日時を予約する",
};
