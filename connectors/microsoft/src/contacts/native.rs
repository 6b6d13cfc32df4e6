//! Graph's JSON of contacts and their folders, the members that are read.

use serde::Deserialize;

macro_rules! object {
    ($(#[$doc:meta])* $name:ident { $($(#[$attr:meta])* $field:ident: $kind:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name { $($(#[$attr])* pub $field: $kind,)+ }
    };
}

object! {
    /// A folder of contacts.
    ContactFolder {
        id: String,
        #[serde(rename = "@odata.etag")]
        etag: Option<String>,
        display_name: Option<String>,
        parent_folder_id: Option<String>,
    }
}

object! {
    /// A contact of a folder.
    FolderContact {
        id: String,
        #[serde(rename = "@odata.etag")]
        etag: Option<String>,
        change_key: Option<String>,
        parent_folder_id: Option<String>,
        created_date_time: Option<String>,
        last_modified_date_time: Option<String>,
        categories: Option<Vec<String>>,
        display_name: Option<String>,
        file_as: Option<String>,
        initials: Option<String>,
        given_name: Option<String>,
        middle_name: Option<String>,
        surname: Option<String>,
        /// Words before the name.
        title: Option<String>,
        /// Words after the name.
        generation: Option<String>,
        nick_name: Option<String>,
        yomi_given_name: Option<String>,
        yomi_surname: Option<String>,
        yomi_company_name: Option<String>,
        company_name: Option<String>,
        department: Option<String>,
        job_title: Option<String>,
        profession: Option<String>,
        office_location: Option<String>,
        email_addresses: Option<Vec<ContactAddress>>,
        business_phones: Option<Vec<String>>,
        home_phones: Option<Vec<String>>,
        mobile_phone: Option<String>,
        business_address: Option<PhysicalAddress>,
        home_address: Option<PhysicalAddress>,
        other_address: Option<PhysicalAddress>,
        business_home_page: Option<String>,
        im_addresses: Option<Vec<String>>,
        spouse_name: Option<String>,
        manager: Option<String>,
        assistant_name: Option<String>,
        children: Option<Vec<String>>,
        birthday: Option<String>,
        personal_notes: Option<String>,
        /// Only where they are asked for.
        single_value_extended_properties: Option<Vec<ContactProperty>>,
    }
}

impl FolderContact {
    /// The version of the contact.
    pub fn version(&self) -> Option<String> {
        let key = self.change_key.as_ref().filter(|key| !key.is_empty());
        let etag = self.etag.clone().filter(|etag| !etag.is_empty());
        etag.or_else(|| key.map(|key| format!("W/\"{key}\"")))
    }
}

object! {
    /// An e-mail address. Graph has no type of it.
    ContactAddress {
        name: Option<String>,
        address: Option<String>,
    }
}

object! {
    /// A postal address.
    PhysicalAddress {
        street: Option<String>,
        city: Option<String>,
        state: Option<String>,
        postal_code: Option<String>,
        country_or_region: Option<String>,
    }
}

object! {
    /// A property of Exchange that Graph has no name for.
    ContactProperty {
        id: String,
        value: Option<String>,
    }
}

object! {
    /// The description of a picture.
    PictureEntry {
        #[serde(rename = "@odata.mediaEtag")]
        media_etag: Option<String>,
        /// Its size, as in `240X240`.
        id: Option<String>,
    }
}
