//! Many products at once, in and out.

use futures::StreamExt as _;
use platform::{
    error::{Code, Failure},
    idempotency,
};
use proto::catalog::v1 as wire;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tonic::{Response, Status};

use crate::harness::{Catalog, admin, invalid, keyed, new_product, refusal, user};

const UNKNOWN: &str = "0192abcd-0000-7000-8000-00000000000f";

/// Lines that each make this of a product.
fn lines(
    category: &wire::Category,
    changes: &[fn(&mut wire::CreateProductRequest)],
) -> Vec<wire::ImportLine> {
    let line = |(line, change): (u32, &fn(&mut wire::CreateProductRequest))| {
        let mut product = new_product(category);
        change(&mut product);
        wire::ImportLine {
            line,
            product: Some(product),
        }
    };
    (0..).zip(changes).map(line).collect()
}

async fn import(
    catalog: &mut Catalog,
    lines: Vec<wire::ImportLine>,
    partial: bool,
) -> Result<Response<wire::ImportProductsResponse>, Status> {
    let request = wire::ImportProductsRequest {
        lines,
        partial,
        incomplete: false,
    };
    catalog.products.import_products(admin(request)).await
}

async fn export(catalog: &mut Catalog) -> Vec<wire::Product> {
    let request = wire::ExportProductsRequest {};
    let answer = catalog.products.export_products(admin(request)).await;
    let pages = answer.unwrap().into_inner();
    let pages: Vec<_> = pages.map(|page| page.unwrap().products).collect().await;
    pages.concat()
}

/// Everything that can be wrong with a line, at the odd ones.
const MIXED: [fn(&mut wire::CreateProductRequest); 12] = [
    |_| {},
    |product| product.price = "1.005".into(),
    |product| product.order = Some("7.5".into()),
    |product| product.category_id = UNKNOWN.into(),
    |product| product.asset_code = Some("BTC".into()),
    |product| product.tax_rate_id = Some(UNKNOWN.into()),
    |_| {},
    |product| product.asset_code = Some("nope".into()),
    |product| product.bonus = Some("1".into()),
    |product| product.asset_code = Some("old".into()),
    |_| {},
    |product| {
        product.price = "-1".into();
        product.image = Some("javascript:alert(1)".into());
    },
];

const FAULTS: [(u32, &str, &str); 7] = [
    (1, "price", "precision"),
    (3, "categoryId", "unknown_reference"),
    (5, "taxRateId", "unknown_reference"),
    (7, "assetCode", "unknown_reference"),
    (9, "assetCode", "asset_disabled"),
    (11, "price", "format"),
    (11, "image", "format"),
];

fn assert_faults(errors: &[wire::ImportError]) {
    let found = errors
        .iter()
        .map(|error| (error.line, &*error.field, &*error.code));
    assert_eq!(found.collect::<Vec<_>>(), FAULTS);
    assert!(errors.iter().all(|error| !error.message.is_empty()));
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn one_bad_line_refuses_all(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let category = catalog.category("Shoes").await;
    let answer = import(&mut catalog, lines(&category, &MIXED), false).await;
    let answer = answer.unwrap().into_inner();
    assert_faults(&answer.errors);
    assert_eq!(answer.products, []);
    assert_eq!(export(&mut catalog).await, []);

    // The caller has refused another line.
    let request = wire::ImportProductsRequest {
        lines: lines(&category, &[|_| {}]),
        partial: false,
        incomplete: true,
    };
    let answer = catalog.products.import_products(admin(request)).await;
    assert_eq!(
        answer.unwrap().into_inner(),
        wire::ImportProductsResponse::default()
    );
    assert_eq!(export(&mut catalog).await, []);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_partial_import_makes_what_it_can(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let category = catalog.category("Shoes").await;
    let first = catalog.product(new_product(&category)).await;
    let answer = import(&mut catalog, lines(&category, &MIXED), true).await;
    let answer = answer.unwrap().into_inner();
    assert_faults(&answer.errors);
    let made: Vec<_> = answer.products.iter().map(|made| made.line).collect();
    assert_eq!(made, [0, 2, 4, 6, 8, 10]);
    let exported = export(&mut catalog).await;
    assert_eq!(exported[0], first);
    let ids = exported[1..].iter().map(|product| &product.id);
    assert!(ids.eq(answer.products.iter().map(|made| &made.id)));
    let orders: Vec<_> = exported.iter().map(|product| &*product.order).collect();
    assert_eq!(orders, ["1", "2", "7.5", "8", "9", "10", "11"]);
    assert_eq!(exported[3].asset_code, "btc");
    assert_eq!(exported[5].bonus, "1.00000000");

    // A product that was imported is like any other.
    let id = &answer.products[1].id;
    let read = catalog.get_product(id).await.unwrap();
    assert_eq!(read, exported[2]);
    let created = [("ProductCreated".to_owned(), 1)];
    assert_eq!(catalog.events(id).await, created);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn ten_thousand_products_go_in_and_come_out(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let category = catalog.category("Shoes").await;
    let tax_rate = catalog.tax_rate("20").await;
    let line = |line: u32| wire::ImportLine {
        line,
        product: Some(wire::CreateProductRequest {
            name: Some(format!("Shoe {line}")),
            tax_rate_id: Some(tax_rate.id.clone()),
            ..new_product(&category)
        }),
    };
    let mut request = admin(wire::ImportProductsRequest {
        lines: (0..10_000).map(line).collect(),
        partial: false,
        incomplete: false,
    });
    request.set_timeout(std::time::Duration::from_mins(1));
    let answer = catalog.products.import_products(request).await.unwrap();
    assert_eq!(answer.get_ref().products.len(), 10_000);
    let exported = export(&mut catalog).await;
    let names = exported.iter().map(|product| product.name.clone());
    assert!(names.eq((0..10_000).map(|line| format!("Shoe {line}"))));
    assert!(
        exported
            .iter()
            .all(|product| product.tax_amount == "2.00000000")
    );

    let refused = import(
        &mut catalog,
        vec![wire::ImportLine::default(); 10_001],
        true,
    )
    .await;
    assert_eq!(refusal(refused), invalid("lines", "length"));
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_key_has_one_effect(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let category = catalog.category("Shoes").await;
    let request = |changes: &[fn(&mut wire::CreateProductRequest)]| {
        let request = wire::ImportProductsRequest {
            lines: lines(&category, changes),
            partial: false,
            incomplete: false,
        };
        keyed(request, "POST /products/import", "aa")
    };
    // What has no effect is not recorded.
    let refused = catalog.products.import_products(request(&MIXED)).await;
    assert!(!refused.unwrap().into_inner().errors.is_empty());
    for replayed in [false, true] {
        let answer = catalog.products.import_products(request(&MIXED[..1])).await;
        let answer = answer.unwrap();
        assert_eq!(idempotency::is_replay(answer.metadata()), replayed);
        assert_eq!(answer.get_ref().products.len(), 1);
    }
    assert_eq!(export(&mut catalog).await.len(), 1);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn bulk_is_for_admins_and_needs_assets(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let refused = catalog
        .products
        .import_products(user(Default::default()))
        .await;
    assert_eq!(refusal(refused).0, Code::Forbidden);
    let refused = catalog
        .products
        .export_products(user(Default::default()))
        .await;
    assert_eq!(
        Failure::from_status(&refused.unwrap_err()).code,
        Code::Forbidden
    );
    let category = catalog.category("Shoes").await;
    catalog.wallet.go_away();
    let refused = import(&mut catalog, lines(&category, &[|_| {}]), true).await;
    assert_eq!(refusal(refused).0, Code::Unavailable);
    assert_eq!(export(&mut catalog).await, []);
}
