//! The filters, sorts and includes of the list RPCs: one [`ListTable`] a resource. The service
//! compiles its SQL from it, the gateway its OpenAPI, and both refuse everything else.

pub mod audit;
pub mod catalog;
pub mod identity;
pub mod orders;
pub mod wallet;

/// The form and comparison of a field's values, which decide the operators that it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A UUID: `=` `in` `nin`.
    Id,
    /// One of these values: `=` `in` `nin`.
    Enum(&'static [&'static str]),
    /// Any text, compared whole: `=` `in` `nin`.
    Code,
    /// Any text, compared whole and regardless of case: `=` `in` `nin`.
    CaselessCode,
    /// Text searched case-sensitively: a plain value (substring, or a pattern where it holds `%`),
    /// `like` `ilike`.
    Like,
    /// The same, but a plain value matches regardless of case.
    ILike,
    /// `true` or `false`: `=`.
    Bool,
    /// A decimal number: `=` `gt` `gte` `lt` `lte`.
    Number,
    /// A signed amount with up to 8 decimals: `=` `gt` `gte` `lt` `lte`.
    Money,
    /// RFC 3339, or a bare date that means its midnight in UTC: `=` `gt` `gte` `lt` `lte`.
    Time,
    /// A named condition that `true` adds: `=`.
    Flag,
    /// Words that all occur, the last one as the start of a word: `=`. Without a sort, the best matches
    /// come first.
    Search,
}

/// A field of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Public name, as in the REST contract (`createdAt`).
    pub name: &'static str,
    /// How its values compare.
    pub class: Class,
    /// Whether `filter[name]` is allowed.
    pub filterable: bool,
    /// Whether `sort=name` is allowed.
    pub sortable: bool,
    /// Whether it can be null; nulls sort as the largest value.
    pub nullable: bool,
}

impl Field {
    /// Declares a field that can be filtered by.
    pub const fn new(name: &'static str, class: Class) -> Self {
        Self {
            name,
            class,
            filterable: true,
            sortable: false,
            nullable: false,
        }
    }

    /// Allows to sort by it, too.
    #[must_use]
    pub const fn sortable(self) -> Self {
        Self {
            sortable: true,
            ..self
        }
    }

    /// Allows to sort by it, and not to filter by it.
    #[must_use]
    pub const fn sort_only(self) -> Self {
        Self {
            filterable: false,
            sortable: true,
            ..self
        }
    }

    /// Allows neither; only the default sort uses it.
    #[must_use]
    pub const fn hidden(self) -> Self {
        Self {
            filterable: false,
            sortable: false,
            ..self
        }
    }

    /// Declares that it can be null.
    #[must_use]
    pub const fn nullable(self) -> Self {
        Self {
            nullable: true,
            ..self
        }
    }
}

/// A key of the default sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortKey {
    /// Public name of the field.
    pub field: &'static str,
    /// Largest first.
    pub descending: bool,
}

/// Sorts the smallest first.
pub const fn asc(field: &'static str) -> SortKey {
    SortKey {
        field,
        descending: false,
    }
}

/// Sorts the largest first.
pub const fn desc(field: &'static str) -> SortKey {
    SortKey {
        field,
        descending: true,
    }
}

/// A relation that can be embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Include {
    /// Public name, as in `include=lines`.
    pub name: &'static str,
    /// The largest page with it.
    pub max_page_size: u32,
}

impl Include {
    /// Declares a relation for pages of any size.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            max_page_size: MAX_PAGE_SIZE,
        }
    }

    /// Limits the size of pages with it.
    #[must_use]
    pub const fn up_to(self, max_page_size: u32) -> Self {
        Self {
            max_page_size,
            ..self
        }
    }
}

/// Rows in a page of a request without a size.
pub const DEFAULT_PAGE_SIZE: u32 = 30;

/// Rows in the largest page.
pub const MAX_PAGE_SIZE: u32 = 1000;

/// Values in the longest `in` or `nin`.
pub const MAX_VALUES: usize = 500;

/// The filters, sorts and includes of a list.
///
/// ```
/// use proto::lists::{Class, Field, Include, ListTable, asc};
///
/// pub const PRODUCTS: ListTable = ListTable::new(
///     "products",
///     &[
///         Field::new("available", Class::Bool),
///         Field::new("name", Class::ILike),
///         Field::new("order", Class::Number).sortable(),
///         Field::new("createdAt", Class::Time).sortable(),
///     ],
/// )
/// .sorted_by(&[asc("order")])
/// .including(&[Include::new("category")]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ListTable {
    /// The resource, as in its path.
    pub resource: &'static str,
    /// The fields that can be filtered and sorted by.
    pub fields: &'static [Field],
    /// The order of a request without a sort. The primary key is always the last key.
    pub default_sort: &'static [SortKey],
    /// The relations that can be embedded.
    pub includes: &'static [Include],
    /// Whether it comes in pages; if not, a response has all rows.
    pub paged: bool,
}

impl ListTable {
    /// Declares a paged list, newest first: `createdAt` must be among its fields unless
    /// [`Self::sorted_by`] is called.
    pub const fn new(resource: &'static str, fields: &'static [Field]) -> Self {
        const NEWEST_FIRST: &[SortKey] = &[desc("createdAt")];
        Self {
            resource,
            fields,
            default_sort: NEWEST_FIRST,
            includes: &[],
            paged: true,
        }
    }

    /// Sets the order of a request without a sort.
    #[must_use]
    pub const fn sorted_by(self, default_sort: &'static [SortKey]) -> Self {
        Self {
            default_sort,
            ..self
        }
    }

    /// Sets the relations that can be embedded.
    #[must_use]
    pub const fn including(self, includes: &'static [Include]) -> Self {
        Self { includes, ..self }
    }

    /// Declares that a response has all rows.
    #[must_use]
    pub const fn whole(self) -> Self {
        Self {
            paged: false,
            ..self
        }
    }

    /// Finds the field of this name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}
