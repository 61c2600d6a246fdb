//! Changes of only the version that a client has seen.

use futures::future::join_all;
use platform::{
    error::Code,
    grpc::precondition::{IF_VERSION, Versions},
};
use proto::catalog::v1 as wire;
use sqlx::PgPool;
use tonic::Request;

use crate::harness::{TestApp, mask, new_product, new_question, rejection};

/// Makes a request for these versions only.
fn only<T>(message: T, versions: &[i64]) -> Request<T> {
    let mut request = Request::new(message);
    let versions = Versions::new(versions.to_vec()).unwrap();
    request
        .metadata_mut()
        .insert(IF_VERSION, versions.metadata());
    request
}

fn rename(product: &wire::Product, name: &str) -> wire::UpdateProductRequest {
    wire::UpdateProductRequest {
        id: product.id.clone(),
        name: Some(name.to_owned()),
        update_mask: Some(mask(&["name"])),
        ..Default::default()
    }
}

async fn product(app: &TestApp) -> wire::Product {
    let category = app.category("Shoes").await;
    app.product(new_product(&category)).await
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn of_many_changes_of_one_version_one_succeeds(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let product = product(&app).await;
    let changes = (0..8).map(|number| {
        let request = only(
            rename(&product, &format!("name {number}")),
            &[product.version],
        );
        let mut products = app.admin.products();
        async move { products.update_product(request).await }
    });
    let (changed, refused): (Vec<_>, Vec<_>) =
        join_all(changes).await.into_iter().partition(Result::is_ok);
    assert_eq!(changed.len(), 1);
    for refusal in refused {
        assert_eq!(rejection(refusal).code, Code::PreconditionFailed);
    }
    let now = app.get_product(&product.id).await.unwrap();
    assert_eq!(now.version, product.version + 1);
    assert_eq!(app.event_types(&product.id).await.len(), 2);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn every_change_of_a_product_raises_its_version(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let product = product(&app).await;
    let mut products = app.admin.products();
    let reorder = wire::ReorderProductRequest {
        id: product.id.clone(),
        subsequent_id: None,
    };
    let other = app.product(new_product(&app.category("Hats").await)).await;
    products.reorder_product(reorder).await.unwrap();
    let moved = app.get_product(&product.id).await.unwrap();
    assert!(moved.version > product.version && moved.order > other.order);
    // So it is not deleted by one who has not seen that.
    let delete = || wire::DeleteProductRequest {
        id: product.id.clone(),
    };
    let refused = products
        .delete_product(only(delete(), &[product.version]))
        .await;
    assert_eq!(rejection(refused).code, Code::PreconditionFailed);
    // An empty change is compared, too.
    let nothing = wire::UpdateProductRequest {
        id: product.id.clone(),
        ..Default::default()
    };
    let refused = products
        .update_product(only(nothing.clone(), &[product.version]))
        .await;
    assert_eq!(rejection(refused).code, Code::PreconditionFailed);
    let versions = [product.version, moved.version];
    products
        .update_product(only(nothing, &versions))
        .await
        .unwrap();
    products
        .delete_product(only(delete(), &versions))
        .await
        .unwrap();
    let gone = products.delete_product(only(delete(), &versions)).await;
    assert_eq!(rejection(gone).code, Code::ProductNotFound);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn categories_and_tax_rates_are_compared_too(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (category, tax_rate) = (app.category("Shoes").await, app.tax_rate("20").await);
    let (mut categories, mut tax_rates) = (app.admin.categories(), app.admin.tax_rates());
    let title = |title: &str| wire::UpdateCategoryRequest {
        id: category.id.clone(),
        title: Some(title.to_owned()),
        update_mask: Some(mask(&["title"])),
        ..Default::default()
    };
    let name = |name: &str| wire::UpdateTaxRateRequest {
        id: tax_rate.id.clone(),
        name: Some(name.to_owned()),
        update_mask: Some(mask(&["name"])),
        ..Default::default()
    };
    for (stale, text) in [(false, "A"), (true, "B")] {
        let one = categories.update_category(only(title(text), &[1])).await;
        let other = tax_rates.update_tax_rate(only(name(text), &[1])).await;
        assert_eq!((one.is_err(), other.is_err()), (stale, stale));
        if stale {
            assert_eq!(rejection(one).code, Code::PreconditionFailed);
            assert_eq!(rejection(other).code, Code::PreconditionFailed);
        }
    }
    let id = category.id.clone();
    let one = categories
        .delete_category(only(wire::DeleteCategoryRequest { id }, &[1]))
        .await;
    let id = tax_rate.id.clone();
    let other = tax_rates
        .delete_tax_rate(only(wire::DeleteTaxRateRequest { id }, &[1]))
        .await;
    assert_eq!(rejection(one).code, Code::PreconditionFailed);
    assert_eq!(rejection(other).code, Code::PreconditionFailed);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn of_many_changes_of_a_question_for_one_version_one_succeeds(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let question = app.question(new_question("Color?")).await;
    let version = |question: &wire::Question| {
        let time = question.updated_at.expect("a time");
        time.seconds * 1_000 + i64::from(time.nanos) / 1_000_000
    };
    // The clock stands still; each change has a time of its own nevertheless.
    let read = version(&question);
    let changes = (0..8).map(|number| {
        let update = wire::UpdateQuestionRequest {
            id: question.id.clone(),
            title: Some(format!("Color {number}?")),
            update_mask: Some(mask(&["title"])),
            ..Default::default()
        };
        let mut questions = app.admin.questions();
        async move { questions.update_question(only(update, &[read])).await }
    });
    let (changed, refused): (Vec<_>, Vec<_>) =
        join_all(changes).await.into_iter().partition(Result::is_ok);
    for refusal in refused {
        assert_eq!(rejection(refusal).code, Code::PreconditionFailed);
    }
    let [Ok(changed)] = &changed[..] else {
        panic!("{changed:?}")
    };
    let changed = changed.get_ref().question.as_ref().unwrap();
    let delete = || wire::DeleteQuestionRequest {
        id: question.id.clone(),
    };
    let mut questions = app.admin.questions();
    let refused = questions.delete_question(only(delete(), &[read])).await;
    assert_eq!(rejection(refused).code, Code::PreconditionFailed);
    let current = only(delete(), &[version(changed)]);
    questions.delete_question(current).await.unwrap();
}
