//! Lists searched by words. Those that match best are one tier, the others a second one; within each
//! the list's own order decides.
//!
//! A word may be in one row or in every other one, and the planner can't tell which: it knows little
//! of the starts of words. So each tier is looked for in the first rows of the list, which is where
//! a common word is, and only if that is not enough in the index of words. Either way ends soon, and
//! both give the same rows.

use sqlx::{PgConnection, Postgres, QueryBuilder, Row as _};
use uuid::Uuid;

use super::{
    List,
    condition::{Target, push_bound},
    keys::Keys,
    statement::Statement,
};
use crate::{
    error::Failure,
    list::{
        check::{Checked, Test},
        fields::Value,
    },
};

type Sql = QueryBuilder<Postgres>;

/// Where a page of a search says which tier a row is in.
pub(super) const TIER: &str = "found.tier";

const TIERS: [&str; 2] = ["0", "1"];

/// Rows that are read for a tier before the index of words is asked. To read them takes as long as
/// the index takes for a word that few rows more hold.
const NEAR: i64 = 2000;

/// How a resource is searched. In each condition `?` stands for text of a `tsquery`. Whether a word
/// holds accents is for them to say; what is bound holds none.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// The table of the resource, without what the list joins to it; no condition of the list names
    /// anything else.
    pub from: &'static str,
    /// The row itself holds a word.
    pub holds: &'static str,
    /// Among the rows found, those that come first.
    pub first: &'static str,
    /// A column of ids, and the query of the ids that count as holding a word.
    pub parent: (&'static str, &'static str),
}

/// What is searched for.
pub(super) struct Search {
    words: Words,
    /// Each word as a `tsquery`, with the parents that hold it.
    each: Vec<(Value, Vec<Uuid>)>,
    /// All words as one `tsquery`.
    all: Value,
}

impl Search {
    /// The search among the conditions. Which parents hold a word is looked up first: the planner
    /// takes a subquery for half of the table.
    pub(super) async fn prepare(
        list: &List,
        conn: &mut PgConnection,
        checked: &Checked,
    ) -> Result<Option<Self>, Failure> {
        let searched = checked.conditions.iter().find_map(|condition| {
            match (list.target_of(condition.field), &condition.test) {
                (Target::Words(words), Test::Holds(texts)) => Some((words, lexemes(texts))),
                _ => None,
            }
        });
        let Some((words, lexemes)) = searched else {
            return Ok(None);
        };
        let all = Value::Text(lexemes.join(" & "));
        let lexemes: Vec<_> = lexemes.into_iter().map(Value::Text).collect();
        let mut sql = Sql::new("select ");
        for (n, lexeme) in lexemes.iter().enumerate() {
            sql.push(if n > 0 { ", array(" } else { "array(" });
            push_bound(&mut sql, words.parent.1, lexeme);
            sql.push(")");
        }
        let row = sql.build().persistent(false).fetch_one(conn).await?;
        let parents = |n| row.try_get::<Vec<Uuid>, _>(n);
        let each = lexemes
            .into_iter()
            .enumerate()
            .map(|(n, lexeme)| Ok((lexeme, parents(n)?)));
        let each = each.collect::<Result<_, sqlx::Error>>()?;
        Ok(Some(Self { words, each, all }))
    }

    /// Every word occurs.
    pub(super) fn push_holds(&self, sql: &mut Sql) {
        sql.push("(true");
        for (lexeme, parents) in &self.each {
            sql.push(" and (");
            push_bound(sql, self.words.holds, lexeme);
            if !parents.is_empty() {
                sql.push(format_args!(" or {} = any(", self.words.parent.0));
                sql.push_bind(parents.clone()).push(")");
            }
            sql.push(")");
        }
        sql.push(")");
    }

    fn push_tier(&self, sql: &mut Sql, tier: &str) {
        self.push_holds(sql);
        let not = if tier == TIERS[0] { "" } else { "not " };
        sql.push(format_args!(" and {not}("));
        push_bound(sql, self.words.first, &self.all);
        sql.push(")");
    }

    /// `with …`, which finds the page's rows, and all before them, tier by tier.
    pub(super) fn push_tiers(
        &self,
        sql: &mut Sql,
        statement: &Statement<'_>,
    ) -> Result<(), Failure> {
        let mut before: Option<&str> = None;
        for tier in TIERS {
            sql.push(if before.is_some() { ", " } else { "with " });
            let keys = Keys::new(statement.list, Some(tier), &statement.checked.sort);
            let part = Part {
                search: self,
                statement,
                tier,
                keys: &keys,
                before,
            };
            part.push_near(sql)?;
            part.push_all(sql)?;
            before = Some(tier);
        }
        Ok(())
    }
}

/// Joins the list's rows that its tiers hold.
pub(super) fn push_join(sql: &mut Sql, list: &List) {
    sql.push(" join (");
    for (n, tier) in TIERS.iter().enumerate() {
        sql.push(if n > 0 { " union all " } else { "" });
        sql.push(format_args!(
            "select {tier}::numeric as tier, id from tier_{tier}"
        ));
    }
    let key = list.key.expression();
    sql.push(format_args!(") as found on found.id = {key}"));
}

/// One tier of a page.
struct Part<'a> {
    search: &'a Search,
    statement: &'a Statement<'a>,
    tier: &'static str,
    keys: &'a Keys,
    /// The tier that is looked at first, and may be all that is needed.
    before: Option<&'a str>,
}

impl Part<'_> {
    /// `near_0`: as many rows as the page needs, or fewer where the first rows of the list don't
    /// hold so many.
    fn push_near(&self, sql: &mut Sql) -> Result<(), Failure> {
        let tier = self.tier;
        sql.push(format_args!("head_{tier} as materialized (select "));
        self.push_columns(sql);
        sql.push(", (");
        self.search.push_tier(sql, tier);
        sql.push(") as fits");
        self.push_rows(sql)?;
        self.push_order(sql, |_, expression| expression.to_owned());
        sql.push(format_args!(
            " limit {NEAR}), near_{tier} as materialized (select id from head_{tier} where fits"
        ));
        self.push_sorted(sql);
        sql.push("), ");
        Ok(())
    }

    /// `tier_0`: the same rows from near, or from the index. `offset 0` keeps the planner from
    /// walking through the list again.
    fn push_all(&self, sql: &mut Sql) -> Result<(), Failure> {
        let tier = self.tier;
        let near = format!("(select count(*) from near_{tier})");
        sql.push(format_args!(
            "tier_{tier} as materialized ((select id from near_{tier} where {near} = "
        ));
        sql.push_bind(self.statement.reach());
        sql.push(") union all (select id from (select ");
        self.push_columns(sql);
        self.push_rows(sql)?;
        sql.push(" and ");
        self.search.push_tier(sql, tier);
        sql.push(format_args!(" and {near} < "))
            .push_bind(self.statement.reach());
        sql.push(" offset 0) as matching");
        self.push_sorted(sql);
        sql.push(")) ");
        Ok(())
    }

    /// The primary key and all sort keys.
    fn push_columns(&self, sql: &mut Sql) {
        let key = self.statement.list.key.expression();
        sql.push(format_args!("{key} as id"));
        for (n, (expression, _)) in self.keys.within_tier().enumerate() {
            sql.push(format_args!(", {expression} as key_{n}"));
        }
    }

    /// The rows that fulfil all other conditions and come after the cursor; none where the tier
    /// before this one was enough.
    fn push_rows(&self, sql: &mut Sql) -> Result<(), Failure> {
        sql.push(format_args!(" from {} where true", self.search.words.from));
        self.statement.push_conditions(sql);
        self.statement.push_after(sql, self.keys)?;
        if let Some(before) = self.before {
            sql.push(format_args!(" and (select count(*) from tier_{before}) < "));
            sql.push_bind(self.statement.reach());
        }
        Ok(())
    }

    /// As many as the page needs, by the columns of the sort keys.
    fn push_sorted(&self, sql: &mut Sql) {
        self.push_order(sql, |n, _| format!("key_{n}"));
        sql.push(" limit ").push_bind(self.statement.reach());
    }

    fn push_order(&self, sql: &mut Sql, name: impl Fn(usize, &str) -> String) {
        sql.push(" order by ");
        for (n, (expression, descending)) in self.keys.within_tier().enumerate() {
            sql.push(if n > 0 { ", " } else { "" });
            sql.push(name(n, expression));
            sql.push(if descending { " desc" } else { "" });
        }
    }
}

/// Words as Postgres' `tsquery` writes them; the last one is the start of a word.
fn lexemes(words: &[String]) -> Vec<String> {
    let last = words.len().saturating_sub(1);
    let lexeme = |(n, word): (usize, &String)| {
        let start = if n == last { ":*" } else { "" };
        format!("'{word}'{start}")
    };
    words.iter().enumerate().map(lexeme).collect()
}
