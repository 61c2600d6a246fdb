//! Access to catalog-svc. Users read the catalogue: of the products, those that are visible.

use super::{ORDERS, Table, admins, all, only};

/// The access to the RPCs of catalog-svc.
pub const TABLE: Table = Table {
    package: "guerdon.catalog.v1",
    rows: &[
        all("ProductService/GetProduct"),
        all("ProductService/ListProducts"),
        admins("ProductService/CreateProduct").does("product.created"),
        admins("ProductService/UpdateProduct").does("product.updated"),
        admins("ProductService/DeleteProduct").does("product.deleted"),
        admins("ProductService/ImportProducts").does("product.created"),
        admins("ProductService/ExportProducts"),
        admins("ProductService/ReorderProduct").does("product.updated"),
        admins("ProductQuestionService/CreateProductQuestion").does("product.updated"),
        admins("ProductQuestionService/DeleteProductQuestion").does("product.updated"),
        admins("ProductQuestionService/ReorderProductQuestion").does("product.updated"),
        all("CategoryService/GetCategory"),
        all("CategoryService/ListCategories"),
        admins("CategoryService/CreateCategory").does("category.created"),
        admins("CategoryService/UpdateCategory").does("category.updated"),
        admins("CategoryService/DeleteCategory").does("category.deleted"),
        admins("CategoryService/ReorderCategory").does("category.updated"),
        all("QuestionService/GetQuestion"),
        all("QuestionService/ListQuestions"),
        all("QuestionService/ListQuestionTypes"),
        admins("QuestionService/CreateQuestion").does("question.created"),
        admins("QuestionService/UpdateQuestion").does("question.updated"),
        admins("QuestionService/DeleteQuestion").does("question.deleted"),
        all("TaxRateService/GetTaxRate"),
        all("TaxRateService/ListTaxRates"),
        admins("TaxRateService/CreateTaxRate").does("tax_rate.created"),
        admins("TaxRateService/UpdateTaxRate").does("tax_rate.updated"),
        admins("TaxRateService/DeleteTaxRate").does("tax_rate.deleted"),
        only(&[ORDERS], "CatalogQuoteService/Quote"),
    ],
};
