//! Questions: what they are made of, how they change, and the types they can have.

use chrono::TimeDelta;
use platform::{error::Code, idempotency};
use prost_types::FieldMask;
use proto::{
    catalog::v1 as wire,
    common::v1::{Filter, ListRequest, Operator, Sort},
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tonic::Status;

use crate::harness::{Catalog, admin, invalid, keyed, new_product, new_question, refusal};

fn update(id: &str, paths: &[&str]) -> wire::UpdateQuestionRequest {
    wire::UpdateQuestionRequest {
        id: id.into(),
        update_mask: Some(FieldMask {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        }),
        ..Default::default()
    }
}

async fn get(catalog: &mut Catalog, id: &str) -> Result<wire::Question, Status> {
    let request = wire::GetQuestionRequest { id: id.into() };
    let answer = catalog.questions.get_question(admin(request)).await?;
    Ok(answer.into_inner().question.unwrap())
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_question_says_what_an_answer_looks_like(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let request = wire::CreateQuestionRequest {
        description: Some("Pick some".into()),
        type_code: "multiple".into(),
        configurations: Some(r#"{"values": ["red", "blue"], "n": 1e400}"#.into()),
        required: true,
        custom_data: Some(r#"{"n": 1.10}"#.into()),
        ..new_question("Colors?")
    };
    let question = catalog.question(request).await;
    insta::assert_debug_snapshot!(question, @r#"
    Question {
        id: "018bcfe5-6800-710a-adec-89025cc10000",
        title: "Colors?",
        description: Some(
            "Pick some",
        ),
        type_code: "multiple",
        product_type_code: "physical",
        required: true,
        configurations: "{\"values\": [\"red\", \"blue\"], \"n\": 1e400}",
        json_schema: "{\"items\":{\"enum\":[\"red\",\"blue\"],\"type\":\"string\"},\"minItems\":1,\"type\":\"array\",\"uniqueItems\":true}",
        custom_data: "{\"n\": 1.10}",
        metadata: "{}",
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
    }
    "#);
    assert_eq!(get(&mut catalog, &question.id).await.unwrap(), question);
    for (kind, schema) in [
        ("text", r#"{"type":"string"}"#),
        ("date", r#"{"format":"date","type":"string"}"#),
        ("time", r#"{"format":"time","type":"string"}"#),
        ("single", r#"{"enum":["a"],"type":"string"}"#),
    ] {
        let choices = (kind == "single").then(|| r#"{"values":["a"]}"#.to_owned());
        let request = wire::CreateQuestionRequest {
            type_code: kind.into(),
            configurations: choices,
            ..new_question("?")
        };
        assert_eq!(catalog.question(request).await.json_schema, schema);
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn what_is_wrong_is_named(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let with = |change: fn(&mut wire::CreateQuestionRequest)| {
        let mut request = new_question("?");
        change(&mut request);
        request
    };
    for (request, field, code) in [
        (with(|q| q.title.clear()), "title", "required"),
        (with(|q| q.title = "x".repeat(256)), "title", "length"),
        (with(|q| q.type_code = "number".into()), "typeCode", "enum"),
        (
            with(|q| q.product_type_code = "shoe".into()),
            "productTypeCode",
            "enum",
        ),
        (
            with(|q| q.type_code = "single".into()),
            "configurations",
            "required",
        ),
        (
            with(|q| q.configurations = Some(r#"{"values":["a"]}"#.into())),
            "configurations",
            "enum",
        ),
        (
            with(|q| q.configurations = Some("[]".into())),
            "configurations",
            "type",
        ),
        (
            with(|q| q.custom_data = Some("1".into())),
            "customData",
            "type",
        ),
        (
            with(|q| q.description = Some("x".repeat(10_001))),
            "description",
            "length",
        ),
    ] {
        let refused = refusal(catalog.questions.create_question(admin(request)).await);
        assert_eq!(refused, invalid(field, code));
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn an_update_changes_what_it_names(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let request = wire::CreateQuestionRequest {
        type_code: "single".into(),
        configurations: Some(r#"{"values":["a"]}"#.into()),
        description: Some("d".into()),
        ..new_question("?")
    };
    let question = catalog.question(request).await;
    catalog.clock.advance(TimeDelta::seconds(1));
    let mut patch = async |request: wire::UpdateQuestionRequest| {
        let answer = catalog.questions.update_question(admin(request)).await?;
        Ok::<_, Status>(answer.into_inner().question.unwrap())
    };
    let same = patch(update(&question.id, &[])).await.unwrap();
    assert_eq!(same, question);

    let mut request = update(&question.id, &["title", "description", "required"]);
    request.title = Some("Which?".into());
    request.required = Some(true);
    let changed = patch(request).await.unwrap();
    let expected = wire::Question {
        title: "Which?".into(),
        description: None,
        required: true,
        updated_at: changed.updated_at,
        ..question.clone()
    };
    assert_eq!(changed, expected);
    assert_ne!(changed.updated_at, question.updated_at);

    // The choices do not fit another type, and go with it.
    let mut request = update(&question.id, &["type_code"]);
    request.type_code = Some("text".into());
    let refused = refusal(patch(request.clone()).await.map(tonic::Response::new));
    assert_eq!(refused, invalid("configurations", "enum"));
    request.configurations = Some("{}".into());
    request.update_mask = update("", &["type_code", "configurations"]).update_mask;
    let changed = patch(request).await.unwrap();
    assert_eq!(changed.json_schema, r#"{"type":"string"}"#);

    let refused = patch(update(&question.id, &["title"])).await;
    let refused = refusal(refused.map(tonic::Response::new));
    assert_eq!(refused, invalid("title", "type"));
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_question_that_is_asked_stays(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let category = catalog.category("Shoes").await;
    let product = catalog.product(new_product(&category)).await;
    let question = catalog.question(new_question("?")).await;
    catalog.link(&product.id, &question.id).await.unwrap();
    let delete = || {
        admin(wire::DeleteQuestionRequest {
            id: question.id.clone(),
        })
    };
    let refused = refusal(catalog.questions.delete_question(delete()).await);
    assert_eq!(refused.0, Code::QuestionInUse);

    // Deleted products ask nothing.
    let gone = wire::DeleteProductRequest { id: product.id };
    catalog.products.delete_product(admin(gone)).await.unwrap();
    get(&mut catalog, &question.id).await.unwrap();
    catalog.questions.delete_question(delete()).await.unwrap();
    let refused = refusal(catalog.questions.delete_question(delete()).await);
    assert_eq!(refused.0, Code::QuestionNotFound);
    let missing = get(&mut catalog, &question.id).await;
    let refused = refusal(missing.map(tonic::Response::new));
    assert_eq!(refused.0, Code::QuestionNotFound);
    let list = catalog
        .questions
        .list_questions(admin(Default::default()))
        .await
        .unwrap();
    assert_eq!(list.into_inner().page.unwrap().total, 0);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_key_has_one_effect(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    for replayed in [false, true] {
        let request = keyed(new_question("?"), "POST /questions", "aa");
        let created = catalog.questions.create_question(request).await.unwrap();
        assert_eq!(idempotency::is_replay(created.metadata()), replayed);
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn questions_are_filtered_and_sorted(pool: PgPoolOptions, server: PgConnectOptions) {
    use Operator::{Eq, Gte, Ilike, In, Nin};
    let mut catalog = Catalog::start(pool, server).await;
    for (title, kind, product) in [
        ("Age", "text", "service"),
        ("Birthday", "date", "digital"),
        ("Color", "text", "physical"),
    ] {
        let request = wire::CreateQuestionRequest {
            type_code: kind.into(),
            product_type_code: product.into(),
            ..new_question(title)
        };
        catalog.question(request).await;
    }
    for (field, operator, value, sort, expected) in [
        ("title", Eq, "o", "title", "Color"),
        ("title", Ilike, "%A%", "-title", "Birthday,Age"),
        ("typeCode", Eq, "text", "title", "Age,Color"),
        ("typeCode", Nin, "text", "title", "Birthday"),
        ("typeCode", In, "date", "title", "Birthday"),
        ("productTypeCode", Eq, "DIGI", "title", "Birthday"),
        (
            "createdAt",
            Gte,
            "2020-01-01",
            "typeCode,-title",
            "Birthday,Color,Age",
        ),
        (
            "createdAt",
            Gte,
            "2020-01-01",
            "createdAt",
            "Age,Birthday,Color",
        ),
    ] {
        let sort = sort.split(',').map(|key| Sort {
            field: key.trim_start_matches('-').into(),
            descending: key.starts_with('-'),
        });
        let list = ListRequest {
            filters: vec![Filter {
                field: field.into(),
                operator: operator.into(),
                values: vec![value.into()],
            }],
            sort: sort.collect(),
            ..ListRequest::default()
        };
        let request = wire::ListQuestionsRequest { list: Some(list) };
        let answer = catalog.questions.list_questions(admin(request)).await;
        let found = answer.unwrap().into_inner().questions;
        let titles: Vec<_> = found.into_iter().map(|question| question.title).collect();
        assert_eq!(titles.join(","), expected, "{field}={value}");
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn types_are_fixed(pool: PgPoolOptions, server: PgConnectOptions) {
    let mut catalog = Catalog::start(pool, server).await;
    let answer = catalog
        .questions
        .list_question_types(admin(Default::default()))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(answer.page.unwrap().total, 5);
    let codes: Vec<_> = answer.question_types.iter().map(|one| &*one.code).collect();
    assert_eq!(codes, ["date", "multiple", "single", "text", "time"]);
    for kind in &answer.question_types {
        let code = catalog_svc::question::QuestionKind::parse(&kind.code).unwrap();
        let schema = code.schema(&[], false).to_string();
        assert_eq!(kind.json_schema_template, schema);
        assert!(kind.created_at.is_some() && !kind.name.is_empty());
    }
}
