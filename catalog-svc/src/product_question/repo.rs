//! SQL of the links between products and questions.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use platform::{
    ids::Id,
    pg::{ensure_affected, on_constraint},
    rank::Rank,
};
use sqlx::PgConnection;

use super::{LinkedQuestion, ProductQuestion};
use crate::{
    error::Error,
    product::{Product, ProductType},
    question::{Question, QuestionKind, repo::QuestionRow},
};

/// Writes a new link.
pub async fn insert_in_tx(conn: &mut PgConnection, link: &ProductQuestion) -> Result<(), Error> {
    let inserted = sqlx::query!(
        "insert into catalog.product_questions (product_id, question_id, rank)
         values ($1, $2, $3::text::numeric)",
        link.product_id as _,
        link.question_id as _,
        link.rank as _,
    )
    .execute(conn)
    .await
    .map_err(on_constraint([(
        "product_questions_pkey",
        Error::QuestionAlreadyLinked,
    )]))?;
    Ok(ensure_affected(inserted, 1)?)
}

/// The link, if there is one.
pub async fn find(
    conn: &mut PgConnection,
    product_id: Id<Product>,
    question_id: Id<Question>,
) -> Result<Option<ProductQuestion>, sqlx::Error> {
    let rank = sqlx::query_scalar!(
        r#"select rank::text as "rank!: Rank" from catalog.product_questions
           where product_id = $1 and question_id = $2"#,
        product_id as _,
        question_id as _,
    )
    .fetch_optional(conn)
    .await?;
    Ok(rank.map(|rank| ProductQuestion {
        product_id,
        question_id,
        rank,
    }))
}

/// The rank of a product's last question.
pub async fn last_rank(
    conn: &mut PgConnection,
    product_id: Id<Product>,
) -> Result<Option<Rank>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select rank::text as "rank!: Rank" from catalog.product_questions
           where product_id = $1
           order by rank desc, question_id desc
           limit 1"#,
        product_id as _,
    )
    .fetch_optional(conn)
    .await
}

/// Writes a link's new place.
pub async fn update_in_tx(
    conn: &mut PgConnection,
    link: &ProductQuestion,
) -> Result<(), sqlx::Error> {
    let updated = sqlx::query!(
        "update catalog.product_questions set rank = $3::text::numeric
         where product_id = $1 and question_id = $2",
        link.product_id as _,
        link.question_id as _,
        link.rank as _,
    )
    .execute(conn)
    .await?;
    ensure_affected(updated, 1)
}

/// Takes a link away; false if there is none.
pub async fn delete_in_tx(
    conn: &mut PgConnection,
    product_id: Id<Product>,
    question_id: Id<Question>,
) -> Result<bool, sqlx::Error> {
    let deleted = sqlx::query!(
        "delete from catalog.product_questions where product_id = $1 and question_id = $2",
        product_id as _,
        question_id as _,
    )
    .execute(conn)
    .await?;
    Ok(deleted.rows_affected() == 1)
}

struct LinkedRow {
    product_id: Id<Product>,
    rank: Rank,
    id: Id<Question>,
    title: String,
    description: Option<String>,
    type_code: QuestionKind,
    product_type_code: ProductType,
    required: bool,
    configurations: String,
    choices: Vec<String>,
    custom_data: String,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

/// The questions of these products, those of one product in their order.
pub async fn of_products(
    conn: &mut PgConnection,
    product_ids: &[Id<Product>],
) -> Result<HashMap<Id<Product>, Vec<LinkedQuestion>>, sqlx::Error> {
    let rows = sqlx::query_as!(
        LinkedRow,
        r#"select l.product_id as "product_id: _", l.rank::text as "rank!: _", q.id as "id: _",
                  q.title, q.description, q.type_code as "type_code: _",
                  q.product_type_code as "product_type_code: _", q.required, q.configurations,
                  q.choices, q.custom_data, q.created_at, q.updated_at
           from catalog.product_questions l
           join catalog.questions q on q.id = l.question_id
           where l.product_id = any($1) and q.deleted_at is null
           order by l.product_id, l.rank, l.question_id"#,
        product_ids as _,
    )
    .fetch_all(conn)
    .await?;
    let mut found: HashMap<_, Vec<_>> = HashMap::new();
    for row in rows {
        let (product_id, rank) = (row.product_id, row.rank);
        let question = Question::from(row);
        let questions = found.entry(product_id).or_default();
        questions.push(LinkedQuestion { question, rank });
    }
    Ok(found)
}

impl From<LinkedRow> for Question {
    fn from(row: LinkedRow) -> Self {
        Self::from(QuestionRow {
            id: row.id,
            title: row.title,
            description: row.description,
            type_code: row.type_code,
            product_type_code: row.product_type_code,
            required: row.required,
            configurations: row.configurations,
            choices: row.choices,
            custom_data: row.custom_data,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}
