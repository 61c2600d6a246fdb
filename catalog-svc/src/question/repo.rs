//! SQL of questions. Deleted rows are not seen.

use chrono::{DateTime, Utc};
use platform::{
    error::Failure,
    ids::Id,
    list::{Key, List, Page},
    pg::ensure_affected,
};
use proto::{
    common::v1::ListRequest,
    lists::catalog::{QUESTION_TYPES, QUESTIONS},
};
use sqlx::{FromRow, PgConnection, postgres::PgRow};

use super::{Configurations, Question, QuestionKind, QuestionType};
use crate::product::ProductType;

/// The row of a question.
#[derive(FromRow)]
pub(crate) struct QuestionRow {
    pub(crate) id: Id<Question>,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) type_code: QuestionKind,
    pub(crate) product_type_code: ProductType,
    pub(crate) required: bool,
    pub(crate) configurations: String,
    pub(crate) choices: Vec<String>,
    pub(crate) custom_data: String,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

impl FromRow<'_, PgRow> for Question {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        QuestionRow::from_row(row).map(Self::from)
    }
}

impl From<QuestionRow> for Question {
    fn from(row: QuestionRow) -> Self {
        Self {
            id: row.id,
            title: row.title,
            description: row.description,
            kind: row.type_code,
            product_kind: row.product_type_code,
            required: row.required,
            configurations: Configurations {
                json: row.configurations,
                choices: row.choices,
            },
            custom_data: row.custom_data,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

/// Inserts a new question.
pub(crate) async fn insert_in_tx(
    conn: &mut PgConnection,
    question: &Question,
) -> Result<(), sqlx::Error> {
    let inserted = sqlx::query!(
        "insert into catalog.questions
             (id, title, description, type_code, product_type_code, required, configurations,
              choices, custom_data, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        question.id as _,
        question.title,
        question.description,
        question.kind.as_str(),
        question.product_kind.as_str(),
        question.required,
        question.configurations.json,
        &question.configurations.choices,
        question.custom_data,
        question.created_at,
        question.updated_at,
    )
    .execute(conn)
    .await?;
    ensure_affected(inserted, 1)
}

/// Finds a question.
pub(crate) async fn find(
    conn: &mut PgConnection,
    id: Id<Question>,
) -> Result<Option<Question>, sqlx::Error> {
    let row = sqlx::query_as!(
        QuestionRow,
        "select id, title, description, type_code, product_type_code, required, configurations,
                choices, custom_data, created_at, updated_at
         from catalog.questions
         where id = $1 and deleted_at is null",
        id as _,
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(Question::from))
}

/// Finds the questions among these ids, in no order.
pub(crate) async fn find_all(
    conn: &mut PgConnection,
    ids: &[Id<Question>],
) -> Result<Vec<Question>, sqlx::Error> {
    let rows = sqlx::query_as!(
        QuestionRow,
        "select id, title, description, type_code, product_type_code, required, configurations,
                choices, custom_data, created_at, updated_at
         from catalog.questions
         where id = any($1) and deleted_at is null",
        ids as _,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Question::from).collect())
}

/// Lists the questions that the request asks for.
pub(crate) async fn list(
    conn: &mut PgConnection,
    request: &ListRequest,
) -> Result<Page<Question>, Failure> {
    List::new(&QUESTIONS, "catalog.questions q", Key::Id("q.id"))
        .select(
            "q.id, q.title, q.description, q.type_code, q.product_type_code, q.required,
             q.configurations, q.choices, q.custom_data, q.created_at, q.updated_at",
        )
        .only("q.deleted_at is null")
        .fetch(conn, request)
        .await
}

/// Lists the types of questions that the request asks for.
pub(crate) async fn list_types(
    conn: &mut PgConnection,
    request: &ListRequest,
) -> Result<Page<QuestionType>, Failure> {
    List::new(
        &QUESTION_TYPES,
        "catalog.question_types t",
        Key::Text("t.code"),
    )
    .select("t.code, t.name, t.json_schema_template, t.created_at")
    .fetch(conn, request)
    .await
}

/// Locks a question against every other change; false if there is none.
pub(crate) async fn lock_in_tx(
    conn: &mut PgConnection,
    id: Id<Question>,
) -> Result<bool, sqlx::Error> {
    let locked = sqlx::query!(
        "select from catalog.questions where id = $1 and deleted_at is null for update",
        id as _,
    )
    .fetch_optional(conn)
    .await?;
    Ok(locked.is_some())
}

/// Locks a question against its deletion until a link to it is written; false if there is none.
pub(crate) async fn share_in_tx(
    conn: &mut PgConnection,
    id: Id<Question>,
) -> Result<bool, sqlx::Error> {
    let shared = sqlx::query!(
        "select from catalog.questions where id = $1 and deleted_at is null for share",
        id as _,
    )
    .fetch_optional(conn)
    .await?;
    Ok(shared.is_some())
}

/// Updates a changed question.
pub(crate) async fn update_in_tx(
    conn: &mut PgConnection,
    question: &Question,
) -> Result<(), sqlx::Error> {
    let updated = sqlx::query!(
        "update catalog.questions
         set title = $2, description = $3, type_code = $4, product_type_code = $5, required = $6,
             configurations = $7, choices = $8, custom_data = $9, updated_at = $10
         where id = $1 and deleted_at is null",
        question.id as _,
        question.title,
        question.description,
        question.kind.as_str(),
        question.product_kind.as_str(),
        question.required,
        question.configurations.json,
        &question.configurations.choices,
        question.custom_data,
        question.updated_at,
    )
    .execute(conn)
    .await?;
    ensure_affected(updated, 1)
}

/// Marks a question as deleted.
pub(crate) async fn delete_in_tx(
    conn: &mut PgConnection,
    id: Id<Question>,
    now: DateTime<Utc>,
) -> Result<(), sqlx::Error> {
    let deleted = sqlx::query!(
        "update catalog.questions set deleted_at = $2, updated_at = $2
         where id = $1 and deleted_at is null",
        id as _,
        now,
    )
    .execute(conn)
    .await?;
    ensure_affected(deleted, 1)
}

/// Returns whether a question is attached to products.
pub(crate) async fn is_used(
    conn: &mut PgConnection,
    id: Id<Question>,
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select exists (
               select from catalog.product_questions l
               join catalog.products p on p.id = l.product_id
               where l.question_id = $1 and p.deleted_at is null
           ) as "used!""#,
        id as _,
    )
    .fetch_one(conn)
    .await
}

#[cfg(test)]
mod tests {
    use sqlx::PgPool;

    use super::*;

    #[sqlx::test(migrator = "crate::MIGRATOR")]
    async fn the_types_in_the_database_are_those_of_the_code(pool: PgPool) {
        let mut conn = pool.acquire().await.unwrap();
        let types = list_types(&mut conn, &ListRequest::default())
            .await
            .unwrap();
        assert_eq!(types.total, 5);
        for row in types.rows {
            let kind = QuestionKind::parse(&row.code).unwrap();
            let schema = kind.schema(&[], false).to_string();
            assert_eq!(row.json_schema_template, schema);
        }
    }
}
