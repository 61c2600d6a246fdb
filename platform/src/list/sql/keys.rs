//! The sort keys of a list, and the condition that continues it after a row.

use proto::lists::{Class, Field};
use sqlx::{Postgres, QueryBuilder};

use super::{List, condition::push_value, cursor};
use crate::{error::Failure, list::fields::Value};

type Sql = QueryBuilder<Postgres>;

/// The keys of a sort, the primary key last.
pub(super) struct Keys {
    keys: Vec<SortKey>,
    /// The sort in words, which a cursor must repeat: `-createdAt,name`.
    name: String,
}

pub(super) struct SortKey {
    expression: String,
    pub(super) class: Class,
    nullable: bool,
    descending: bool,
}

impl Keys {
    /// The primary key has the direction of the key before it, so that one index can serve both.
    /// `tier` is the first key of a search.
    pub(super) fn new(list: &List, tier: Option<&str>, sort: &[(&'static Field, bool)]) -> Self {
        let primary = |descending| SortKey {
            expression: list.key.expression().to_owned(),
            class: list.key.class(),
            nullable: false,
            descending,
        };
        let key = |(field, descending): &(&'static Field, bool)| {
            if list.key.orders_like(field) {
                return primary(*descending);
            }
            SortKey {
                expression: list.expression(field).into_owned(),
                class: field.class,
                nullable: field.nullable,
                descending: *descending,
            }
        };
        let tier = tier.map(|tier| SortKey {
            expression: tier.to_owned(),
            class: Class::Number,
            nullable: false,
            descending: false,
        });
        let searched = tier.is_some().then(|| "search".to_owned());
        let mut keys: Vec<_> = tier.into_iter().chain(sort.iter().map(key)).collect();
        if keys
            .iter()
            .all(|key| key.expression != list.key.expression())
        {
            keys.push(primary(keys.last().is_some_and(|key| key.descending)));
        }
        let names = sort.iter().map(|(field, descending)| {
            format!("{}{}", if *descending { "-" } else { "" }, field.name)
        });
        let names = searched.into_iter().chain(names);
        Self {
            keys,
            name: names.collect::<Vec<_>>().join(","),
        }
    }

    /// Pushes the keys of a row as an array of text, from which a cursor is made.
    ///
    /// ```sql
    /// array[(t.name)::text, (t.id)::text]
    /// ```
    pub(super) fn push_values(&self, sql: &mut Sql) {
        sql.push("array[");
        for (n, key) in self.keys.iter().enumerate() {
            sql.push(if n > 0 { ", " } else { "" });
            let (before, after) = match key.class {
                Class::Time => (
                    "to_char(",
                    " at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')",
                ),
                _ => ("(", ")::text"),
            };
            sql.push(before);
            key.push(sql);
            sql.push(after);
        }
        sql.push("]");
    }

    /// Pushes ` order by t.created_at desc, t.id desc`.
    pub(super) fn push_order(&self, sql: &mut Sql) {
        sql.push(" order by ");
        for (n, key) in self.keys.iter().enumerate() {
            sql.push(if n > 0 { ", " } else { "" });
            key.push(sql);
            sql.push(if key.descending { " desc" } else { "" });
        }
    }

    /// Returns the keys after the first one, each with whether it descends.
    pub(super) fn within_tier(&self) -> impl Iterator<Item = (&str, bool)> {
        let keys = self.keys.iter().skip(1);
        keys.map(|key| (key.expression.as_str(), key.descending))
    }

    /// Returns the sort in words, which a cursor repeats.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Pushes the condition that a row comes after that of the cursor.
    ///
    /// ```sql
    /// (t.created_at, t.id) < ($1, $2)
    /// (t.nick < $1 or (t.nick = $1 and ((t.id is null or t.id > $2) or (t.id = $2 and false))))
    /// ```
    pub(super) fn push_after(&self, sql: &mut Sql, cursor: &str) -> Result<(), Failure> {
        let values = cursor::decode(cursor, &self.name, &self.keys)?;
        let descending = self.keys[0].descending;
        let plain = |(key, value): (&SortKey, &Option<Value>)| {
            !key.nullable && value.is_some() && key.descending == descending
        };
        if self.keys.iter().zip(&values).all(plain) {
            // A row comparison, which an index on the same keys answers directly.
            sql.push("(");
            for (n, key) in self.keys.iter().enumerate() {
                sql.push(if n > 0 { ", " } else { "" });
                key.push(sql);
            }
            sql.push(if descending { ") < (" } else { ") > (" });
            for (n, value) in values.iter().flatten().enumerate() {
                sql.push(if n > 0 { ", " } else { "" });
                push_value(sql, value);
            }
            sql.push(")");
        } else {
            push_after_each(sql, &self.keys, &values);
        }
        Ok(())
    }
}

/// Pushes that the keys are beyond the first value, or equal to it and beyond the others.
fn push_after_each(sql: &mut Sql, keys: &[SortKey], values: &[Option<Value>]) {
    let ([key, keys @ ..], [value, values @ ..]) = (keys, values) else {
        sql.push("false");
        return;
    };
    sql.push("(");
    key.push_beyond(sql, value.as_ref());
    sql.push(" or (");
    key.push_same(sql, value.as_ref());
    sql.push(" and ");
    push_after_each(sql, keys, values);
    sql.push("))");
}

impl SortKey {
    fn push(&self, sql: &mut Sql) {
        sql.push(&self.expression);
    }

    /// Nulls count as the largest value, as in Postgres' own order.
    fn push_beyond(&self, sql: &mut Sql, value: Option<&Value>) {
        match (value, self.descending) {
            (None, false) => {
                sql.push("false");
            }
            (None, true) => {
                self.push(sql);
                sql.push(" is not null");
            }
            (Some(value), false) => {
                sql.push("(");
                self.push(sql);
                sql.push(" is null or ");
                self.push(sql);
                sql.push(" > ");
                push_value(sql, value);
                sql.push(")");
            }
            (Some(value), true) => {
                self.push(sql);
                sql.push(" < ");
                push_value(sql, value);
            }
        }
    }

    fn push_same(&self, sql: &mut Sql, value: Option<&Value>) {
        self.push(sql);
        if let Some(value) = value {
            sql.push(" = ");
            push_value(sql, value);
        } else {
            sql.push(" is null");
        }
    }
}
