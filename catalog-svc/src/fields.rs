//! Parses the fields of requests and collects what is invalid, and limits texts. Lengths count
//! characters.

use platform::{
    error::{Failure, FieldCode, InvalidValue, Violations},
    ids::Id,
    patch::Patch,
    text::{EMPTY_OBJECT, bounded},
};

pub(crate) use platform::text::object as custom_data;

/// Message of `expect` on a required field after [`Fields::finish`] found nothing invalid.
pub(crate) const CHECKED: &str = "a required field that is valid has a value";

/// The fields of one request. Names are those of the `.proto`; invalid fields are reported by their
/// public names.
#[derive(Debug)]
pub(crate) struct Fields<'m> {
    mask: &'m [String],
    known: Vec<&'static str>,
    violations: Violations,
}

impl<'m> Fields<'m> {
    /// Starts a create.
    pub(crate) fn of_create() -> Self {
        Self::of_update(&[])
    }

    /// Starts an update with the paths of its mask.
    pub(crate) fn of_update(mask: &'m [String]) -> Self {
        Self {
            mask,
            known: Vec::new(),
            violations: Violations::default(),
        }
    }

    /// Parses a required field.
    pub(crate) fn required<T>(
        &mut self,
        name: &str,
        written: String,
        parse: impl FnOnce(String) -> Result<T, InvalidValue>,
    ) -> Option<T> {
        let parsed = if written.is_empty() {
            Err(InvalidValue::new(FieldCode::Required, "is required"))
        } else {
            parse(written)
        };
        self.violations.value(&public(name), parsed)
    }

    /// Parses an optional field.
    pub(crate) fn optional<W, T>(
        &mut self,
        name: &str,
        written: Option<W>,
        parse: impl FnOnce(W) -> Result<T, InvalidValue>,
    ) -> Option<T> {
        let parsed = parse(written?);
        self.violations.value(&public(name), parsed)
    }

    /// Parses a field of an update that cannot be cleared.
    pub(crate) fn changed<W, T>(
        &mut self,
        name: &'static str,
        written: Option<W>,
        parse: impl FnOnce(W) -> Result<T, InvalidValue>,
    ) -> Option<T> {
        match self.patched(name, written, parse) {
            Patch::Set(value) => Some(value),
            Patch::Absent => None,
            Patch::Null => {
                self.violations
                    .add(public(name), FieldCode::Type, "must not be null");
                None
            }
        }
    }

    /// Parses a field of an update that can be cleared.
    pub(crate) fn patched<W, T>(
        &mut self,
        name: &'static str,
        written: Option<W>,
        parse: impl FnOnce(W) -> Result<T, InvalidValue>,
    ) -> Patch<T> {
        self.known.push(name);
        match Patch::from_wire(name, written, self.mask) {
            Patch::Absent => Patch::Absent,
            Patch::Null => Patch::Null,
            Patch::Set(written) => {
                let parsed = self.violations.value(&public(name), parse(written));
                parsed.map_or(Patch::Absent, Patch::Set)
            }
        }
    }

    /// Returns all that is invalid, if anything is, and paths of the mask that no field has.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        for path in self.mask {
            if !self.known.contains(&path.as_str()) {
                self.violations.add(
                    public(path),
                    FieldCode::UnknownField,
                    "there is no such field",
                );
            }
        }
        self.violations.finish()
    }
}

/// Parses the id of the item that another is moved right before.
pub(crate) fn subsequent<T>(written: Option<String>) -> Result<Option<Id<T>>, Failure> {
    let next = written.map(|id| Id::parse(&id)).transpose();
    next.map_err(|invalid| invalid.at("subsequentId"))
}

/// Checks a text that names something: 1 to 255 characters.
pub(crate) fn title(text: String) -> Result<String, InvalidValue> {
    bounded(text, 1..=255)
}

/// Checks a name that may be empty: at most 255 characters.
pub(crate) fn name(text: String) -> Result<String, InvalidValue> {
    bounded(text, 0..=255)
}

/// Checks a description: at most 10 000 characters.
pub(crate) fn description(text: String) -> Result<String, InvalidValue> {
    bounded(text, 0..=10_000)
}

/// Checks any other text: at most 2 048 characters.
pub(crate) fn plain(text: String) -> Result<String, InvalidValue> {
    bounded(text, 0..=2_048)
}

/// Returns the default of `customData` and `metadata`.
pub(crate) fn empty_object() -> String {
    EMPTY_OBJECT.to_owned()
}

/// Returns the public name: `taxRateId` of `tax_rate_id`, and `typeCode` of a product's `type`.
fn public(name: &str) -> String {
    if name == "type" {
        return "typeCode".into();
    }
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

    fn odd(n: i32) -> Result<i32, InvalidValue> {
        (n % 2 == 1)
            .then_some(n)
            .ok_or_else(|| InvalidValue::new(FieldCode::Range, "must be odd"))
    }

    fn violations(fields: Fields) -> Vec<(String, FieldCode)> {
        let failure = fields.finish().unwrap_err();
        let fields = failure.fields.into_iter();
        fields.map(|field| (field.field, field.code)).collect()
    }

    #[test]
    fn names_are_public_ones() {
        for (name, shown) in [
            ("title", "title"),
            ("tax_rate_id", "taxRateId"),
            ("allow_choosing_quantity", "allowChoosingQuantity"),
            ("type", "typeCode"),
        ] {
            assert_eq!(public(name), shown);
        }
    }

    #[test]
    fn a_create_collects_every_violation() {
        let mut fields = Fields::of_create();
        assert_eq!(fields.optional("page_size", None, odd), None);
        assert_eq!(fields.optional("page_size", Some(3), odd), Some(3));
        fields.optional("page_size", Some(2), odd);
        fields.required("category_id", String::new(), Ok);
        let found = [
            ("pageSize".to_owned(), FieldCode::Range),
            ("categoryId".to_owned(), FieldCode::Required),
        ];
        assert_eq!(violations(fields), found);
        assert!(Fields::of_create().finish().is_ok());
    }

    #[test]
    fn an_update_has_three_states() {
        let mask = [
            "url".to_owned(),
            "bonus".into(),
            "name".into(),
            "nmae".into(),
        ];
        let mut fields = Fields::of_update(&mask);
        assert_eq!(fields.patched("url", None, odd), Patch::Null);
        assert_eq!(fields.patched("bonus", Some(1), odd), Patch::Set(1));
        assert_eq!(fields.patched("price", Some(1), odd), Patch::Absent);
        assert_eq!(fields.changed("name", None, odd), None);
        let found = [
            ("name".to_owned(), FieldCode::Type),
            ("nmae".to_owned(), FieldCode::UnknownField),
        ];
        assert_eq!(violations(fields), found);
    }

    #[test]
    fn each_text_has_its_limits() {
        assert!(title("é".repeat(255)).is_ok() && title("é".repeat(256)).is_err());
        assert!(title(String::new()).is_err() && name(String::new()).is_ok());
        assert!(name("x".repeat(255)).is_ok() && name("x".repeat(256)).is_err());
        assert!(description("日".repeat(10_000)).is_ok());
        assert!(description("日".repeat(10_001)).is_err());
        assert!(plain("x".repeat(2_048)).is_ok() && plain("x".repeat(2_049)).is_err());
        assert!(custom_data(empty_object()).is_ok());
    }
}
