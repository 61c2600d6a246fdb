//! Reads the fields of requests into values, and collects what is wrong with them. Lengths count
//! characters.

use chrono::{DateTime, Datelike as _, Utc};
pub(crate) use platform::text::object;
use platform::{
    clock::from_proto,
    error::{Failure, FieldCode, InvalidValue, Violations},
    patch::Patch,
    text::{self, bounded},
};
use prost_types::{FieldMask, Timestamp};

/// Why a field has a value once [`Fields::finish`] found no violation.
pub(crate) const CHECKED: &str = "a field without a violation has a value";

const MAX_NAME: usize = 255;

/// Reads a name of 1 to 255 characters.
pub(crate) fn name(text: String) -> Result<String, InvalidValue> {
    bounded(text, 1..=MAX_NAME)
}

/// Reads a name of at most 255 characters.
pub(crate) fn name_or_empty(text: String) -> Result<String, InvalidValue> {
    bounded(text, 0..=MAX_NAME)
}

/// Refuses an optional text of more than `max` characters.
pub(crate) fn check_length(
    violations: &mut Violations,
    field: &str,
    text: Option<&String>,
    max: usize,
) {
    if let Some(text) = text {
        violations.value(field, text::check(text, 0..=max));
    }
}

/// Returns the JSON object of a request that has none.
pub(crate) fn empty_object() -> String {
    text::EMPTY_OBJECT.to_owned()
}

/// Fails because the field is missing.
pub(crate) fn required<T>() -> Result<T, InvalidValue> {
    Err(InvalidValue::new(FieldCode::Required, "is required"))
}

/// Reads a time. RFC 3339 and Postgres allow the years 1 to 9999.
pub(crate) fn time(time: &Timestamp) -> Result<DateTime<Utc>, InvalidValue> {
    from_proto(time)
        .filter(|time| (1..=9999).contains(&time.year()))
        .ok_or_else(|| InvalidValue::new(FieldCode::Range, "is not a time"))
}

/// Returns the asset that a code names, or fails because there is none.
pub(crate) fn existing_asset<T>(found: Option<T>) -> Result<T, InvalidValue> {
    found.ok_or_else(|| InvalidValue::new(FieldCode::UnknownReference, "asset not found"))
}

/// The fields of one request. Names are those of the `.proto`; violations name the public ones.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    mask: Vec<String>,
    violations: Violations,
}

impl Fields {
    /// Returns the fields of a create.
    pub(crate) fn of_create() -> Self {
        Self::default()
    }

    /// Returns the fields of an update; what its mask does not name stays as it is.
    pub(crate) fn of_update(mask: Option<FieldMask>) -> Self {
        Self {
            mask: mask.unwrap_or_default().paths,
            violations: Violations::default(),
        }
    }

    /// Reads a field that has to be there.
    pub(crate) fn required<T>(
        &mut self,
        name: &str,
        value: String,
        parse: impl FnOnce(String) -> Result<T, InvalidValue>,
    ) -> Option<T> {
        let parsed = if value.is_empty() {
            required()
        } else {
            parse(value)
        };
        self.violations.value(&public(name), parsed)
    }

    /// Reads a field that may be left out.
    pub(crate) fn optional<V, T>(
        &mut self,
        name: &str,
        value: Option<V>,
        parse: impl FnOnce(V) -> Result<T, InvalidValue>,
    ) -> Option<T> {
        let parsed = parse(value?);
        self.violations.value(&public(name), parsed)
    }

    /// Reads a field of an update that can be changed but not cleared.
    pub(crate) fn changed<V, T>(
        &mut self,
        name: &str,
        value: Option<V>,
        parse: impl FnOnce(V) -> Result<T, InvalidValue>,
    ) -> Option<T> {
        match Patch::from_wire(name, value, &self.mask) {
            Patch::Absent => None,
            Patch::Null => {
                let (code, message) = (FieldCode::Type, "must not be null");
                self.violations.add(public(name), code, message);
                None
            }
            Patch::Set(value) => self.violations.value(&public(name), parse(value)),
        }
    }

    /// Reads a field of an update that can be changed and cleared.
    pub(crate) fn patched<V, T>(
        &mut self,
        name: &str,
        value: Option<V>,
        parse: impl FnOnce(V) -> Result<T, InvalidValue>,
    ) -> Patch<T> {
        match Patch::from_wire(name, value, &self.mask) {
            Patch::Absent => Patch::Absent,
            Patch::Null => Patch::Null,
            Patch::Set(value) => {
                let parsed = self.violations.value(&public(name), parse(value));
                parsed.map_or(Patch::Absent, Patch::Set)
            }
        }
    }

    /// Fails with all violations, if there are any.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.violations.finish()
    }
}

/// Turns `owner_id` into `ownerId`.
fn public(name: &str) -> String {
    let mut words = name.split('_');
    let mut public = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        public.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        public.push_str(letters.as_str());
    }
    public
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Result<u32, InvalidValue> {
        text.parse()
            .map_err(|_| InvalidValue::new(FieldCode::Format, "must be a number"))
    }

    fn violations(fields: Fields) -> Vec<(String, FieldCode)> {
        let failure = fields.finish().unwrap_err();
        let fields = failure.fields.into_iter();
        fields.map(|field| (field.field, field.code)).collect()
    }

    #[test]
    fn texts_have_limits() {
        assert!(name("é".repeat(255)).is_ok() && name("é".repeat(256)).is_err());
        assert!(name(String::new()).is_err() && name_or_empty(String::new()).is_ok());
        assert!(object(empty_object()).is_ok());
        for (length, fits) in [(16, true), (17, false)] {
            let mut violations = Violations::default();
            check_length(&mut violations, "symbol", Some(&"₿".repeat(length)), 16);
            assert_eq!(violations.is_empty(), fits, "{length}");
        }
    }

    #[test]
    fn a_create_reports_every_violation_by_its_public_name() {
        let mut fields = Fields::of_create();
        assert_eq!(
            fields.required("page_size", "3".to_owned(), |text| number(&text)),
            Some(3)
        );
        assert_eq!(fields.optional("page_size", None, number), None);
        fields.required("decimal_places", String::new(), |text| number(&text));
        fields.optional("page_size", Some("x"), number);
        let expected = [
            ("decimalPlaces".to_owned(), FieldCode::Required),
            ("pageSize".to_owned(), FieldCode::Format),
        ];
        assert_eq!(violations(fields), expected);
        assert!(Fields::of_create().finish().is_ok());
    }

    #[test]
    fn an_update_reads_what_its_mask_names() {
        let mask = FieldMask {
            paths: ["a", "b", "c_d", "e"].map(str::to_owned).to_vec(),
        };
        let mut fields = Fields::of_update(Some(mask));
        assert_eq!(fields.patched("a", None, number), Patch::Null);
        assert_eq!(fields.patched("b", Some("1"), number), Patch::Set(1));
        assert_eq!(fields.patched("unnamed", Some("1"), number), Patch::Absent);
        assert_eq!(fields.changed("b", Some("1"), number), Some(1));
        assert_eq!(fields.changed("unnamed", Some("x"), number), None);
        assert_eq!(fields.changed("c_d", None, number), None);
        assert_eq!(fields.patched("e", Some("x"), number), Patch::Absent);
        let expected = [
            ("cD".to_owned(), FieldCode::Type),
            ("e".to_owned(), FieldCode::Format),
        ];
        assert_eq!(violations(fields), expected);
    }
}
