//! The fields of a request: parses them into values, and collects what is invalid.

use prost_types::FieldMask;

use crate::{
    error::{Failure, FieldCode, InvalidValue, Violations},
    patch::Patch,
};

/// Message of `expect` on a required field after [`Fields::finish`] found nothing invalid.
pub const CHECKED: &str = "a required field that is valid has a value";

/// Fails because the field is missing.
pub fn required<T>() -> Result<T, InvalidValue> {
    Err(InvalidValue::new(FieldCode::Required, "is required"))
}

/// The fields of one request. Names are those of the `.proto`; invalid fields are reported by their
/// public names.
#[derive(Debug, Default)]
pub struct Fields {
    mask: Vec<String>,
    known: Vec<&'static str>,
    renamed: Option<(&'static str, &'static str)>,
    violations: Violations,
}

impl Fields {
    /// Starts a create.
    pub fn of_create() -> Self {
        Self::default()
    }

    /// Starts an update: what its mask does not name stays as it is.
    pub fn of_update(mask: Option<FieldMask>) -> Self {
        Self {
            mask: mask.unwrap_or_default().paths,
            ..Self::default()
        }
    }

    /// Reports a field by a public name that does not follow from its name.
    #[must_use]
    pub fn rename(self, name: &'static str, public: &'static str) -> Self {
        Self {
            renamed: Some((name, public)),
            ..self
        }
    }

    /// Parses a required field.
    pub fn required<T>(
        &mut self,
        name: &str,
        written: String,
        parse: impl FnOnce(String) -> Result<T, InvalidValue>,
    ) -> Option<T> {
        let parsed = if written.is_empty() {
            required()
        } else {
            parse(written)
        };
        self.checked(name, parsed)
    }

    /// Parses an optional field.
    pub fn optional<W, T>(
        &mut self,
        name: &str,
        written: Option<W>,
        parse: impl FnOnce(W) -> Result<T, InvalidValue>,
    ) -> Option<T> {
        let parsed = parse(written?);
        self.checked(name, parsed)
    }

    /// Parses a field of an update that cannot be cleared.
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
                let message = "cannot be cleared";
                self.checked(name, Err(InvalidValue::new(FieldCode::Required, message)))
            }
        }
    }

    /// Parses a field of an update that can be cleared.
    pub fn patched<W, T>(
        &mut self,
        name: &'static str,
        written: Option<W>,
        parse: impl FnOnce(W) -> Result<T, InvalidValue>,
    ) -> Patch<T> {
        self.known.push(name);
        match Patch::from_wire(name, written, &self.mask) {
            Patch::Absent => Patch::Absent,
            Patch::Null => Patch::Null,
            Patch::Set(written) => {
                let parsed = self.checked(name, parse(written));
                parsed.map_or(Patch::Absent, Patch::Set)
            }
        }
    }

    /// Fails with all that is invalid, also with paths of the mask that no field has.
    pub fn finish(mut self) -> Result<(), Failure> {
        let unknown = |path: &String| !self.known.contains(&path.as_str());
        for path in std::mem::take(&mut self.mask).into_iter().filter(unknown) {
            let name = public_name(&path);
            let message = "there is no such field";
            self.violations.add(name, FieldCode::UnknownField, message);
        }
        self.violations.finish()
    }

    fn checked<T>(&mut self, name: &str, parsed: Result<T, InvalidValue>) -> Option<T> {
        let renamed = self.renamed.filter(|(from, _)| *from == name);
        let public = renamed.map_or_else(|| public_name(name), |(_, to)| to.to_owned());
        self.violations.value(&public, parsed)
    }
}

/// Turns `tax_rate_id` into `taxRateId`.
fn public_name(name: &str) -> String {
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
    fn a_create_reports_every_invalid_field_by_its_public_name() {
        let mut fields = Fields::of_create().rename("type", "typeCode");
        assert_eq!(fields.required("rate", "3".to_owned(), |_| Ok(3)), Some(3));
        assert_eq!(fields.optional("page_size", None, odd), None);
        fields.optional("page_size", Some(2), odd);
        fields.required("tax_rate_id", String::new(), Ok);
        fields.optional("type", Some(4), odd);
        let found = [
            ("pageSize".to_owned(), FieldCode::Range),
            ("taxRateId".to_owned(), FieldCode::Required),
            ("typeCode".to_owned(), FieldCode::Range),
        ];
        assert_eq!(violations(fields), found);
        assert!(Fields::of_create().finish().is_ok());
    }

    #[test]
    fn an_update_reads_what_its_mask_names() {
        let paths = ["url", "bonus", "list_label", "name", "nmae"];
        let mut fields = Fields::of_update(Some(FieldMask {
            paths: paths.map(str::to_owned).to_vec(),
        }));
        assert_eq!(fields.patched("url", None, odd), Patch::Null);
        assert_eq!(fields.patched("bonus", Some(1), odd), Patch::Set(1));
        assert_eq!(fields.patched("list_label", Some(2), odd), Patch::Absent);
        assert_eq!(fields.patched("unnamed", Some(2), odd), Patch::Absent);
        assert_eq!(fields.changed("price", Some(1), odd), None);
        assert_eq!(fields.changed("name", None, odd), None);
        let found = [
            ("listLabel".to_owned(), FieldCode::Range),
            ("name".to_owned(), FieldCode::Required),
            ("nmae".to_owned(), FieldCode::UnknownField),
        ];
        assert_eq!(violations(fields), found);
    }
}
