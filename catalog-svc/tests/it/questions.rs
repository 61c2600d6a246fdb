//! Questions: bodies, rejections, deletions, lists and types.

use platform::{error::Code, idempotency};
use proto::{
    catalog::v1 as wire,
    common::v1::{ListRequest, Operator},
};
use sqlx::PgPool;
use tonic::Status;

use crate::harness::{
    TestApp, empty, filter, invalid, keyed, new_product, new_question, rejection, sort,
};

async fn get(app: &TestApp, id: &str) -> Result<wire::Question, Status> {
    let request = wire::GetQuestionRequest { id: id.into() };
    let response = app.admin.questions().get_question(request).await?;
    Ok(response.into_inner().question.unwrap())
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_question_has_the_schema_of_its_answers(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let request = wire::CreateQuestionRequest {
        description: Some("Pick some".into()),
        type_code: "multiple".into(),
        configurations: Some(r#"{"values": ["red", "blue"], "n": 1e400}"#.into()),
        required: true,
        custom_data: Some(r#"{"n": 1.10}"#.into()),
        ..new_question("Colors?")
    };
    let question = app.question(request).await;
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
    assert_eq!(get(&app, &question.id).await.unwrap(), question);
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
        assert_eq!(app.question(request).await.json_schema, schema);
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn invalid_fields_are_named(pool: PgPool) {
    let app = TestApp::new(pool).await;
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
            with(|q| {
                q.type_code = "multiple".into();
                q.configurations = Some(r#"{"values":["a",1]}"#.into());
            }),
            "configurations",
            "type",
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
        let rejected = rejection(app.admin.questions().create_question(request).await);
        assert_eq!(rejected, invalid(field, code));
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn an_attached_question_cannot_be_deleted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let category = app.category("Shoes").await;
    let product = app.product(new_product(&category)).await;
    let question = app.question(new_question("?")).await;
    app.link(&product.id, &question.id).await.unwrap();
    let delete = || wire::DeleteQuestionRequest {
        id: question.id.clone(),
    };
    let rejected = rejection(app.admin.questions().delete_question(delete()).await);
    assert_eq!(rejected.code, Code::QuestionInUse);

    // A deleted product does not count.
    let gone = wire::DeleteProductRequest { id: product.id };
    app.admin.products().delete_product(gone).await.unwrap();
    get(&app, &question.id).await.unwrap();
    app.admin
        .questions()
        .delete_question(delete())
        .await
        .unwrap();
    let rejected = rejection(app.admin.questions().delete_question(delete()).await);
    assert_eq!(rejected.code, Code::QuestionNotFound);
    let missing = get(&app, &question.id).await;
    let rejected = rejection(missing);
    assert_eq!(rejected.code, Code::QuestionNotFound);
    let list = app.admin.questions().list_questions(empty()).await.unwrap();
    assert_eq!(list.into_inner().page.unwrap().total, 0);
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_repeated_create_replays_its_response(pool: PgPool) {
    let app = TestApp::new(pool).await;
    for replayed in [false, true] {
        let request = keyed(new_question("?"), "POST /questions", "aa");
        let created = app
            .admin
            .questions()
            .create_question(request)
            .await
            .unwrap();
        assert_eq!(idempotency::is_replay(created.metadata()), replayed);
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn questions_are_filtered_and_sorted(pool: PgPool) {
    use Operator::{Eq, Gte, Ilike, In, Nin};
    let app = TestApp::new(pool).await;
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
        app.question(request).await;
    }
    for (field, operator, value, keys, expected) in [
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
        let list = ListRequest {
            sort: sort(keys),
            ..filter(field, operator, &[value])
        };
        let request = wire::ListQuestionsRequest { list: Some(list) };
        let response = app.admin.questions().list_questions(request).await;
        let found = response.unwrap().into_inner().questions;
        let titles: Vec<_> = found.into_iter().map(|question| question.title).collect();
        assert_eq!(titles.join(","), expected, "{field}={value}");
    }
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn the_question_types_are_fixed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let response = app
        .admin
        .questions()
        .list_question_types(empty())
        .await
        .unwrap()
        .into_inner();
    assert_eq!(response.page.unwrap().total, 5);
    insta::assert_debug_snapshot!(response.question_types, @r#"
    [
        QuestionType {
            code: "date",
            name: "Date",
            json_schema_template: "{\"format\":\"date\",\"type\":\"string\"}",
            created_at: Some(
                Timestamp {
                    seconds: 1795824000,
                    nanos: 0,
                },
            ),
        },
        QuestionType {
            code: "multiple",
            name: "Multiple choice",
            json_schema_template: "{\"items\":{\"enum\":[],\"type\":\"string\"},\"type\":\"array\",\"uniqueItems\":true}",
            created_at: Some(
                Timestamp {
                    seconds: 1795824000,
                    nanos: 0,
                },
            ),
        },
        QuestionType {
            code: "single",
            name: "Single choice",
            json_schema_template: "{\"enum\":[],\"type\":\"string\"}",
            created_at: Some(
                Timestamp {
                    seconds: 1795824000,
                    nanos: 0,
                },
            ),
        },
        QuestionType {
            code: "text",
            name: "Text",
            json_schema_template: "{\"type\":\"string\"}",
            created_at: Some(
                Timestamp {
                    seconds: 1795824000,
                    nanos: 0,
                },
            ),
        },
        QuestionType {
            code: "time",
            name: "Time",
            json_schema_template: "{\"format\":\"time\",\"type\":\"string\"}",
            created_at: Some(
                Timestamp {
                    seconds: 1795824000,
                    nanos: 0,
                },
            ),
        },
    ]
    "#);
}
