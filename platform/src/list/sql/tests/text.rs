//! Filters of text fields.

use super::*;

#[sqlx::test(migrations = false)]
async fn text_filters_match_patterns_and_substrings(pool: PgPool) {
    fill(&pool).await;
    let names = ["a_b", "axb", "50%", "50x", r"a\b", "CAFÉ", "it's \"x\""];
    for (name, n) in names.into_iter().zip(1_i64..) {
        let sql = "update things set name = $1, nick = $1 where id::text like '%' || lpad($2::text, 12, '0')";
        sqlx::query(sql)
            .bind(name)
            .bind(n)
            .execute(&pool)
            .await
            .unwrap();
    }
    for (raw, count) in [
        ("filter[name]=a_b", 1),
        ("filter[name]=A_B", 1),
        ("filter[nick]=A_B", 0),
        (r"filter[name]=a\b", 1),
        ("filter[name]=ilike:%25a_b%25", 3),
        (r"filter[name]=ilike:%25a\_b%25", 1),
        (r"filter[name]=ilike:50\%25", 1),
        ("filter[name]=50%25", 2),
        ("filter[name]=café", 1),
        ("filter[nick]=ilike:%25café", 1),
        ("filter[nick]=café", 0),
        ("filter[name]=it's%20%22", 1),
        ("filter[name]=", 0),
        ("filter[name]=like:", 0),
    ] {
        assert_eq!(total(&pool, raw).await, count, "{raw}");
    }
    refused(&pool, r"filter[name]=ilike:abc\").await;
}
