//! SQL of the links between products and questions.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

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
    question::{self, Question},
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

/// Questions that one statement reads.
const CHUNK_SIZE: usize = 100;

/// Finds the questions of these products, each product's in their order. It stops after the first
/// product by which its questions pass `max_bytes`, and returns those of the products up to there.
pub(crate) async fn find_by_product(
    conn: &mut PgConnection,
    product_ids: &[Id<Product>],
    max_bytes: usize,
) -> Result<Vec<Vec<LinkedQuestion>>, sqlx::Error> {
    let links = links_of(conn, product_ids).await?;
    let mut unread = distinct(product_ids, &links).into_iter();
    let mut read: HashMap<Id<Question>, Arc<Question>> = HashMap::new();
    let mut found = Vec::with_capacity(product_ids.len());
    let mut bytes = 0_usize;
    for product_id in product_ids {
        let links = links.get(product_id).map_or(&[][..], Vec::as_slice);
        while links
            .iter()
            .any(|link| !read.contains_key(&link.question_id))
        {
            let chunk: Vec<_> = unread.by_ref().take(CHUNK_SIZE).collect();
            if chunk.is_empty() {
                // One was deleted since the links were read.
                break;
            }
            let questions = question::repo::find_all(conn, &chunk).await?;
            read.extend(questions.into_iter().map(|one| (one.id, Arc::new(one))));
        }
        let questions: Vec<_> = links
            .iter()
            .filter_map(|link| {
                Some(LinkedQuestion {
                    question: read.get(&link.question_id)?.clone(),
                    rank: link.rank,
                })
            })
            .collect();
        let of_product = questions.iter().map(|linked| linked.question.bytes());
        bytes = bytes.saturating_add(of_product.sum());
        found.push(questions);
        if bytes > max_bytes {
            break;
        }
    }
    Ok(found)
}

/// Finds the links of these products, each product's in their order.
async fn links_of(
    conn: &mut PgConnection,
    product_ids: &[Id<Product>],
) -> Result<HashMap<Id<Product>, Vec<ProductQuestion>>, sqlx::Error> {
    let links = sqlx::query_as!(
        ProductQuestion,
        r#"select l.product_id, l.question_id, l.rank::text as "rank!: Rank"
           from catalog.product_questions l
           join catalog.questions q on q.id = l.question_id
           where l.product_id = any($1) and q.deleted_at is null
           order by l.product_id, l.rank, l.question_id"#,
        product_ids as _,
    )
    .fetch_all(conn)
    .await?;
    let mut by_product: HashMap<_, Vec<_>> = HashMap::new();
    for link in links {
        by_product.entry(link.product_id).or_default().push(link);
    }
    Ok(by_product)
}

/// Returns the questions of the products without repetition, those of the first products first.
fn distinct(
    product_ids: &[Id<Product>],
    links: &HashMap<Id<Product>, Vec<ProductQuestion>>,
) -> Vec<Id<Question>> {
    let mut seen = HashSet::new();
    let links = product_ids.iter().filter_map(|id| links.get(id)).flatten();
    links
        .map(|link| link.question_id)
        .filter(|id| seen.insert(*id))
        .collect()
}
