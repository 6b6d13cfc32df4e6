//! UIDs of events. Outlook's own are the bytes of a global object id (MS-OXOCAL, section 2.2.1.27) in hexadecimal digits; the UID of
//! another program is wrapped in such bytes.

/// The array id with which the bytes begin.
const ARRAY_ID: &str = "040000008200E00074C5B7101A82E008";
/// Hexadecimal digits of the array id, the instance's date, the creation time, eight reserved bytes and the size.
const HEAD_DIGITS: usize = 80;
/// Digits before and after the instance's date.
const DATE_DIGITS: (usize, usize) = (32, 40);
/// The bytes before the UID of another program: `vCal-Uid` and the number 1.
const WRAPPER: &str = "7643616C2D55696401000000";

/// Returns the UID of an event: that of another program where one is wrapped, and without the date by which the UID of an instance differs
/// from the one of its series.
pub fn uid_from(theirs: &str) -> String {
    let upper = theirs.to_ascii_uppercase();
    if !upper.starts_with(ARRAY_ID)
        || upper.len() < HEAD_DIGITS
        || !upper.bytes().all(|b| b.is_ascii_hexdigit())
    {
        return theirs.to_owned();
    }
    if let Some(uid) =
        upper.get(HEAD_DIGITS..).and_then(|data| data.strip_prefix(WRAPPER)).and_then(unwrapped)
    {
        return uid;
    }
    let (before, after) = (theirs.get(..DATE_DIGITS.0), theirs.get(DATE_DIGITS.1..));
    format!("{}00000000{}", before.unwrap_or_default(), after.unwrap_or_default())
}

/// The text of digits, up to the zero that ends it.
fn unwrapped(digits: &str) -> Option<String> {
    let pairs = (0..digits.len() / 2).map_while(|at| digits.get(2 * at..2 * at + 2));
    let bytes: Option<Vec<u8>> = pairs.map(|pair| u8::from_str_radix(pair, 16).ok()).collect();
    let text: Vec<u8> = bytes?.into_iter().take_while(|byte| *byte != 0).collect();
    String::from_utf8(text).ok().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::uid_from;

    /// MS-OXCICAL, section 2.1.3.1.1.20.26: a UID that is no global object id is wrapped.
    #[test]
    fn a_foreign_uid_is_unwrapped() {
        let wrapped = "040000008200E00074C5B7101A82E00800000000000000000000000000000000000000003D0000007643616C2D556964\
                       010000007B34303137363430382D304542462D343139302D413836392D4331413736453437324443437D00";
        assert_eq!(uid_from(wrapped), "{40176408-0EBF-4190-A869-C1A76E472DCC}");
    }

    #[test]
    fn an_instance_has_the_uid_of_its_series() {
        let series = "040000008200E00074C5B7101A82E00800000000B0A5F1D4C5B7DC01000000000000000010000000AABBCCDD00112233";
        let instance = series.replace("E00800000000B0", "E00807EA0305B0");
        assert_ne!(series, instance);
        assert_eq!((uid_from(series), uid_from(&instance)), (series.to_owned(), series.to_owned()));
        assert_eq!(uid_from("abc@example.com"), "abc@example.com");
    }
}
