//! `filter[search]`: finds products by the words in their names and descriptions and in the titles
//! of their categories.
//!
//! Products with all words in their names are tier 0, the others tier 1; within a tier the list's
//! order decides. A word may be in one product or in every other one, and the planner can't tell
//! which: it knows little of the starts of words. So each tier is first looked up by a scan of the
//! first rows of the list, which finds a common word, and only if that finds too few rows in the index
//! of words. Both are bounded, and both find the same rows.

use platform::{
    error::{Failure, FieldCode},
    list::{self, SearchPage, Sql, TierPage, check::check, refuse},
};
use proto::{common::v1::ListRequest, lists::catalog::PRODUCTS};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::words::{queries, words};

/// Words in the longest search.
const MAX_WORDS: usize = 16;

/// Rows of the list that are scanned for a tier before its index of words is used. To read them takes
/// as long as the index takes for a word that a few more rows have.
const PREFIX_ROWS: i64 = 2000;

/// A search, with the categories looked up: the planner expects half of the table from a subquery.
#[derive(Debug)]
pub(super) struct Search {
    words: Vec<Word>,
}

#[derive(Debug)]
struct Word {
    /// The word as a `tsquery`.
    query: String,
    /// The categories with the word in their titles.
    category_ids: Vec<Uuid>,
}

/// A tier of the rows found, and the one that comes before it.
#[derive(Debug, Clone, Copy)]
struct Tier {
    number: &'static str,
    /// Before the condition that all words are in the name.
    not: &'static str,
    previous: Option<&'static str>,
}

const TIERS: [Tier; 2] = [
    Tier {
        number: "0",
        not: "",
        previous: None,
    },
    Tier {
        number: "1",
        not: "not ",
        previous: Some("0"),
    },
];

impl Search {
    /// Prepares the search of a request, if it has one.
    pub(super) async fn prepare(
        conn: &mut PgConnection,
        request: &ListRequest,
    ) -> Result<Option<Self>, Failure> {
        let Some(text) = check(&PRODUCTS, request)?.search else {
            return Ok(None);
        };
        let words = words(&text);
        if !(1..=MAX_WORDS).contains(&words.len()) {
            let message = format!("must have 1 to {MAX_WORDS} words");
            return Err(refuse("filter[search]", FieldCode::Format, &message));
        }
        let queries = queries(&words);
        let category_ids = sqlx::query_scalar!(
            r#"select array(
                   select c.id from catalog.categories c
                   where c.deleted_at is null
                     and c.search @@ words.query::tsquery
               ) as "ids!: Vec<Uuid>"
               from unnest($1::text[]) with ordinality as words (query, n)
               order by words.n"#,
            &queries,
        )
        .fetch_all(conn)
        .await?;
        let words = queries.into_iter().zip(category_ids);
        let word = |(query, category_ids)| Word {
            query,
            category_ids,
        };
        Ok(Some(Self {
            words: words.map(word).collect(),
        }))
    }

    /// Pushes the condition of a tier: that of the search, and whether the name has all words.
    ///
    /// ```sql
    /// (true and (p.search @@ $1::tsquery)) and not (p.name_search @@ $2::tsquery)
    /// ```
    fn push_tier_condition(&self, sql: &mut Sql, tier: Tier) {
        list::Search::push_condition(self, sql);
        sql.push(format_args!(" and {}(", tier.not));
        let queries: Vec<_> = self.words.iter().map(|word| word.query.as_str()).collect();
        push_matches(sql, "p.name_search", &queries.join(" & "));
        sql.push(")");
    }

    /// Pushes `scan_0`: the rows of a tier among the first of the list, at most as many as the page
    /// needs.
    ///
    /// ```sql
    /// prefix_0 as materialized (
    ///     select p.id as id, p.rank as key_0, p.id as key_1, (…) as matches
    ///     from catalog.products p where true and (p.deleted_at is null)
    ///     order by p.rank, p.id limit 2000
    /// ), scan_0 as materialized (
    ///     select id from prefix_0 where matches order by key_0, key_1 limit $1
    /// ),
    /// ```
    fn push_scan(&self, sql: &mut Sql, tier: Tier, page: &SearchPage<'_>) -> Result<(), Failure> {
        let (n, rows) = (tier.number, page.tier(tier.number));
        sql.push(format_args!("prefix_{n} as materialized (select "));
        rows.push_keys(sql);
        sql.push(", (");
        self.push_tier_condition(sql, tier);
        sql.push(") as matches");
        push_rows(sql, tier, &rows, page)?;
        rows.push_order(sql);
        sql.push(format_args!(
            " limit {PREFIX_ROWS}), scan_{n} as materialized (select id from prefix_{n} where matches"
        ));
        push_page(sql, &rows, page);
        sql.push("), ");
        Ok(())
    }

    /// Pushes `tier_0`: the rows of `scan_0` if they are enough, else the same from the index.
    /// `offset 0` keeps the planner from reading the list in its order once more.
    ///
    /// ```sql
    /// tier_0 as materialized (
    ///     (select id from scan_0 where (select count(*) from scan_0) = $1)
    ///     union all
    ///     (select id from (
    ///          select p.id as id, p.rank as key_0, p.id as key_1
    ///          from catalog.products p where true and (p.deleted_at is null)
    ///          and (…) and (select count(*) from scan_0) < $2 offset 0
    ///      ) as matching order by key_0, key_1 limit $3)
    /// )
    /// ```
    fn push_tier(&self, sql: &mut Sql, tier: Tier, page: &SearchPage<'_>) -> Result<(), Failure> {
        let (n, rows) = (tier.number, page.tier(tier.number));
        let scanned = format!("(select count(*) from scan_{n})");
        sql.push(format_args!(
            "tier_{n} as materialized ((select id from scan_{n} where {scanned} = "
        ));
        sql.push_bind(page.limit_with_lookahead());
        sql.push(") union all (select id from (select ");
        rows.push_keys(sql);
        push_rows(sql, tier, &rows, page)?;
        sql.push(" and ");
        self.push_tier_condition(sql, tier);
        sql.push(format_args!(" and {scanned} < "));
        sql.push_bind(page.limit_with_lookahead());
        sql.push(" offset 0) as matching");
        push_page(sql, &rows, page);
        sql.push(")) ");
        Ok(())
    }
}

impl list::Search for Search {
    /// Pushes the condition that each word is in the product or in its category's title.
    ///
    /// ```sql
    /// (true and (p.search @@ $1::tsquery) and (p.search @@ $2::tsquery or p.category_id = any($3)))
    /// ```
    fn push_condition(&self, sql: &mut Sql) {
        sql.push("(true");
        for word in &self.words {
            sql.push(" and (");
            push_matches(sql, "p.search", &word.query);
            if !word.category_ids.is_empty() {
                sql.push(" or p.category_id = any(");
                sql.push_bind(word.category_ids.clone()).push(")");
            }
            sql.push(")");
        }
        sql.push(")");
    }

    /// Pushes `with prefix_0 …, scan_0 …, tier_0 …, prefix_1 …, scan_1 …, tier_1 …`.
    fn push_tiers(&self, sql: &mut Sql, page: &SearchPage<'_>) -> Result<(), Failure> {
        for tier in TIERS {
            sql.push(if tier.previous.is_some() {
                ", "
            } else {
                "with "
            });
            self.push_scan(sql, tier, page)?;
            self.push_tier(sql, tier, page)?;
        }
        Ok(())
    }

    fn push_join(&self, sql: &mut Sql) {
        sql.push(
            " join (select 0::numeric as tier, id from tier_0 \
             union all select 1::numeric as tier, id from tier_1) as found on found.id = p.id",
        );
    }
}

fn push_matches(sql: &mut Sql, column: &str, query: &str) {
    sql.push(format_args!("{column} @@ "));
    sql.push_bind(query.to_owned()).push("::tsquery");
}

/// Pushes the rows that meet all other conditions; none if the tier before has enough.
fn push_rows(
    sql: &mut Sql,
    tier: Tier,
    rows: &TierPage<'_>,
    page: &SearchPage<'_>,
) -> Result<(), Failure> {
    sql.push(" from catalog.products p where true");
    rows.push_conditions(sql)?;
    if let Some(previous) = tier.previous {
        sql.push(format_args!(
            " and (select count(*) from tier_{previous}) < "
        ));
        sql.push_bind(page.limit_with_lookahead());
    }
    Ok(())
}

fn push_page(sql: &mut Sql, rows: &TierPage<'_>, page: &SearchPage<'_>) {
    rows.push_order_by_keys(sql);
    sql.push(" limit ").push_bind(page.limit_with_lookahead());
}

#[cfg(test)]
mod tests;
