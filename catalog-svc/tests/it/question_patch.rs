//! Updates of questions.

use chrono::TimeDelta;
use proto::catalog::v1 as wire;
use sqlx::PgPool;
use tonic::Status;

use crate::harness::{TestApp, invalid, mask, new_question, rejection};

fn update(id: &str, paths: &[&str]) -> wire::UpdateQuestionRequest {
    wire::UpdateQuestionRequest {
        id: id.into(),
        update_mask: Some(mask(paths)),
        ..Default::default()
    }
}

async fn patch(
    app: &TestApp,
    request: wire::UpdateQuestionRequest,
) -> Result<wire::Question, Status> {
    let response = app.admin.questions().update_question(request).await?;
    Ok(response.into_inner().question.unwrap())
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn a_patch_changes_the_fields_of_its_mask(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let request = wire::CreateQuestionRequest {
        type_code: "single".into(),
        configurations: Some(r#"{"values":["a"]}"#.into()),
        description: Some("d".into()),
        ..new_question("?")
    };
    let question = app.question(request).await;
    app.clock.advance(TimeDelta::seconds(1));
    let same = patch(&app, update(&question.id, &[])).await.unwrap();
    assert_eq!(same, question);

    let mut request = update(&question.id, &["title", "description", "required"]);
    request.title = Some("Which?".into());
    request.required = Some(true);
    let changed = patch(&app, request).await.unwrap();
    let expected = wire::Question {
        title: "Which?".into(),
        description: None,
        required: true,
        updated_at: changed.updated_at,
        ..question.clone()
    };
    assert_eq!(changed, expected);
    assert_ne!(changed.updated_at, question.updated_at);

    let rejected = patch(&app, update(&question.id, &["title"])).await;
    let rejected = rejection(rejected);
    assert_eq!(rejected, invalid("title", "required"));
}

#[sqlx::test(migrator = "catalog_svc::MIGRATOR")]
async fn values_are_kept_while_the_type_ignores_them(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let values = r#"{"values":["a"]}"#;
    let request = wire::CreateQuestionRequest {
        configurations: Some(values.into()),
        ..new_question("?")
    };
    let question = app.question(request).await;
    assert_eq!(question.json_schema, r#"{"type":"string"}"#);

    let kind = |kind: &str| {
        let mut request = update(&question.id, &["type_code"]);
        request.type_code = Some(kind.into());
        request
    };
    for (code, schema) in [
        ("single", r#"{"enum":["a"],"type":"string"}"#),
        ("date", r#"{"format":"date","type":"string"}"#),
        (
            "multiple",
            r#"{"items":{"enum":["a"],"type":"string"},"type":"array","uniqueItems":true}"#,
        ),
        ("text", r#"{"type":"string"}"#),
    ] {
        let changed = patch(&app, kind(code)).await.unwrap();
        assert_eq!(
            (
                changed.json_schema.as_str(),
                changed.configurations.as_str()
            ),
            (schema, values)
        );
    }

    // What no type with choices takes is refused when there are to be choices.
    for (configurations, code) in [("{}", "required"), (r#"{"values":7}"#, "type")] {
        let mut request = update(&question.id, &["configurations"]);
        request.configurations = Some(configurations.into());
        let changed = patch(&app, request).await.unwrap();
        assert_eq!(changed.configurations, configurations);
        let rejected = rejection(patch(&app, kind("single")).await);
        assert_eq!(rejected, invalid("configurations", code));
    }
}
