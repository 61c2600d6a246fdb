//! Quotes: a cart in one call.

use proto::catalog::v1 as wire;
use sqlx::PgPool;

use crate::harness::{TestApp, UNKNOWN, invalid, mask, new_product, new_question, rejection};

fn cart(ids: &[&str]) -> wire::QuoteRequest {
    let lines = ids.iter().map(|id| wire::QuoteRequestLine {
        product_id: (*id).to_owned(),
        quantity: 1,
        answers: None,
    });
    wire::QuoteRequest {
        lines: lines.collect(),
    }
}

async fn quote(app: &TestApp, ids: &[&str]) -> Vec<wire::QuoteLine> {
    let response = app.service.quotes().quote(cart(ids)).await.unwrap();
    response.into_inner().lines
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_line_has_what_an_order_stores(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (category, tax_rate) = (app.category("Shoes").await, app.tax_rate("10.75").await);
    let request = wire::CreateProductRequest {
        name: Some("Red shoe".into()),
        tax_rate_id: Some(tax_rate.id),
        price: "24.99".into(),
        bonus: Some("1.50".into()),
        image: Some("red.png".into()),
        visible: Some(false),
        ..new_product(&category)
    };
    let product = app.product(request).await;
    let lines = quote(&app, &[&product.id]).await;
    insta::assert_debug_snapshot!(lines, @r#"
    [
        QuoteLine {
            product: Some(
                ProductSnapshot {
                    id: "018bcfe5-6804-71bb-94d8-d101b5b90000",
                    name: "Red shoe",
                    description: None,
                    type_code: "digital",
                    image_url: Some(
                        "https://media.test/red.png",
                    ),
                    thumbnail_url: None,
                    custom_data: "{}",
                    metadata: "{}",
                    category: Some(
                        CategorySnapshot {
                            id: "018bcfe5-6800-710a-adec-89025cc10000",
                            title: "Shoes",
                            description: None,
                            image_url: None,
                            custom_data: "{}",
                            created_at: Some(
                                Timestamp {
                                    seconds: 1769853600,
                                    nanos: 0,
                                },
                            ),
                            updated_at: Some(
                                Timestamp {
                                    seconds: 1769853600,
                                    nanos: 0,
                                },
                            ),
                        },
                    ),
                },
            ),
            asset_code: "usd",
            asset_decimal_places: 2,
            unit_price: "24.99000000",
            tax_rate: Some(
                "10.75000000",
            ),
            unit_tax: "2.69000000",
            unit_bonus: "1.50000000",
            available: true,
            allow_choosing_quantity: false,
            requires_identity: false,
            visible: Some(
                false,
            ),
            answer_errors: [],
        },
    ]
    "#);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn lines_keep_their_order_and_unknown_products_are_empty(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let kept = app.product(new_product(&category)).await;
    let mut request = new_product(&category);
    request.available = Some(false);
    let unavailable = app.product(request).await;
    let deleted = app.product(new_product(&category)).await;
    let delete = wire::DeleteProductRequest {
        id: deleted.id.clone(),
    };
    app.admin.products().delete_product(delete).await.unwrap();

    let asked = [
        kept.id.as_str(),
        UNKNOWN,
        "x",
        &deleted.id,
        &unavailable.id,
        &kept.id,
    ];
    let lines = quote(&app, &asked).await;
    let known: Vec<_> = lines.iter().map(|line| line.product.is_some()).collect();
    assert_eq!(known, [true, false, false, false, true, true]);
    assert!(lines[0].available && !lines[4].available && lines[0] == lines[5]);
    assert_eq!(lines[1], wire::QuoteLine::default());
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_quote_has_current_prices_without_wallet_svc(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let product = app.product(new_product(&category)).await;
    assert_eq!(
        quote(&app, &[&product.id]).await[0].unit_price,
        "10.00000000"
    );
    let update = wire::UpdateProductRequest {
        id: product.id.clone(),
        price: Some("15".into()),
        update_mask: Some(mask(&["price"])),
        ..Default::default()
    };
    app.admin.products().update_product(update).await.unwrap();
    app.wallet.set_available(false);
    assert_eq!(
        quote(&app, &[&product.id]).await[0].unit_price,
        "15.00000000"
    );
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_cart_has_1_to_200_lines(pool: PgPool) {
    let app = TestApp::new(pool).await;
    for count in [0, 201] {
        let rejected = rejection(app.service.quotes().quote(cart(&vec!["x"; count])).await);
        assert_eq!(rejected, invalid("lines", "length"));
    }
    assert_eq!(quote(&app, &["x"; 200]).await.len(), 200);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn answers_are_checked_against_the_products_questions(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let product = app.product(new_product(&category)).await;
    let color = app
        .question(wire::CreateQuestionRequest {
            type_code: "multiple".into(),
            configurations: Some(r#"{"values":["red","blue"]}"#.into()),
            required: true,
            ..new_question("Color?")
        })
        .await;
    let note = app.question(new_question("Note?")).await;
    for question in [&color, &note] {
        app.link(&product.id, &question.id).await.unwrap();
    }
    let (color, note) = (color.id.as_str(), note.id.as_str());
    let at = |choice: &str| format!("{color}{choice}");
    for (answers, errors) in [
        (Some(format!(r#"{{"{color}":["red"]}}"#)), vec![]),
        (
            Some(format!(r#"{{"{color}":["blue","red"],"{note}":"x"}}"#)),
            vec![],
        ),
        (None, vec![(at(""), "required")]),
        (Some("{}".into()), vec![(at(""), "required")]),
        (
            Some(format!(r#"{{"{color}":["red","green"]}}"#)),
            vec![(at("[1]"), "enum")],
        ),
        (
            Some(format!(r#"{{"{note}":1}}"#)),
            vec![(note.to_owned(), "type"), (at(""), "required")],
        ),
    ] {
        let mut request = cart(&[&product.id]);
        request.lines[0].answers = answers.clone();
        let response = app.service.quotes().quote(request).await.unwrap();
        let found = &response.get_ref().lines[0].answer_errors;
        let found = found.iter().map(|error| (&error.path, error.code.as_str()));
        let expected = errors.iter().map(|(path, code)| (path, *code));
        assert!(found.eq(expected), "{answers:?}: {response:?}");
    }
}
