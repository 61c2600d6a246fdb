//! The statement that answers a page, and the one that only counts.

use sqlx::{Postgres, QueryBuilder};

use super::{
    List,
    condition::Target,
    keys::Keys,
    search::{Search, TIER, push_join},
};
use crate::{
    error::{Failure, FieldCode},
    list::{
        check::{Checked, Start},
        refuse,
    },
};

type Sql = QueryBuilder<Postgres>;

/// A list, and what was asked of it.
pub(super) struct Statement<'a> {
    pub(super) list: &'a List,
    pub(super) checked: &'a Checked,
    pub(super) search: Option<Search>,
    /// Whether the request says in what order; a search has one of its own.
    pub(super) sorted: bool,
}

impl Statement<'_> {
    fn best_first(&self) -> Option<&Search> {
        self.search.as_ref().filter(|_| !self.sorted)
    }

    /// What the rows are ordered by.
    pub(super) fn keys(&self) -> Keys {
        let tier = self.best_first().map(|_| TIER);
        Keys::new(self.list, tier, &self.checked.sort)
    }

    /// One row more than the page holds, to see whether there is another.
    pub(super) fn page(&self, keys: &Keys) -> Result<Sql, Failure> {
        let mut sql = Sql::new("");
        if let Some(search) = self.best_first() {
            search.push_tiers(&mut sql, self)?;
        }
        sql.push(format_args!("select {}, (", self.list.select));
        self.push_count(&mut sql);
        sql.push(") as list_total, ");
        keys.push_values(&mut sql);
        sql.push(format_args!(" as list_keys from {}", self.list.from));
        if self.best_first().is_some() {
            push_join(&mut sql, self.list);
        } else {
            sql.push(" where true");
            self.push_conditions(&mut sql);
            self.push_search(&mut sql);
            self.push_after(&mut sql, keys)?;
        }
        keys.push_order(&mut sql);
        if self.list.table.paged {
            sql.push(" limit ").push_bind(self.size());
            sql.push(" offset ").push_bind(self.offset());
        }
        Ok(sql)
    }

    /// The rows on all pages.
    pub(super) fn count(&self) -> Sql {
        let mut sql = Sql::new("");
        self.push_count(&mut sql);
        sql
    }

    fn push_count(&self, sql: &mut Sql) {
        sql.push(format_args!("select count(*) from {}", self.list.from));
        sql.push(" where true");
        self.push_conditions(sql);
        self.push_search(sql);
    }

    /// ` and …` for all conditions but that of a search.
    pub(super) fn push_conditions(&self, sql: &mut Sql) {
        for restriction in &self.list.restrictions {
            sql.push(" and ");
            restriction.push(sql);
        }
        for condition in &self.checked.conditions {
            let target = self.list.target_of(condition.field);
            if !matches!(target, Target::Words(_)) {
                sql.push(" and ");
                target.push(sql, condition);
            }
        }
    }

    fn push_search(&self, sql: &mut Sql) {
        if let Some(search) = &self.search {
            sql.push(" and ");
            search.push_holds(sql);
        }
    }

    /// ` and …` where the page continues another one.
    pub(super) fn push_after(&self, sql: &mut Sql, keys: &Keys) -> Result<(), Failure> {
        let Start::After(cursor) = &self.checked.start else {
            return Ok(());
        };
        if !self.list.table.paged {
            return Err(refuse(
                "page[after]",
                FieldCode::UnknownField,
                "has no pages",
            ));
        }
        sql.push(" and ");
        keys.push_after(sql, cursor)
    }

    /// The page's last row and one more, counted from where the list starts or continues.
    pub(super) fn reach(&self) -> i64 {
        if self.list.table.paged {
            self.offset().saturating_add(self.size())
        } else {
            i64::MAX
        }
    }

    fn size(&self) -> i64 {
        i64::from(self.checked.page_size) + 1
    }

    fn offset(&self) -> i64 {
        match self.checked.start {
            Start::Number(number) => {
                let rows = number
                    .saturating_sub(1)
                    .saturating_mul(self.checked.page_size.into());
                i64::try_from(rows).unwrap_or(i64::MAX)
            }
            Start::After(_) => 0,
        }
    }
}
