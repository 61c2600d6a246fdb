//! The disk that the ledger takes.

use super::{
    fill::TABLES,
    point::{Group, Point},
};
use crate::environment::Environment;

const MEGABYTE: f64 = 1024.0 * 1024.0;

/// The names of each of [`TABLES`] and of its indexes.
const NAMES: [[&str; 2]; 3] = [
    ["transactions", "transactionsIndexes"],
    ["movements", "movementsIndexes"],
    ["changes", "changesIndexes"],
];

/// Adds the sizes of tables and indexes to the point.
pub async fn measure(environment: &Environment, point: &mut Point) -> anyhow::Result<()> {
    let sizes =
        "select pg_table_size(name::regclass)::float8, pg_indexes_size(name::regclass)::float8
                 from unnest($1::text[]) with ordinality as tables (name, number)
                 order by number";
    let sizes = sqlx::query_as(sizes).bind(TABLES);
    let mut conn = environment.connect(None).await?;
    let sizes: Vec<(f64, f64)> = sizes.fetch_all(&mut conn).await?;
    let all: f64 = sizes.iter().map(|(table, indexes)| table + indexes).sum();
    let named = NAMES.into_iter().zip(sizes);
    let mut figures: Vec<_> = named
        .flat_map(|([table, indexes], size)| [(table, size.0), (indexes, size.1)])
        .map(|(name, bytes)| (name, Some(bytes / MEGABYTE)))
        .collect();
    figures.push(("all", Some(all / MEGABYTE)));
    point.groups.push(Group {
        name: "disk",
        title: "disk, MB",
        figures,
    });
    Ok(())
}
