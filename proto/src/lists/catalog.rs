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
        Field::new("search", Class::Search),
        Field::new("typeCode", Class::Enum(&["digital", "physical", "service"])),
        Field::new("updatedAt", Class::Time),
        Field::new("visible", Class::Bool),
    ],
)
.sorted_by(&[asc("order")])
.including(&[
    Include::new("category"),
    Include::new("questions"),
    Include::new("taxRate"),
]);

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

/// `/questions`.
pub const QUESTIONS: ListTable = ListTable::new(
    "questions",
    &[
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("id", Class::Id),
        Field::new("productTypeCode", Class::ILike),
        Field::new("title", Class::ILike).sortable(),
        Field::new(
            "typeCode",
            Class::Enum(&["date", "multiple", "single", "text", "time"]),
        )
        .sortable(),
        Field::new("updatedAt", Class::Time),
    ],
);

/// `/question-types`.
pub const QUESTION_TYPES: ListTable = ListTable::new(
    "question-types",
    &[
        Field::new("code", Class::Code).sortable(),
        Field::new("createdAt", Class::Time).sortable(),
    ],
)
.sorted_by(&[asc("code")]);

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
