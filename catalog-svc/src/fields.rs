//! Reads the fields of a create or an update into values, and collects what is wrong with them.

use platform::{
    error::{Failure, FieldCode, InvalidValue, Violations},
    ids::Id,
    patch::Patch,
};

/// Why a required field has a value once [`Fields::finish`] found no fault.
pub const CHECKED: &str = "a required field without a fault has a value";

/// The fields of one request. Names are those of the `.proto`; faults are reported under the public
/// ones.
#[derive(Debug)]
pub struct Fields<'m> {
    mask: &'m [String],
    known: Vec<&'static str>,
    violations: Violations,
}

impl<'m> Fields<'m> {
    /// The fields of a create.
    pub fn of_create() -> Self {
        Self::of_update(&[])
    }

    /// The fields of an update with the paths of its mask.
    pub fn of_update(mask: &'m [String]) -> Self {
        Self {
            mask,
            known: Vec::new(),
            violations: Violations::default(),
        }
    }

    /// A field that has to be there.
    pub fn required<T>(
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

    /// A field that may be left out.
    pub fn optional<W, T>(
        &mut self,
        name: &str,
        written: Option<W>,
        parse: impl FnOnce(W) -> Result<T, InvalidValue>,
    ) -> Option<T> {
        let parsed = parse(written?);
        self.violations.value(&public(name), parsed)
    }

    /// A field of an update that can be changed but not cleared.
    pub fn changed<W, T>(
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

    /// A field of an update that can be changed and cleared.
    pub fn patched<W, T>(
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

    /// Ends with everything that is wrong, if anything is.
    pub fn finish(mut self) -> Result<(), Failure> {
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

/// Reads what an item goes right before.
pub fn subsequent<T>(written: Option<String>) -> Result<Option<Id<T>>, Failure> {
    let next = written.map(|id| Id::parse(&id)).transpose();
    next.map_err(|invalid| invalid.at("subsequentId"))
}

/// `tax_rate_id` is `taxRateId` in the public contract, and a product's `type` its `typeCode`.
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

    fn faults(fields: Fields) -> Vec<(String, FieldCode)> {
        let failure = fields.finish().unwrap_err();
        let faults = failure.fields.into_iter();
        faults.map(|fault| (fault.field, fault.code)).collect()
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
    fn a_create_collects_every_fault() {
        let mut fields = Fields::of_create();
        assert_eq!(fields.optional("page_size", None, odd), None);
        assert_eq!(fields.optional("page_size", Some(3), odd), Some(3));
        fields.optional("page_size", Some(2), odd);
        fields.required("category_id", String::new(), Ok);
        let found = [
            ("pageSize".to_owned(), FieldCode::Range),
            ("categoryId".to_owned(), FieldCode::Required),
        ];
        assert_eq!(faults(fields), found);
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
        assert_eq!(faults(fields), found);
    }
}
