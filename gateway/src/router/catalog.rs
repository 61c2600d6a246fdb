//! Products, questions, categories and tax rates.

use proto::lists::catalog as lists;

use super::route::{Route, delete, get, patch, post};
use crate::{
    access::Access::{Admin, User},
    resources::{
        categories::{self, Category, CategoryPatch, NewCategory},
        dto::Reorder,
        product_questions::{self, NewProductQuestion, ProductQuestion},
        products::{self, Import, NewProduct, Product, ProductPatch},
        questions::{self, NewQuestion, Question, QuestionPatch, QuestionType},
        tax_rates::{self, NewTaxRate, TaxRate, TaxRatePatch},
    },
};

/// Shop fronts read the catalogue; back offices maintain it.
pub(super) fn routes() -> Vec<Route> {
    let mut routes = product_routes();
    routes.extend(question_routes());
    routes.extend(category_routes());
    routes.extend(tax_rate_routes());
    routes
}

fn product_routes() -> Vec<Route> {
    vec![
        get("/products", User, products::list).page::<Product>(&lists::PRODUCTS),
        get("/products/{id}", User, products::get)
            .response::<Product>()
            .includes(&lists::PRODUCTS),
        post("/products", Admin, products::create)
            .body::<NewProduct>()
            .created::<Product>(),
        patch("/products/{id}", Admin, products::update)
            .body::<ProductPatch>()
            .response::<Product>()
            .versioned(),
        delete("/products/{id}", Admin, products::delete).versioned(),
        post("/products/{id}/reorder", Admin, products::reorder)
            .body::<Reorder>()
            .no_content(),
        // Used to move a whole catalogue in or out.
        post("/products/import", Admin, products::import)
            .bulk::<NewProduct>()
            .response::<Import>(),
        get("/products/export", Admin, products::export).ndjson::<Product>(),
    ]
}

fn question_routes() -> Vec<Route> {
    vec![
        post("/products/{id}/questions", Admin, product_questions::create)
            .body::<NewProductQuestion>()
            .created::<ProductQuestion>(),
        delete(
            "/products/{productId}/questions/{id}",
            Admin,
            product_questions::delete,
        ),
        post(
            "/products/{productId}/questions/{id}/reorder",
            Admin,
            product_questions::reorder,
        )
        .body::<Reorder>()
        .no_content(),
        get("/questions", User, questions::list).page::<Question>(&lists::QUESTIONS),
        get("/questions/{id}", User, questions::get).response::<Question>(),
        post("/questions", Admin, questions::create)
            .body::<NewQuestion>()
            .created::<Question>(),
        patch("/questions/{id}", Admin, questions::update)
            .body::<QuestionPatch>()
            .response::<Question>()
            .versioned(),
        delete("/questions/{id}", Admin, questions::delete).versioned(),
        get("/question-types", User, questions::list_types)
            .page::<QuestionType>(&lists::QUESTION_TYPES),
    ]
}

fn category_routes() -> Vec<Route> {
    vec![
        get("/categories", User, categories::list).page::<Category>(&lists::CATEGORIES),
        get("/categories/{id}", User, categories::get).response::<Category>(),
        post("/categories", Admin, categories::create)
            .body::<NewCategory>()
            .created::<Category>(),
        patch("/categories/{id}", Admin, categories::update)
            .body::<CategoryPatch>()
            .response::<Category>()
            .versioned(),
        delete("/categories/{id}", Admin, categories::delete).versioned(),
        post("/categories/{id}/reorder", Admin, categories::reorder)
            .body::<Reorder>()
            .no_content(),
    ]
}

fn tax_rate_routes() -> Vec<Route> {
    vec![
        get("/tax-rates", User, tax_rates::list).page::<TaxRate>(&lists::TAX_RATES),
        get("/tax-rates/{id}", User, tax_rates::get).response::<TaxRate>(),
        post("/tax-rates", Admin, tax_rates::create)
            .body::<NewTaxRate>()
            .created::<TaxRate>(),
        patch("/tax-rates/{id}", Admin, tax_rates::update)
            .body::<TaxRatePatch>()
            .response::<TaxRate>()
            .versioned(),
        delete("/tax-rates/{id}", Admin, tax_rates::delete).versioned(),
    ]
}
