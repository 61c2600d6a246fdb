//! The statement of a page, and the one that only counts.

use super::{
    List,
    any_of::{AnyOf, Branch},
    condition::{BaseFilter, push_base_filter},
    counting::Counting,
    keys::Keys,
    search::{Search, SearchPage, Sql, TIER},
};
use crate::{
    error::{Failure, FieldCode},
    list::{
        check::{Checked, Condition, Start},
        refuse,
    },
};

/// A list and a checked request.
pub(super) struct Statement<'a> {
    pub(super) list: &'a List,
    pub(super) checked: &'a Checked,
    pub(super) search: Option<&'a dyn Search>,
    /// Whether the request has a sort; without one, a search has its own order.
    sorted: bool,
    /// The branches in which the rows are read; empty where one `select` reads them all.
    branches: Vec<Branch>,
    /// The request's conditions on one column, an array or a flag.
    conditions: Vec<&'a Condition>,
    /// Conditions on any of several columns, without the one that makes the branches.
    any_ofs: Vec<AnyOf>,
}

impl<'a> Statement<'a> {
    /// Of several conditions on any of some columns, the one with the fewest values makes the
    /// branches. A search finds its rows in its own way.
    pub(super) fn new(
        list: &'a List,
        checked: &'a Checked,
        search: Option<&'a dyn Search>,
        sorted: bool,
    ) -> Self {
        let mut any_ofs = Vec::new();
        for filter in &list.base_filters {
            if let BaseFilter::AnyOf(any_of) = filter {
                any_ofs.push(any_of.clone());
            }
        }
        let mut conditions = Vec::new();
        for condition in &checked.conditions {
            match list.any_of_condition(condition) {
                Some(any_of) => any_ofs.push(any_of),
                None => conditions.push(condition),
            }
        }
        let by_values = any_ofs.iter().enumerate();
        let narrowest = by_values.min_by_key(|(_, any_of)| any_of.len());
        let branches = match narrowest.map(|(at, _)| at) {
            Some(at) if search.is_none() => any_ofs.remove(at).into_branches(),
            _ => Vec::new(),
        };
        Self {
            list,
            checked,
            search,
            sorted,
            branches,
            conditions,
            any_ofs,
        }
    }

    fn best_first(&self) -> Option<&'a dyn Search> {
        self.search.filter(|_| !self.sorted)
    }

    /// Returns the keys of the order.
    pub(super) fn keys(&self) -> Keys {
        let tier = self.best_first().map(|_| TIER);
        Keys::new(self.list, tier, &self.checked.sort)
    }

    /// Builds the statement of a page. It reads one row more, to see whether there is another page.
    ///
    /// ```sql
    /// select t.id, t.name,
    ///     (select count(*) from things t where true and (t.deleted_at is null) and t.active = $1)
    ///         as list_total,
    ///     array[(t.name)::text, (t.id)::text] as list_keys
    /// from things t
    /// where true and (t.deleted_at is null) and t.active = $2
    /// order by t.name, t.id
    /// limit $3 offset $4
    /// ```
    ///
    /// The rows of a search come as [`Search`] shows, those of branches like this:
    ///
    /// ```sql
    /// select t.id, (…) as list_total, array[…] as list_keys
    /// from ((select * from things t where true and t.origin_id = $1
    ///        order by t.name, t.id limit $2)
    ///       union all
    ///       (select * from things t
    ///        where true and t.target_id = $3 and (t.origin_id = any($4)) is not true
    ///        order by t.name, t.id limit $5)) t
    /// order by t.name, t.id
    /// limit $6 offset $7
    /// ```
    ///
    /// Where some rows are counted already, only the others are: `(select $1 + count(*) from things t
    /// where true and … and t.created_at >= $2) as list_total`.
    pub(super) fn page(&self, keys: &Keys, counting: Counting) -> Result<Sql, Failure> {
        let mut sql = Sql::new("");
        let search = self.best_first();
        if let Some(search) = search {
            search.push_tiers(&mut sql, &SearchPage::new(self))?;
        }
        sql.push(format_args!("select {}, (", self.list.select));
        self.push_count(&mut sql, counting);
        sql.push(") as list_total, ");
        keys.push_values(&mut sql);
        sql.push(" as list_keys from ");
        match (search, self.branches.as_slice()) {
            (Some(search), _) => {
                sql.push(self.list.from);
                search.push_join(&mut sql);
            }
            (None, [_, _, ..]) => self.push_branches(&mut sql, keys)?,
            (None, branches) => {
                self.push_rows(&mut sql, branches.first());
                self.push_after(&mut sql, keys)?;
            }
        }
        keys.push_order(&mut sql);
        if self.list.table.paged {
            sql.push(" limit ")
                .push_bind(self.page_size_with_lookahead());
            sql.push(" offset ").push_bind(self.offset());
        }
        Ok(sql)
    }

    /// Builds the statement that counts the rows of all pages.
    pub(super) fn count(&self, counting: Counting) -> Sql {
        let mut sql = Sql::new("");
        self.push_count(&mut sql, counting);
        sql
    }

    /// ```sql
    /// select count(*) from things t where true and (t.deleted_at is null)
    /// select count(*) from (select from things t where … union all select from things t where …) t
    /// select $1 + count(*) from things t where true and (t.deleted_at is null) and t.created_at >= $2
    /// ```
    fn push_count(&self, sql: &mut Sql, counting: Counting) {
        sql.push("select ");
        if let Some(known) = counting.known {
            sql.push_bind(known.rows).push(" + ");
        }
        sql.push("count(*) from ");
        if let [_, _, ..] = self.branches.as_slice() {
            for (n, branch) in self.branches.iter().enumerate() {
                sql.push(if n > 0 { " union all " } else { "(" });
                sql.push("select from ");
                self.push_rows(sql, Some(branch));
                self.push_added(sql, counting);
            }
            sql.push(format_args!(") {}", self.list.alias()));
        } else {
            self.push_rows(sql, self.branches.first());
            self.push_added(sql, counting);
        }
    }

    /// Pushes ` and …` for the time in which the counted rows were added.
    fn push_added(&self, sql: &mut Sql, counting: Counting) {
        if let Some(known) = counting.known {
            self.list.push_added(sql, ">=", known.before);
        }
        if let Some(before) = counting.before {
            self.list.push_added(sql, "<", before);
        }
    }

    /// Pushes the branches, each up to the end of the page.
    fn push_branches(&self, sql: &mut Sql, keys: &Keys) -> Result<(), Failure> {
        for (n, branch) in self.branches.iter().enumerate() {
            sql.push(if n > 0 { " union all " } else { "(" });
            sql.push("(select * from ");
            self.push_rows(sql, Some(branch));
            self.push_after(sql, keys)?;
            keys.push_order(sql);
            if self.list.table.paged {
                sql.push(" limit ").push_bind(self.limit_with_lookahead());
            }
            sql.push(")");
        }
        sql.push(format_args!(") {}", self.list.alias()));
        Ok(())
    }

    /// Pushes the rows of all pages, or those of a branch: `things t where true and …`.
    fn push_rows(&self, sql: &mut Sql, branch: Option<&Branch>) {
        sql.push(format_args!("{} where true", self.list.from));
        self.push_conditions(sql);
        if let Some(search) = self.search {
            sql.push(" and ");
            search.push_condition(sql);
        }
        if let Some(branch) = branch {
            sql.push(" and ");
            branch.push(sql);
        }
    }

    /// Pushes ` and …` for all conditions but those of the search and the branches.
    pub(super) fn push_conditions(&self, sql: &mut Sql) {
        for filter in &self.list.base_filters {
            if let BaseFilter::Condition { sql: text, value } = filter {
                sql.push(" and ");
                push_base_filter(sql, text, value.as_ref());
            }
        }
        for condition in &self.conditions {
            sql.push(" and ");
            self.list.push_condition(sql, condition);
        }
        for any_of in &self.any_ofs {
            sql.push(" and ");
            any_of.push(sql);
        }
    }

    /// Pushes ` and …` where the page continues another one.
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

    /// Returns the number of rows up to the end of the page and one more, counted from where the
    /// list starts or continues.
    pub(super) fn limit_with_lookahead(&self) -> i64 {
        if self.list.table.paged {
            self.offset()
                .saturating_add(self.page_size_with_lookahead())
        } else {
            i64::MAX
        }
    }

    fn page_size_with_lookahead(&self) -> i64 {
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
