//! Products, questions, categories and tax rates.

use proto::lists::catalog;

use super::route::{Route, delete, get, patch, post};
use crate::{
    access::Access::{Admin, User},
    resources::{categories, dto::Reorder, product_questions, products, questions, tax_rates},
};

/// Their routes.
pub(super) fn routes() -> Vec<Route> {
    let mut routes = product_routes();
    routes.extend(question_routes());
    routes.extend(filing());
    routes
}

fn product_routes() -> Vec<Route> {
    use products as p;
    vec![
        get("/products", User, "List products", p::list).page::<p::Product>(&catalog::PRODUCTS),
        post(
            "/products/import",
            Admin,
            "Create many products: all, or with `mode=partial` those that can be",
            p::import,
        )
        .takes_many::<p::NewProduct>()
        .one::<p::Import>(),
        get(
            "/products/export",
            Admin,
            "Read all products, a line each",
            p::export,
        )
        .lines::<p::Product>(),
        get("/products/{id}", User, "Read a product", p::get).one::<p::Product>(),
        post("/products", Admin, "Create a product", p::create)
            .takes::<p::NewProduct>()
            .creates::<p::Product>(),
        patch("/products/{id}", Admin, "Change a product", p::update)
            .takes::<p::ProductPatch>()
            .one::<p::Product>(),
        delete("/products/{id}", Admin, "Delete a product", p::delete),
        post(
            "/products/{id}/reorder",
            Admin,
            "Put a product right before another, or last",
            p::reorder,
        )
        .takes::<Reorder>()
        .nothing(),
    ]
}

fn question_routes() -> Vec<Route> {
    use {product_questions as l, questions as q};
    vec![
        post(
            "/products/{id}/questions",
            Admin,
            "Make a product ask a question",
            l::create,
        )
        .takes::<l::NewProductQuestion>()
        .creates::<l::ProductQuestion>(),
        delete(
            "/products/{productId}/questions/{id}",
            Admin,
            "Make a product ask a question no more",
            l::delete,
        ),
        post(
            "/products/{productId}/questions/{id}/reorder",
            Admin,
            "Put a question right before another of its product, or last",
            l::reorder,
        )
        .takes::<Reorder>()
        .nothing(),
        get("/questions", User, "List questions", q::list).page::<q::Question>(&catalog::QUESTIONS),
        get("/questions/{id}", User, "Read a question", q::get).one::<q::Question>(),
        post("/questions", Admin, "Create a question", q::create)
            .takes::<q::NewQuestion>()
            .creates::<q::Question>(),
        patch("/questions/{id}", Admin, "Change a question", q::update)
            .takes::<q::QuestionPatch>()
            .one::<q::Question>(),
        delete("/questions/{id}", Admin, "Delete a question", q::delete),
        get(
            "/question-types",
            User,
            "List the types of questions",
            q::list_types,
        )
        .page::<q::QuestionType>(&catalog::QUESTION_TYPES),
    ]
}

fn filing() -> Vec<Route> {
    use {categories as c, tax_rates as t};
    vec![
        get("/categories", User, "List categories", c::list)
            .page::<c::Category>(&catalog::CATEGORIES),
        get("/categories/{id}", User, "Read a category", c::get).one::<c::Category>(),
        post("/categories", Admin, "Create a category", c::create)
            .takes::<c::NewCategory>()
            .creates::<c::Category>(),
        patch("/categories/{id}", Admin, "Change a category", c::update)
            .takes::<c::CategoryPatch>()
            .one::<c::Category>(),
        delete("/categories/{id}", Admin, "Delete a category", c::delete),
        post(
            "/categories/{id}/reorder",
            Admin,
            "Put a category right before another, or last",
            c::reorder,
        )
        .takes::<Reorder>()
        .nothing(),
        get("/tax-rates", User, "List tax rates", t::list).page::<t::TaxRate>(&catalog::TAX_RATES),
        get("/tax-rates/{id}", User, "Read a tax rate", t::get).one::<t::TaxRate>(),
        post("/tax-rates", Admin, "Create a tax rate", t::create)
            .takes::<t::NewTaxRate>()
            .creates::<t::TaxRate>(),
        patch("/tax-rates/{id}", Admin, "Change a tax rate", t::update)
            .takes::<t::TaxRatePatch>()
            .one::<t::TaxRate>(),
        delete("/tax-rates/{id}", Admin, "Delete a tax rate", t::delete),
    ]
}
