//! The provider's JSON of calendars and events, as far as it is mapped.

use serde::{Deserialize, Serialize};

use crate::native::{object, words};

object! {
    Calendar {
        #[serde(skip_serializing)]
        id: String,
        #[serde(skip_serializing)]
        etag: Option<String>,
        title: String,
        notes: Option<String>,
        zone: Option<String>,
        colour: Option<String>,
        main: bool,
        mine: bool,
        access: Access,
        place: Option<String>,
        alerts: Vec<Alert>,
        counts_as_busy: CountsAsBusy,
        video_services: Vec<VideoService>,
        locked: bool,
    }
}

words! {
    Access = model::calendar::AccessRole {
        Owner = Owner,
        Editor = Writer,
        Viewer = Reader,
        BusyOnly = FreeBusyReader,
    }
}

words! {
    CountsAsBusy = model::calendar::IncludeInAvailability {
        Everything = All,
        WhenAttending = Attending,
        Nothing = None,
    }
}

object! {
    Event {
        #[serde(skip_serializing)]
        id: String,
        #[serde(skip_serializing)]
        etag: Option<String>,
        #[serde(skip_serializing)]
        deleted: bool,
        /// The id of the series, in a changed instance.
        #[serde(skip_serializing)]
        series: Option<String>,
        kind: Kind,
        uid: Option<String>,
        revision: i64,
        original: Option<Original>,
        when: When,
        subject: Option<String>,
        body: Body,
        place: Option<String>,
        places: Option<Vec<Place>>,
        colour: Option<String>,
        web_link: Option<String>,
        state: EventState,
        availability: Availability,
        privacy: Privacy,
        category: Category,
        locked: bool,
        host: Option<Person>,
        author: Option<Person>,
        guests: Vec<Guest>,
        guest_rules: GuestRules,
        seats: Option<i64>,
        my_answer: Option<Answer>,
        repeat: Vec<String>,
        video: Option<Video>,
        alerts: Alerts,
        files: Vec<EventFile>,
        overrides: Vec<Event>,
        created_at: Option<String>,
        updated_at: Option<String>,
    }
}

words! {
    Kind = model::calendar::EventType {
        Single = Single,
        Series = Series,
        Instance = Occurrence,
        Override = Exception,
    }
}

object! {
    /// The original start of an instance.
    Original {
        local: String,
        time: Option<model::Instant>,
    }
}

object! {
    When {
        from: Moment,
        to: Moment,
    }
}

object! {
    /// `day` is there for all-day events, `time` always (then the midnight).
    Moment {
        #[serde(skip_serializing_if = "Option::is_none")]
        day: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        time: Option<model::Instant>,
        #[serde(skip_serializing_if = "Option::is_none")]
        zone: Option<String>,
    }
}

object! {
    Body {
        text: Option<String>,
        html: Option<String>,
    }
}

object! {
    Place {
        label: Option<String>,
        street: Option<String>,
        link: Option<String>,
        lat_lon: Option<String>,
    }
}

words! {
    EventState = model::calendar::EventStatus {
        Fixed = Confirmed,
        Draft = Tentative,
        CalledOff = Cancelled,
    }
}

words! {
    Availability = model::calendar::ShowAs {
        Busy = Busy,
        Free = Free,
        Maybe = Tentative,
        Away = Oof,
        Elsewhere = WorkingElsewhere,
    }
}

words! {
    Privacy = model::calendar::Visibility {
        Inherit = Default,
        Open = Public,
        Private = Private,
        Secret = Confidential,
    }
}

words! {
    Category = model::calendar::EventKind {
        Regular = Default,
        Away = OutOfOffice,
        Focus = FocusTime,
        Workplace = WorkingLocation,
    }
}

object! {
    Person {
        mail: Option<String>,
        label: Option<String>,
        me: bool,
    }
}

object! {
    Guest {
        mail: String,
        label: Option<String>,
        answer: Answer,
        part: Part,
        #[serde(rename = "type")]
        guest_type: GuestType,
        note: Option<String>,
        me: bool,
        host: bool,
    }
}

words! {
    Answer = model::calendar::ResponseStatus {
        None = NeedsAction,
        Yes = Accepted,
        No = Declined,
        Maybe = Tentative,
    }
}

words! {
    Part = model::calendar::AttendeeRole {
        Needed = Required,
        Optional = Optional,
        Chair = Chair,
        Observer = NonParticipant,
    }
}

words! {
    GuestType = model::calendar::AttendeeKind {
        Person = Individual,
        Group = Group,
        Resource = Resource,
        Room = Room,
    }
}

object! {
    GuestRules {
        hide_list: bool,
        may_edit: bool,
        may_invite: bool,
    }
}

object! {
    Video {
        service: VideoService,
        state: VideoState,
        url: Option<String>,
        code: Option<String>,
        secret: Option<String>,
        dial_in: Vec<DialIn>,
        request_id: Option<String>,
    }
}

words! {
    VideoService = model::calendar::ConferenceProvider {
        SandboxMeet = Other,
        Meet = GoogleMeet,
        Teams = Teams,
        Zoom = Zoom,
        Webex = Webex,
    }
}

words! {
    VideoState = model::calendar::ConferenceStatus {
        Ready = Ready,
        Creating = Pending,
        Failed = Failed,
    }
}

object! {
    DialIn {
        number: String,
        pin: Option<String>,
        country: Option<String>,
    }
}

object! {
    Alerts {
        inherit: bool,
        own: Vec<Alert>,
    }
}

object! {
    Alert {
        via: AlertVia,
        lead_minutes: i64,
    }
}

words! {
    AlertVia = model::calendar::ReminderMethod {
        Screen = Popup,
        Mail = Email,
    }
}

object! {
    EventFile {
        label: Option<String>,
        url: Option<String>,
        media_type: Option<String>,
    }
}

object! {
    BusyAnswer {
        results: Vec<BusyResult>,
    }
}

object! {
    BusyResult {
        busy: Vec<Busy>,
        problem: Option<String>,
    }
}

object! {
    Busy {
        from: model::Instant,
        to: model::Instant,
        availability: Availability,
    }
}
