//! Google's JSON of the values of people, the members that are read and written.

use serde::{Deserialize, Serialize};

/// An object of which each member may be missing. One without a value is not written.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident { $($(#[$attr:meta])* $field:ident: $kind:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name {
            $($(#[$attr])* #[serde(skip_serializing_if = "Option::is_none")] pub $field: Option<$kind>,)+
        }
    };
}

object! {
    /// A source of a person's values (`Source`); its id and its etag are those of the contact.
    PersonSource {
        #[serde(rename = "type")]
        kind: String,
        id: String,
        etag: String,
        update_time: String,
    }
}

object! {
    FieldMetadata {
        primary: bool,
        source_primary: bool,
        source: PersonSource,
    }
}

impl FieldMetadata {
    /// Returns the metadata that is written of a value that is the first to use.
    pub fn of_primary() -> Self {
        FieldMetadata { source_primary: Some(true), ..FieldMetadata::default() }
    }
}

object! {
    /// A name; a contact has one.
    PersonName {
        display_name: String,
        unstructured_name: String,
        family_name: String,
        given_name: String,
        middle_name: String,
        honorific_prefix: String,
        honorific_suffix: String,
        phonetic_full_name: String,
        phonetic_family_name: String,
        phonetic_given_name: String,
        phonetic_middle_name: String,
        phonetic_honorific_prefix: String,
        phonetic_honorific_suffix: String,
        metadata: FieldMetadata,
    }
}

object! {
    PersonNickname {
        value: String,
        #[serde(rename = "type")]
        kind: String,
        metadata: FieldMetadata,
    }
}

object! {
    PersonEmail {
        value: String,
        #[serde(rename = "type")]
        kind: String,
        display_name: String,
        metadata: FieldMetadata,
    }
}

object! {
    PersonPhone {
        value: String,
        canonical_form: String,
        #[serde(rename = "type")]
        kind: String,
        metadata: FieldMetadata,
    }
}

object! {
    PersonAddress {
        formatted_value: String,
        #[serde(rename = "type")]
        kind: String,
        street_address: String,
        extended_address: String,
        po_box: String,
        city: String,
        region: String,
        postal_code: String,
        country: String,
        country_code: String,
        metadata: FieldMetadata,
    }
}

object! {
    PersonOrganization {
        name: String,
        title: String,
        department: String,
        /// True where it is missing.
        current: bool,
        #[serde(rename = "type")]
        kind: String,
        job_description: String,
        symbol: String,
        domain: String,
        location: String,
        phonetic_name: String,
        cost_center: String,
        full_time_equivalent_millipercent: i64,
        start_date: PersonDate,
        end_date: PersonDate,
        metadata: FieldMetadata,
    }
}

object! {
    PersonUrl {
        value: String,
        #[serde(rename = "type")]
        kind: String,
        metadata: FieldMetadata,
    }
}

object! {
    PersonIm {
        username: String,
        protocol: String,
        #[serde(rename = "type")]
        kind: String,
        metadata: FieldMetadata,
    }
}

object! {
    PersonRelation {
        person: String,
        #[serde(rename = "type")]
        kind: String,
        metadata: FieldMetadata,
    }
}

object! {
    /// A day; 0 stands for a part that is not known.
    PersonDate {
        year: i64,
        month: i64,
        day: i64,
    }
}

object! {
    /// A birthday; a contact has one.
    PersonBirthday {
        date: PersonDate,
        text: String,
        metadata: FieldMetadata,
    }
}

object! {
    PersonEvent {
        date: PersonDate,
        #[serde(rename = "type")]
        kind: String,
        metadata: FieldMetadata,
    }
}

object! {
    /// A note; a contact has one.
    PersonBiography {
        value: String,
        content_type: String,
        metadata: FieldMetadata,
    }
}

object! {
    PersonMembership {
        contact_group_membership: GroupMembership,
    }
}

object! {
    GroupMembership {
        contact_group_resource_name: String,
    }
}

object! {
    PersonPhoto {
        url: String,
        /// Not a picture of the person: an initial on a colour.
        #[serde(rename = "default")]
        is_default: bool,
        metadata: FieldMetadata,
    }
}

object! {
    /// A pair that a program has left in a contact or a group.
    ClientData {
        key: String,
        value: String,
    }
}

impl ClientData {
    /// The name of the pair with the key of the creation.
    const NAME: &'static str = "switchboard";

    /// Returns the pair for a creation with this key.
    pub fn of_key(key: &str) -> Self {
        ClientData { key: Some(ClientData::NAME.to_owned()), value: Some(key.to_owned()) }
    }

    /// Whether a creation of this connector has left it.
    pub fn is_ours(&self) -> bool {
        self.key.as_deref() == Some(ClientData::NAME)
    }

    /// Whether a creation with this key has left it.
    pub fn is_key(&self, key: &str) -> bool {
        self.is_ours() && self.value.as_deref() == Some(key)
    }
}
