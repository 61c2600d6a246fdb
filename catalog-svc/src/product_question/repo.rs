//! SQL of the links between products and questions.

use std::collections::HashMap;

use platform::{
    ids::Id,
    pg::{ensure_affected, on_constraint},
    rank::Rank,
};
use sqlx::PgConnection;

use super::{LinkedQuestion, ProductQuestion};
use crate::{
    error::Error,
    product::Product,
    question::{Question, repo::QuestionRow},
};

/// Inserts a new link.
pub(crate) async fn insert_in_tx(
    conn: &mut PgConnection,
    link: &ProductQuestion,
) -> Result<(), Error> {
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

/// Finds a link.
pub(crate) async fn find(
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

/// Returns the rank after a product's last question.
pub(crate) async fn next_rank(
    conn: &mut PgConnection,
    product_id: Id<Product>,
) -> Result<Rank, sqlx::Error> {
    let last = sqlx::query_scalar!(
        r#"select rank::text as "rank!: Rank" from catalog.product_questions
           where product_id = $1
           order by rank desc, question_id desc
           limit 1"#,
        product_id as _,
    )
    .fetch_optional(conn)
    .await?;
    Ok(last.map_or_else(Rank::first, Rank::next))
}

/// Updates the position of a link.
pub(crate) async fn update_in_tx(
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

/// Deletes a link; false if there is none.
pub(crate) async fn delete_in_tx(
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

/// Finds the questions of these products, each product's in their order.
pub(crate) async fn find_by_product(
    conn: &mut PgConnection,
    product_ids: &[Id<Product>],
) -> Result<HashMap<Id<Product>, Vec<LinkedQuestion>>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"select l.product_id, l.rank::text as "rank!: Rank", q.id, q.title, q.description,
                  q.type_code, q.product_type_code, q.required, q.configurations, q.choices,
                  q.custom_data, q.created_at, q.updated_at
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
        let question = QuestionRow {
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
        };
        found
            .entry(row.product_id)
            .or_default()
            .push(LinkedQuestion {
                question: question.into(),
                rank: row.rank,
            });
    }
    Ok(found)
}
