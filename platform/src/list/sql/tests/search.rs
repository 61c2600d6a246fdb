//! Searches, whose rows come in tiers.

use super::*;

/// Thing `n` of 6 000. All are codes, every third is a lamp by name, every fifth by code only, and
/// one of all has a name of its own.
async fn fill_with_lamps(pool: &PgPool) {
    fill(pool).await;
    let sql = "
        delete from things;
        insert into things
        select
            ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid,
            case when n = 5 then 'Unique' when n % 3 = 0 then 'Lamp' else 'Thing' end, null,
            case when n % 5 = 0 then 'lamp code' else 'code' end, null,
            n % 10, n, true, '{}', null, null, null,
            timestamptz '2026-01-31T10:00:00Z' - n / 2 * interval '1 s', null
        from generate_series(1, 6000) as n";
    sqlx::raw_sql(sql).execute(pool).await.unwrap();
}

/// The numbers of the things that a search finds, and how many they are said to be.
async fn found(pool: &PgPool, query: &str, size: usize) -> (Vec<u32>, u64) {
    let (seen, total) = visited(pool, &things(), query, size).await;
    // The digits are decimal, as `lpad` wrote them.
    let number = |id: Uuid| format!("{:x}", id.as_u128() & 0xffff_ffff).parse().unwrap();
    (seen.into_iter().map(number).collect(), total)
}

#[sqlx::test(migrations = false)]
async fn a_search_gives_the_best_first_whether_few_or_many(pool: PgPool) {
    fill_with_lamps(&pool).await;
    let lamps = (1..=6000).filter(|n| *n != 5 && n % 3 == 0);
    // `-createdAt`, and of two made at once the later id.
    let later = |n: &u32| (n / 2, std::cmp::Reverse(*n));
    let mut lamps: Vec<u32> = lamps.collect();
    lamps.sort_by_key(later);
    let mut others: Vec<u32> = (1..=6000).filter(|n| n % 5 == 0 && n % 3 > 0).collect();
    others.sort_by_key(later);
    let expected: Vec<_> = lamps.iter().chain(&others).copied().collect();
    let (seen, all) = found(&pool, "filter[search]=lam", 700).await;
    assert_eq!(all, 2800);
    assert_eq!(seen, expected);

    for (query, expected) in [
        ("filter[search]=unique", vec![5]),
        (
            "filter[search]=lamp%20code&filter[amount]=0&filter[quantity]=gte:5990",
            vec![5990, 6000],
        ),
        (
            "filter[search]=lamp&filter[quantity]=lt:10",
            vec![3, 6, 9, 5],
        ),
        (
            "filter[search]=lamp&filter[quantity]=lt:10&sort=-quantity",
            vec![9, 6, 5, 3],
        ),
        ("filter[search]=nothing", vec![]),
    ] {
        let (seen, all) = found(&pool, query, 2).await;
        assert_eq!(seen, expected, "{query}");
        assert_eq!(all, expected.len() as u64, "{query}");
    }
    assert_eq!(total(&pool, "filter[search]=parent").await, 0);
    let sql =
        "update things set origin_id = '00000000-0000-7000-8000-0000000000aa' where quantity < 8";
    sqlx::raw_sql(sql).execute(&pool).await.unwrap();
    let (seen, _) = found(&pool, "filter[search]=lamp%20par", 3).await;
    assert_eq!(seen, [3, 5, 6]);
}
