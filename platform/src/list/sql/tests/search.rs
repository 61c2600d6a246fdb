//! Lists with a search.

use super::*;

/// Finds things by their names, and after them those by their codes.
#[derive(Debug)]
pub(super) struct ByNameOrCode(pub(super) String);

impl ByNameOrCode {
    fn push_like(&self, sql: &mut Sql, column: &str) {
        let pattern = format!("{}%", self.0);
        sql.push(format_args!("{column} like ")).push_bind(pattern);
    }

    fn push_tier(&self, sql: &mut Sql, tier: &str, condition: &str) {
        sql.push(format_args!("{condition} "));
        self.push_like(sql, if tier == "0" { "t.name" } else { "t.code" });
    }
}

impl Search for ByNameOrCode {
    fn push_condition(&self, sql: &mut Sql) {
        sql.push("(");
        self.push_like(sql, "t.name");
        sql.push(" or ");
        self.push_like(sql, "t.code");
        sql.push(")");
    }

    fn push_tiers(&self, sql: &mut Sql, page: &SearchPage<'_>) -> Result<(), Failure> {
        for (tier, start) in [("0", "with"), ("1", ",")] {
            let rows = page.tier(tier);
            sql.push(format_args!("{start} tier_{tier} as (select "));
            rows.push_keys(sql);
            sql.push(" from things t where true");
            rows.push_conditions(sql)?;
            self.push_tier(sql, tier, " and");
            if tier == "1" {
                self.push_tier(sql, "0", " and not");
            }
            rows.push_order(sql);
            sql.push(" limit ").push_bind(page.limit_with_lookahead());
            sql.push(") ");
        }
        Ok(())
    }

    fn push_join(&self, sql: &mut Sql) {
        sql.push(
            " join (select 0::numeric as tier, id from tier_0 \
             union all select 1::numeric, id from tier_1) as found on found.id = t.id",
        );
    }
}

#[sqlx::test(migrations = false)]
async fn a_search_puts_its_tiers_in_order_unless_sorted(pool: PgPool) {
    fill(&pool).await;
    let sql = "update things set name = 'Code by name' where quantity = 5";
    sqlx::raw_sql(sql).execute(&pool).await.unwrap();
    let list = things().search(Some(ByNameOrCode("Code".into())));
    let (seen, total) = visited(&pool, &list, "filter[search]=Code", 7).await;
    assert_eq!((seen.len(), total), (100, 100));
    let (by_name, _) = visited(&pool, &things(), "filter[name]=Code", 7).await;
    assert_eq!((&seen[..9], by_name.len()), (&by_name[..], 9));

    let (sorted, _) = visited(&pool, &list, "filter[search]=Code&sort=amount", 7).await;
    let (all, _) = visited(&pool, &things(), "sort=amount", 7).await;
    assert_eq!(sorted, all);
}

#[sqlx::test(migrations = false)]
async fn a_text_needs_a_search(pool: PgPool) {
    fill(&pool).await;
    let failure = page(&pool, "filter[search]=Code").await.unwrap_err();
    assert_eq!(failure.code, Code::Internal);
}
