//! Bodies of requests with defaults.

use prost_types::FieldMask;
use proto::{
    catalog::v1 as wire,
    common::v1::{Filter, ListRequest, Operator, Sort},
};
use tonic::Request;

pub(crate) fn empty<T: Default>() -> Request<T> {
    Request::new(T::default())
}

pub(crate) fn new_category(title: &str) -> wire::CreateCategoryRequest {
    wire::CreateCategoryRequest {
        title: title.into(),
        ..wire::CreateCategoryRequest::default()
    }
}

/// Returns a product of 10.00 usd.
pub(crate) fn new_product(category: &wire::Category) -> wire::CreateProductRequest {
    wire::CreateProductRequest {
        category_id: category.id.clone(),
        price: "10.00".into(),
        ..wire::CreateProductRequest::default()
    }
}

/// Returns a text question that need not be answered.
pub(crate) fn new_question(title: &str) -> wire::CreateQuestionRequest {
    wire::CreateQuestionRequest {
        title: title.into(),
        type_code: "text".into(),
        product_type_code: "physical".into(),
        ..wire::CreateQuestionRequest::default()
    }
}

pub(crate) fn mask(paths: &[&str]) -> FieldMask {
    FieldMask {
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
    }
}

pub(crate) fn filter(field: &str, operator: Operator, values: &[&str]) -> ListRequest {
    ListRequest {
        filters: vec![Filter {
            field: field.into(),
            operator: operator.into(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        }],
        ..ListRequest::default()
    }
}

/// Returns the keys of a sort like `-featured,order`.
pub(crate) fn sort(keys: &str) -> Vec<Sort> {
    let keys = keys.split(',').filter(|key| !key.is_empty());
    keys.map(|key| Sort {
        field: key.trim_start_matches('-').into(),
        descending: key.starts_with('-'),
    })
    .collect()
}
