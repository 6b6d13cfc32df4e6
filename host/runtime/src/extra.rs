//! Pairs of names and values by which the WIT's records can be extended within 1.x (`extra`). Names that the host does not know
//! are ignored.

/// Most pairs of one record.
const MAX_PAIRS: usize = 32;
/// Most bytes of the names and values of one record together.
const MAX_BYTES: usize = 4 << 10;

/// Most units of one request.
const MAX_UNITS: u32 = 1_000_000;

/// Options of a component for one request to its provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestWishes {
    /// Units that the request uses of its bucket in `[limits]` (`units`). Default 1.
    pub(crate) units: u32,
    /// Whether the token is renewed before the request is sent (`credentials` with the value `renewed`).
    pub(crate) has_renewed_token: bool,
}

impl RequestWishes {
    /// Reads the pairs that the host knows. The error says what is wrong with a value.
    pub(crate) fn read(extra: &[(String, String)]) -> Result<Self, String> {
        let value =
            |name: &str| extra.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str());
        let units = value("units").map_or(Some(1), |units| units.parse().ok());
        let units = units.filter(|units| (1..=MAX_UNITS).contains(units));
        let units = units.ok_or_else(|| format!("extra: units must be a number from 1 to {MAX_UNITS}"))?;
        Ok(RequestWishes { units, has_renewed_token: value("credentials") == Some("renewed") })
    }
}

/// Fails when a component returned too much. The error names the bound.
pub(crate) fn ensure_bounded(extra: &[(String, String)]) -> Result<(), String> {
    if extra.len() > MAX_PAIRS {
        return Err(format!("extra: {} pairs, at most {MAX_PAIRS} are allowed", extra.len()));
    }
    let bytes: usize = extra.iter().map(|(name, value)| name.len() + value.len()).sum();
    if bytes > MAX_BYTES {
        return Err(format!("extra: {bytes} bytes, at most {MAX_BYTES} are allowed"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_and_their_bytes_are_bounded() {
        let pairs = |count: usize, bytes: usize| vec![("n".to_owned(), "v".repeat(bytes - 1)); count];
        for (good, bad) in
            [(pairs(MAX_PAIRS, 2), pairs(MAX_PAIRS + 1, 2)), (pairs(1, MAX_BYTES), pairs(1, MAX_BYTES + 1))]
        {
            assert_eq!(ensure_bounded(&good), Ok(()));
            let why = ensure_bounded(&bad).unwrap_err();
            assert!(why.starts_with("extra: ") && why.contains("at most"), "{why}");
        }
        assert_eq!(ensure_bounded(&[]), Ok(()));
    }

    #[test]
    fn wishes_of_a_request_are_read_and_other_names_are_ignored() {
        let read = |pairs: &[(&str, &str)]| {
            let pairs: Vec<_> = pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
            RequestWishes::read(&pairs)
        };
        let wishes = |units, has_renewed_token| Ok(RequestWishes { units, has_renewed_token });
        assert_eq!(read(&[]), wishes(1, false));
        assert_eq!(read(&[("units", "250"), ("else", "x"), ("credentials", "renewed")]), wishes(250, true));
        assert_eq!(read(&[("credentials", "other")]), wishes(1, false));
        for bad in ["0", "-1", "1000001", "many", ""] {
            assert!(read(&[("units", bad)]).unwrap_err().contains("from 1 to 1000000"), "{bad}");
        }
    }
}
