//! `filter[search]` in every script: what is stored and what is searched are the same words.

use std::collections::BTreeSet;

use catalog_svc::words::{queries, vector, words};
use platform::error::Code;
use proptest::{
    prelude::any,
    strategy::{Strategy as _, ValueTree as _},
    test_runner::TestRunner,
};
use proto::{
    catalog::v1 as wire,
    common::v1::{ListRequest, Operator},
};
use sqlx::PgPool;

use crate::harness::{TestApp, filter, mask, new_product, rejection};

async fn found(app: &TestApp, words: &str) -> BTreeSet<String> {
    let list = ListRequest {
        page_size: Some(100),
        ..filter("search", Operator::Eq, &[words])
    };
    let request = wire::ListProductsRequest { list: Some(list) };
    let response = app.admin.products().list_products(request).await;
    let products = response.unwrap().into_inner().products;
    products.into_iter().map(|product| product.name).collect()
}

async fn named(app: &TestApp, category: &wire::Category, name: &str) -> wire::Product {
    let request = wire::CreateProductRequest {
        name: Some(name.into()),
        ..new_product(category)
    };
    app.product(request).await
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_product_is_found_by_its_own_name_and_no_other(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Things").await;
    let names = [
        "ガイドブック",
        "カイトフック",
        "أحمر",
        "سؤال",
        "سوال",
        "हिन्दी",
        "हनद",
        "किताब",
        "कतब",
        "ไทย",
        "éclair",
        "Straße",
        "한국어",
        "ελληνικά",
        "Ёлка",
        "中文",
        "தமிழ்",
        "မြန်မာ",
        "ትግርኛ",
    ];
    for name in names {
        named(&app, &category, name).await;
    }
    for name in names {
        assert_eq!(found(&app, name).await, [name.to_owned()].into(), "{name}");
    }
    for (other_form, name) in [
        ("ガイドブック", "ガイドブック"),
        ("ｶﾞｲﾄﾞﾌﾞｯｸ", "ガイドブック"),
        ("أَحْمَر", "أحمر"),
        ("ECLAIR", "éclair"),
        ("STRASSE", "Straße"),
        ("ΕΛΛΗΝΙΚΆ", "ελληνικά"),
        ("हिन्", "हिन्दी"),
    ] {
        let found = found(&app, other_form).await;
        assert_eq!(found, [name.to_owned()].into(), "{other_form}");
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn every_text_of_a_product_is_found_after_a_change(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("ガイド").await;
    let product = named(&app, &category, "किताब").await;
    let update = wire::UpdateProductRequest {
        id: product.id,
        name: Some("سؤال".into()),
        description: Some("a ไทย text".into()),
        update_mask: Some(mask(&["name", "description"])),
        ..Default::default()
    };
    let updated = app.admin.products().update_product(update).await;
    updated.unwrap();
    for (words, expected) in [
        ("سؤال", true),
        ("ไทย", true),
        ("ガイ", true),
        ("सؤال किताब", false),
        ("किताब", false),
    ] {
        assert_eq!(!found(&app, words).await.is_empty(), expected, "{words}");
    }
}

/// The longest texts the contract allows, of the letters that grow most.
#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn the_longest_texts_are_stored_and_found(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Things").await;
    for (name, description) in [
        ("語".repeat(255), "語".repeat(10_000)),
        ("ﷺ".repeat(255), "ﷺ".repeat(10_000)),
        ("\u{1F600}".repeat(255), "a\u{1F600}".repeat(5_000)),
        (
            "\u{10FFFF}".repeat(255),
            "\u{2_0000} \u{2_0001}".repeat(2_500),
        ),
    ] {
        let request = wire::CreateProductRequest {
            name: Some(name.clone()),
            description: Some(description),
            ..new_product(&category)
        };
        app.product(request).await;
    }
    assert_eq!(found(&app, &"語".repeat(255)).await.len(), 1);
    assert_eq!(found(&app, "صلى الله").await.len(), 1);
    assert_eq!(found(&app, "\u{2_0001}").await.len(), 1);
    let list = Some(filter("search", Operator::Eq, &[&"\u{1F600}".repeat(255)]));
    let request = wire::ListProductsRequest { list };
    let rejected = rejection(app.admin.products().list_products(request).await);
    assert_eq!(rejected.code, Code::InvalidQuery);
}

/// Texts with every character that is assigned, and random ones.
fn texts() -> Vec<String> {
    let characters = ('\u{1}'..='\u{3FFFF}').chain('\u{E0000}'..='\u{E01FF}');
    let characters: Vec<char> = characters.collect();
    let mut texts: Vec<_> = characters
        .chunks(16)
        .map(|chunk| {
            let parts = chunk.iter().map(|one| format!("x{one}y {one} {one}a"));
            parts.collect::<Vec<_>>().join(" ")
        })
        .collect();
    let mut random = TestRunner::deterministic();
    for _ in 0..2_000 {
        texts.push(any::<String>().new_tree(&mut random).unwrap().current());
    }
    texts
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn postgres_keeps_the_words_of_every_text(pool: PgPool) {
    for texts in texts().chunks(1_000) {
        let found: Vec<BTreeSet<String>> = texts
            .iter()
            .map(|text| words(text).into_iter().collect())
            .collect();
        let vectors: Vec<_> = texts.iter().map(|text| vector([text.as_str()])).collect();
        let searches: Vec<_> = texts
            .iter()
            .map(|text| queries(&words(text)).join(" & "))
            .collect();
        let rows: Vec<(String, bool)> = sqlx::query_as(
            "select array_to_string(tsvector_to_array(vector), ' '),
                    vector @@ search or search = ''
             from unnest($1::text[]::tsvector[], $2::text[]::tsquery[]) with ordinality
                 as texts (vector, search, n)
             order by n",
        )
        .bind(&vectors)
        .bind(&searches)
        .fetch_all(&pool)
        .await
        .unwrap();
        assert_eq!(rows.len(), texts.len());
        for ((text, expected), (lexemes, matches)) in texts.iter().zip(found).zip(rows) {
            let lexemes: BTreeSet<_> = lexemes.split_whitespace().map(str::to_owned).collect();
            assert_eq!(lexemes, expected, "{text:?}");
            assert!(matches, "{text:?}");
        }
    }
}
