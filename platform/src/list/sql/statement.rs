//! The statement that answers a page, and the one that only counts.

use sqlx::{Postgres, QueryBuilder};

use super::{
    List,
    any_of::{AnyOf, Part},
    condition::{Restriction, Target},
    keys::Keys,
    search::{Search, TIER, push_join},
};
use crate::{
    error::{Failure, FieldCode},
    list::{
        check::{Checked, Condition, Start, Test},
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
    /// What the rows are read in; empty where all are read at once.
    parts: Vec<Part>,
    /// Conditions on any of several columns, but that which makes the parts.
    any_ofs: Vec<AnyOf>,
}

impl<'a> Statement<'a> {
    /// Of several conditions on any of some columns, that with the fewest values makes the parts. A
    /// search has its own way to the rows.
    pub(super) fn new(
        list: &'a List,
        checked: &'a Checked,
        search: Option<Search>,
        sorted: bool,
    ) -> Self {
        let own = list.restrictions.iter().filter_map(Restriction::any_of);
        let asked = checked.conditions.iter();
        let asked = asked.filter_map(|condition| any_of(list, condition));
        let mut any_ofs: Vec<_> = own.cloned().chain(asked).collect();
        let by_values = any_ofs.iter().enumerate();
        let narrowest = by_values.min_by_key(|(_, any_of)| any_of.len());
        let parts = match narrowest.map(|(at, _)| at) {
            Some(at) if search.is_none() => any_ofs.remove(at).into_parts(),
            _ => Vec::new(),
        };
        Self {
            list,
            checked,
            search,
            sorted,
            parts,
            any_ofs,
        }
    }

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
        sql.push(" as list_keys from ");
        if self.best_first().is_some() {
            sql.push(self.list.from);
            push_join(&mut sql, self.list);
        } else if let [_, _, ..] = self.parts.as_slice() {
            self.push_parts(&mut sql, keys)?;
        } else {
            self.push_rows(&mut sql, self.parts.first());
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
        sql.push("select count(*) from ");
        if let [_, _, ..] = self.parts.as_slice() {
            for (n, part) in self.parts.iter().enumerate() {
                sql.push(if n > 0 { " union all " } else { "(" });
                sql.push("select from ");
                self.push_rows(sql, Some(part));
            }
            sql.push(format_args!(") {}", self.list.alias()));
        } else {
            self.push_rows(sql, self.parts.first());
        }
    }

    /// Each part as far as the page goes.
    fn push_parts(&self, sql: &mut Sql, keys: &Keys) -> Result<(), Failure> {
        for (n, part) in self.parts.iter().enumerate() {
            sql.push(if n > 0 { " union all " } else { "(" });
            sql.push("(select * from ");
            self.push_rows(sql, Some(part));
            self.push_after(sql, keys)?;
            keys.push_order(sql);
            if self.list.table.paged {
                sql.push(" limit ").push_bind(self.reach());
            }
            sql.push(")");
        }
        sql.push(format_args!(") {}", self.list.alias()));
        Ok(())
    }

    /// The rows of all pages, or a part of them.
    fn push_rows(&self, sql: &mut Sql, part: Option<&Part>) {
        sql.push(format_args!("{} where true", self.list.from));
        self.push_conditions(sql);
        self.push_search(sql);
        if let Some(part) = part {
            sql.push(" and ");
            part.push(sql);
        }
    }

    /// ` and …` for all conditions but that of a search and that of the parts.
    pub(super) fn push_conditions(&self, sql: &mut Sql) {
        for restriction in &self.list.restrictions {
            if let Restriction::Holds { condition, value } = restriction {
                sql.push(" and ");
                Restriction::push(sql, condition, value.as_ref());
            }
        }
        for condition in &self.checked.conditions {
            let target = self.list.target_of(condition.field);
            let elsewhere =
                matches!(target, Target::Words(_)) || any_of(self.list, condition).is_some();
            if !elsewhere {
                sql.push(" and ");
                target.push(sql, condition);
            }
        }
        for any_of in &self.any_ofs {
            sql.push(" and ");
            any_of.push(sql);
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

/// A condition that parts can be made of: not one that some columns have none of the values.
fn any_of(list: &List, condition: &Condition) -> Option<AnyOf> {
    let Target::AnyOf(columns) = list.target_of(condition.field) else {
        return None;
    };
    let values = match &condition.test {
        Test::Equals(value) => vec![value.clone()],
        Test::In(values) => values.clone(),
        _ => return None,
    };
    Some(AnyOf::new(columns, condition.field.class, values))
}
