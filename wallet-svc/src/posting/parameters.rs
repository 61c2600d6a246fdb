//! The parameters of a statement that takes whole tables: one array for each column of an input table.
//!
//! Names, types, numbers and values come from one list, so that they cannot disagree: the statement is
//! assembled from a template in which `:transactions.columns` stands for the names of the table's
//! columns, `:transactions.rows` for its rows as `input`, and `:now` for a single value.

use sqlx::{
    Arguments as _, Encode, Postgres, Type, TypeInfo as _,
    error::BoxDynError,
    postgres::{PgArguments, PgTypeInfo},
};

/// Parameters in the order of their numbers.
#[derive(Default)]
pub(super) struct Parameters {
    arguments: PgArguments,
    declared: Vec<Parameter>,
    error: Option<BoxDynError>,
}

struct Parameter {
    /// The input table; none for a single value.
    table: Option<&'static str>,
    name: &'static str,
    data_type: PgTypeInfo,
}

/// An input table while its columns are added.
pub(super) struct Table<'p, 'r, R> {
    parameters: &'p mut Parameters,
    name: &'static str,
    rows: &'r [R],
}

impl<'r, R> Table<'_, 'r, R> {
    /// Adds a column with a value of each row.
    pub(super) fn column<T>(self, name: &'static str, value: impl Fn(&'r R) -> T) -> Self
    where
        Vec<T>: Encode<'r, Postgres> + Type<Postgres>,
    {
        let values: Vec<T> = self.rows.iter().map(value).collect();
        self.parameters.add(Some(self.name), name, values);
        self
    }
}

impl<R> Table<'_, '_, R> {
    /// Adds a column whose values are an array already.
    pub(super) fn array<'t, T>(self, name: &'static str, values: &'t Vec<T>) -> Self
    where
        &'t Vec<T>: Encode<'t, Postgres> + Type<Postgres>,
    {
        self.parameters.add(Some(self.name), name, values);
        self
    }
}

impl Parameters {
    /// Begins an input table.
    pub(super) const fn table<'p, 'r, R>(
        &'p mut self,
        name: &'static str,
        rows: &'r [R],
    ) -> Table<'p, 'r, R> {
        Table {
            parameters: self,
            name,
            rows,
        }
    }

    /// Adds a single value.
    pub(super) fn value<'r, T>(&mut self, name: &'static str, value: T)
    where
        T: Encode<'r, Postgres> + Type<Postgres>,
    {
        self.add(None, name, value);
    }

    fn add<'r, T>(&mut self, table: Option<&'static str>, name: &'static str, value: T)
    where
        T: Encode<'r, Postgres> + Type<Postgres>,
    {
        self.declared.push(Parameter {
            table,
            name,
            data_type: T::type_info(),
        });
        if let Err(error) = self.arguments.add(value) {
            self.error.get_or_insert(error);
        }
    }

    /// Returns the encoded values.
    pub(super) fn into_arguments(self) -> Result<PgArguments, sqlx::Error> {
        match self.error {
            None => Ok(self.arguments),
            Some(error) => Err(sqlx::Error::Encode(error)),
        }
    }

    /// Fills in the template.
    pub(super) fn assemble(&self, template: &str) -> String {
        let mut statement = template.to_owned();
        for (number, parameter) in (1..).zip(&self.declared) {
            let Some(table) = parameter.table else {
                let placeholder = format!(":{}", parameter.name);
                statement = statement.replace(&placeholder, &parameter.text(number));
                continue;
            };
            // All columns of the table are filled in with its first.
            let columns: Vec<_> = (1..)
                .zip(&self.declared)
                .filter(|(_, other)| other.table == Some(table))
                .collect();
            let names = columns.iter().map(|(_, column)| column.name);
            let names = names.collect::<Vec<_>>().join(", ");
            let arrays = columns.iter().map(|(number, column)| column.text(*number));
            let arrays = arrays.collect::<Vec<_>>().join(", ");
            let rows = format!("unnest({arrays}) as input ({names})");
            statement = statement
                .replace(&format!(":{table}.columns"), &names)
                .replace(&format!(":{table}.rows"), &rows);
        }
        statement
    }

    /// Lists the parameters: `$1 transactions.id uuid[]`.
    #[cfg(test)]
    pub(super) fn listing(&self) -> Vec<String> {
        let line = |(number, parameter): (usize, &Parameter)| {
            let table = parameter.table.map(|table| format!("{table}."));
            let (table, name) = (table.unwrap_or_default(), parameter.name);
            format!("${number} {table}{name} {}", parameter.type_name())
        };
        (1..).zip(&self.declared).map(line).collect()
    }
}

impl Parameter {
    fn type_name(&self) -> String {
        self.data_type.name().to_lowercase()
    }

    fn text(&self, number: usize) -> String {
        format!("${number}::{}", self.type_name())
    }
}
