//! Conditions on any of several columns, whose rows are read in branches.

use super::{search::ByNameOrCode, *};

const BOTH: Uuid = Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_00bb);

/// Where `bb` is the origin of every fourth thing and the target of every third.
async fn fill_sides(pool: &PgPool) {
    fill(pool).await;
    let sql = "
        update things set
            origin_id = case when numbered.n % 4 = 0 then $1 else origin_id end,
            target_id = case when numbered.n % 3 = 0 then $1 else target_id end
        from (select id, right(id::text, 12)::bigint as n from things) numbered
        where numbered.id = things.id";
    sqlx::query(sql).bind(BOTH).execute(pool).await.unwrap();
}

/// All rows of a list, of which there are `total`.
async fn all(pool: &PgPool, list: &List, query: &str, total: u64) -> Vec<Uuid> {
    let (seen, counted) = visited(pool, list, query, 7).await;
    assert_eq!(counted, total, "{query}");
    seen
}

#[sqlx::test(migrations = false)]
async fn every_sort_pages_through_each_row_of_any_column_once(pool: PgPool) {
    fill_sides(&pool).await;
    let (aa, bb) = (
        "00000000-0000-7000-8000-0000000000aa",
        "00000000-0000-7000-8000-0000000000bb",
    );
    let more: Vec<_> = (10..20).map(|n| format!(",{}{n}", &bb[..34])).collect();
    for (filter, rows) in [
        (format!("={bb}"), 50),
        (format!("=in:{bb}"), 50),
        (format!("=in:{bb},{aa},{bb}"), 52),
        (format!("=in:{bb},{aa}{}", more.concat()), 52),
    ] {
        for sort in [
            "createdAt",
            "-createdAt",
            "-quantity",
            "-nick",
            "active,-paidAt",
            "-nick,paidAt,-amount",
        ] {
            let query = format!("filter[walletId]{filter}&sort={sort}");
            let found = all(&pool, &things(), &query, rows).await;
            // The same, as one condition.
            let whole = things().only_with(
                "? in (t.origin_id, t.target_id)
                 or right(t.id::text, 12) in ('000000000001', '000000000002')",
                Some(BOTH),
            );
            let query = format!("sort={sort}");
            let mut expected = all(&pool, &whole, &query, 52).await;
            if rows == 50 {
                expected.retain(|id| id.as_u128() & 0xffff > 2);
            }
            assert_eq!(found, expected, "{filter} {sort}");
        }
    }
}

#[sqlx::test(migrations = false)]
async fn conditions_on_any_of_several_columns_combine(pool: PgPool) {
    fill_sides(&pool).await;
    let columns = &["t.origin_id", "t.target_id"];
    let aa = Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_00aa);
    let own = |ids: &[Uuid]| things().only_any_of(columns, Some(ids.to_vec()));
    let searched = |text: &str| own(&[BOTH]).search(Some(ByNameOrCode(text.into())));
    for (list, query, rows) in [
        (own(&[BOTH]), String::new(), 50),
        (own(&[BOTH, aa]), String::new(), 52),
        (own(&[]), String::new(), 0),
        (own(&[BOTH, aa]), format!("filter[walletId]={aa}"), 2),
        (own(&[BOTH]), format!("filter[walletId]={aa}"), 0),
        (own(&[BOTH, aa]), format!("filter[walletId]=nin:{aa}"), 50),
        (own(&[BOTH, aa]), "filter[walletId]=in:".to_owned(), 0),
        (own(&[BOTH]), "filter[active]=true".to_owned(), 33),
        (searched("Code"), "filter[search]=Code".to_owned(), 50),
        (searched("Code12"), "filter[search]=Code12".to_owned(), 1),
        (
            searched("Code12"),
            "filter[search]=Code12&sort=-amount".to_owned(),
            1,
        ),
        (
            things().only_any_of(columns, None::<Vec<Uuid>>),
            String::new(),
            100,
        ),
    ] {
        all(&pool, &list, &query, rows).await;
    }
}
