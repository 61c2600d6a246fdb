//! The lists of catalog-svc.

use super::{Class, Field, Include, ListTable, asc};

/// `/products`. Users see visible ones only.
pub const PRODUCTS: ListTable = ListTable::new(
    "products",
    &[
        Field::new("available", Class::Bool),
        Field::new("categoryId", Class::Id),
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("description", Class::ILike),
        Field::new("featured", Class::Bool).sortable(),
        Field::new("id", Class::Id),
        Field::new("name", Class::ILike),
        Field::new("order", Class::Number).sortable(),
        Field::new("requiresIdentity", Class::Bool),
        Field::new("typeCode", Class::Enum(&["digital", "physical", "service"])),
        Field::new("updatedAt", Class::Time),
        Field::new("visible", Class::Bool),
    ],
)
.sorted_by(&[asc("order")])
.including(&[Include::new("category"), Include::new("taxRate")]);

/// `/categories`. `availableProducts` and `visibleProducts` are true of a category with at least
/// one such product.
pub const CATEGORIES: ListTable = ListTable::new(
    "categories",
    &[
        Field::new("availableProducts", Class::Bool),
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("description", Class::ILike),
        Field::new("id", Class::Id),
        Field::new("order", Class::Number).sortable(),
        Field::new("title", Class::ILike).sortable(),
        Field::new("updatedAt", Class::Time),
        Field::new("visibleProducts", Class::Bool),
    ],
)
.sorted_by(&[asc("order")]);

/// `/tax-rates`.
pub const TAX_RATES: ListTable = ListTable::new(
    "tax-rates",
    &[
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("id", Class::Id),
        Field::new("name", Class::ILike).sortable(),
        Field::new("rate", Class::Money).sort_only(),
        Field::new("updatedAt", Class::Time),
    ],
);
