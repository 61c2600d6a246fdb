//! Access to catalog-svc. Users read the catalogue: of the products, those that are visible.

use super::{ORDERS, Table, admins, all, only};

/// The access to the RPCs of catalog-svc.
pub const TABLE: Table = Table {
    package: "guerdon.catalog.v1",
    rows: &[
        all("ProductService/GetProduct"),
        all("ProductService/ListProducts"),
        admins("ProductService/CreateProduct"),
        admins("ProductService/UpdateProduct"),
        admins("ProductService/DeleteProduct"),
        admins("ProductService/ImportProducts"),
        admins("ProductService/ExportProducts"),
        admins("ProductService/ReorderProduct"),
        admins("ProductQuestionService/CreateProductQuestion"),
        admins("ProductQuestionService/DeleteProductQuestion"),
        admins("ProductQuestionService/ReorderProductQuestion"),
        all("CategoryService/GetCategory"),
        all("CategoryService/ListCategories"),
        admins("CategoryService/CreateCategory"),
        admins("CategoryService/UpdateCategory"),
        admins("CategoryService/DeleteCategory"),
        admins("CategoryService/ReorderCategory"),
        all("QuestionService/GetQuestion"),
        all("QuestionService/ListQuestions"),
        all("QuestionService/ListQuestionTypes"),
        admins("QuestionService/CreateQuestion"),
        admins("QuestionService/UpdateQuestion"),
        admins("QuestionService/DeleteQuestion"),
        all("TaxRateService/GetTaxRate"),
        all("TaxRateService/ListTaxRates"),
        admins("TaxRateService/CreateTaxRate"),
        admins("TaxRateService/UpdateTaxRate"),
        admins("TaxRateService/DeleteTaxRate"),
        only(&[ORDERS], "CatalogQuoteService/Quote"),
    ],
};
