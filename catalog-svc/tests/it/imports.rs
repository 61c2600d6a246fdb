//! Imports and exports of products.

use futures::StreamExt as _;
use platform::{error::Code, idempotency};
use prost::Message as _;
use proto::catalog::v1 as wire;
use sqlx::PgPool;
use tonic::{Request, Response, Status};

use crate::harness::{TestApp, UNKNOWN, empty, invalid, keyed, new_product, rejection};

/// Returns a line for each change of a product.
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
    app: &TestApp,
    lines: Vec<wire::ImportLine>,
    partial: bool,
) -> Result<Response<wire::ImportProductsResponse>, Status> {
    let request = wire::ImportProductsRequest {
        lines,
        partial,
        incomplete: false,
    };
    app.admin.products().import_products(request).await
}

async fn export(app: &TestApp) -> Vec<wire::Product> {
    let request = wire::ExportProductsRequest {};
    let response = app.admin.products().export_products(request).await;
    let pages = response.unwrap().into_inner();
    let pages: Vec<_> = pages.map(|page| page.unwrap().products).collect().await;
    pages.concat()
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn an_export_ends_its_pages_by_their_bytes(pool: PgPool) {
    const MIB: usize = 1024 * 1024;
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let long: fn(&mut wire::CreateProductRequest) = |product| {
        product.description = Some("語".repeat(10_000));
        product.custom_data = Some(format!(r#"{{"a":"{}"}}"#, "x".repeat(16_000)));
    };
    let changes = [vec![long; 50], vec![|_| {}; 10]].concat();
    let imported = import(&app, lines(&category, &changes), false).await;
    let imported = imported.unwrap().into_inner().products;
    assert_eq!(imported.len(), 60);

    let request = wire::ExportProductsRequest {};
    let response = app.admin.products().export_products(request).await;
    let pages: Vec<_> = response.unwrap().into_inner().collect().await;
    let mut exported = Vec::new();
    for page in pages {
        let page = page.unwrap();
        // The texts, and what is short in each product.
        assert!(page.encoded_len() < MIB + 60 * 500);
        assert!(!page.products.is_empty());
        exported.extend(page.products.into_iter().map(|product| product.id));
    }
    assert_eq!(exported.len(), 60);
    assert!(exported.is_sorted());
}

/// Lines of which the odd ones are invalid, each in another way.
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
        product.image = Some("java\nscript:x".into());
    },
];

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn one_invalid_line_rejects_all(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let response = import(&app, lines(&category, &MIXED), false).await;
    let response = response.unwrap().into_inner();
    insta::assert_debug_snapshot!(response.errors, @r#"
    [
        ImportError {
            line: 1,
            field: "price",
            code: "precision",
            message: "must have at most 2 decimals",
        },
        ImportError {
            line: 3,
            field: "categoryId",
            code: "unknown_reference",
            message: "category not found",
        },
        ImportError {
            line: 5,
            field: "taxRateId",
            code: "unknown_reference",
            message: "tax rate not found",
        },
        ImportError {
            line: 7,
            field: "assetCode",
            code: "unknown_reference",
            message: "asset not found",
        },
        ImportError {
            line: 9,
            field: "assetCode",
            code: "asset_disabled",
            message: "asset old is disabled",
        },
        ImportError {
            line: 11,
            field: "price",
            code: "format",
            message: "must be a decimal like \"12.50\"",
        },
        ImportError {
            line: 11,
            field: "image",
            code: "format",
            message: "must not hold control characters",
        },
    ]
    "#);
    assert_eq!(response.products, []);
    assert_eq!(export(&app).await, []);

    // The caller has rejected another line.
    let request = wire::ImportProductsRequest {
        lines: lines(&category, &[|_| {}]),
        partial: false,
        incomplete: true,
    };
    let response = app.admin.products().import_products(request).await;
    assert_eq!(
        response.unwrap().into_inner(),
        wire::ImportProductsResponse::default()
    );
    assert_eq!(export(&app).await, []);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_partial_import_creates_the_valid_lines(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let first = app.product(new_product(&category)).await;
    let all_or_nothing = import(&app, lines(&category, &MIXED), false).await;
    let response = import(&app, lines(&category, &MIXED), true).await;
    let response = response.unwrap().into_inner();
    assert_eq!(response.errors, all_or_nothing.unwrap().into_inner().errors);
    let made: Vec<_> = response.products.iter().map(|made| made.line).collect();
    assert_eq!(made, [0, 2, 4, 6, 8, 10]);
    let exported = export(&app).await;
    assert_eq!(exported[0], first);
    let ids = exported[1..].iter().map(|product| &product.id);
    assert!(ids.eq(response.products.iter().map(|made| &made.id)));
    let orders: Vec<_> = exported.iter().map(|product| &*product.order).collect();
    assert_eq!(orders, ["1", "2", "7.5", "8", "9", "10", "11"]);
    assert_eq!(exported[3].asset_code, "btc");
    assert_eq!(exported[5].bonus, "1.00000000");

    // A product that was imported is like any other.
    let id = &response.products[1].id;
    let read = app.get_product(id).await.unwrap();
    assert_eq!(read, exported[2]);
    assert_eq!(app.event_types(id).await, ["ProductCreated"]);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn ten_thousand_products_are_imported_and_exported(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let tax_rate = app.tax_rate("20").await;
    let line = |line: u32| wire::ImportLine {
        line,
        product: Some(wire::CreateProductRequest {
            name: Some(format!("Shoe {line}")),
            tax_rate_id: Some(tax_rate.id.clone()),
            ..new_product(&category)
        }),
    };
    let mut request = Request::new(wire::ImportProductsRequest {
        lines: (0..10_000).map(line).collect(),
        partial: false,
        incomplete: false,
    });
    request.set_timeout(std::time::Duration::from_mins(1));
    let response = app.admin.products().import_products(request).await.unwrap();
    assert_eq!(response.get_ref().products.len(), 10_000);
    let exported = export(&app).await;
    let names = exported.iter().map(|product| product.name.clone());
    assert!(names.eq((0..10_000).map(|line| format!("Shoe {line}"))));
    assert!(
        exported
            .iter()
            .all(|product| product.tax_amount == "2.00000000")
    );

    let rejected = import(&app, vec![wire::ImportLine::default(); 10_001], true).await;
    assert_eq!(rejection(rejected), invalid("lines", "length"));
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_repeated_import_replays_its_response(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let request = |changes: &[fn(&mut wire::CreateProductRequest)]| {
        let request = wire::ImportProductsRequest {
            lines: lines(&category, changes),
            partial: false,
            incomplete: false,
        };
        keyed(request, "POST /products/import", "aa")
    };
    // What has no effect is not recorded.
    let rejected = app.admin.products().import_products(request(&MIXED)).await;
    assert!(!rejected.unwrap().into_inner().errors.is_empty());
    for replayed in [false, true] {
        let response = app
            .admin
            .products()
            .import_products(request(&MIXED[..1]))
            .await;
        let response = response.unwrap();
        assert_eq!(idempotency::is_replay(response.metadata()), replayed);
        assert_eq!(response.get_ref().products.len(), 1);
    }
    assert_eq!(export(&app).await.len(), 1);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn imports_and_exports_need_an_admin_and_imports_wallet_svc(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let rejected = app.user.products().import_products(empty()).await;
    assert_eq!(rejection(rejected).code, Code::Forbidden);
    let rejected = app.user.products().export_products(empty()).await;
    assert_eq!(rejection(rejected.map(drop)).code, Code::Forbidden);
    let category = app.category("Shoes").await;
    app.wallet.set_available(false);
    let rejected = import(&app, lines(&category, &[|_| {}]), true).await;
    assert_eq!(rejection(rejected).code, Code::Unavailable);
    assert_eq!(export(&app).await, []);
}
