//! Tests of hashing.

use super::*;

const COST: HashingCost = HashingCost {
    memory: 19_456,
    passes: 2,
    lanes: 1,
};

fn hasher() -> Hasher {
    Hasher::with_parallel(COST, 1).unwrap()
}

fn password(text: &str) -> Password {
    Password::parse(text).unwrap()
}

async fn matches(hasher: &Hasher, text: &str, hash: Option<&str>) -> bool {
    let attempt = PasswordAttempt::parse(text).unwrap();
    hasher.verify(&attempt, hash).await.unwrap().matches
}

#[tokio::test]
async fn hashes_cover_every_character_and_any_normal_form() {
    let (hasher, common) = (hasher(), format!("Aa1{}", "x".repeat(96)));
    let composed = password(&format!("{common}\u{e9}"));
    let hash = hasher.hash(&composed).await.unwrap();
    assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
    for (text, expected) in [
        (format!("{common}\u{e9}"), true),
        (format!("{common}e\u{301}"), true),
        (format!("{common}e"), false),
        (common, false),
        (String::new(), false),
    ] {
        assert_eq!(
            matches(&hasher, &text, Some(&hash)).await,
            expected,
            "{text}"
        );
    }
}

#[tokio::test]
async fn without_a_hash_no_password_matches_at_the_cost_of_one() {
    for cost in [COST, HashingCost { lanes: 2, ..COST }] {
        let hasher = Hasher::with_parallel(cost, 1).unwrap();
        for text in ["", "Abcdefg1"] {
            let attempt = PasswordAttempt::parse(text).unwrap();
            let verified = hasher.verify(&attempt, None).await.unwrap();
            let expected = Verified {
                matches: false,
                is_outdated: false,
            };
            assert_eq!(verified, expected, "{text}");
        }
    }
    let (dummy, hash) = (dummy(COST), hasher().hash(&password("Abcdefg1")).await);
    assert_eq!(dummy.len(), hash.unwrap().len());
}

#[tokio::test]
async fn a_hash_is_outdated_once_the_cost_has_grown() {
    let attempt = PasswordAttempt::parse("Abcdefg1").unwrap();
    let old = hasher().hash(&password("Abcdefg1")).await.unwrap();
    for (cost, is_outdated) in [
        (COST, false),
        (
            HashingCost {
                memory: 20_000,
                ..COST
            },
            true,
        ),
        (HashingCost { passes: 3, ..COST }, true),
        (HashingCost { lanes: 2, ..COST }, true),
        (HashingCost { passes: 1, ..COST }, false),
    ] {
        let now = Hasher::with_parallel(cost, 1).unwrap();
        let verified = now.verify(&attempt, Some(&old)).await.unwrap();
        let expected = Verified {
            matches: true,
            is_outdated,
        };
        assert_eq!(verified, expected, "{cost:?}");
    }
}

#[test]
fn an_impossible_cost_is_refused() {
    assert!(Hasher::new(HashingCost { memory: 1, ..COST }).is_err());
    assert!(Hasher::new(HashingCost { passes: 0, ..COST }).is_err());
}

#[tokio::test]
async fn a_malformed_hash_is_a_fault() {
    let attempt = PasswordAttempt::parse("Abcdefg1").unwrap();
    let result = hasher().verify(&attempt, Some("plain")).await;
    assert_eq!(Failure::from(result.unwrap_err()).code, Code::Internal);
}

fn code(result: Result<String>) -> Code {
    Failure::from(result.unwrap_err()).code
}

#[tokio::test]
async fn more_than_can_wait_are_refused_at_once() {
    let hasher = hasher();
    let password = password("Abcdefg1");
    let busy = Arc::clone(&hasher.permits).acquire_owned().await.unwrap();
    let mut waiting: Vec<_> = (0..=MAX_WAITING)
        .map(|_| Box::pin(hasher.hash(&password)))
        .collect();
    for hash in &mut waiting {
        assert!(futures::poll!(hash).is_pending());
    }
    let refused = Failure::from(hasher.hash(&password).await.unwrap_err());
    assert_eq!(refused.code, Code::Unavailable);
    assert!(refused.retry_after.is_some());
    drop(busy);
    waiting.swap_remove(0).await.unwrap();
    drop(waiting);
    hasher.hash(&password).await.unwrap();
}

#[tokio::test]
async fn a_request_without_time_hashes_nothing() {
    let hasher = hasher();
    let password = password("Abcdefg1");
    let soon = tokio::time::Instant::now() + LEAST_TIME / 2;
    let late = deadline::within(Some(soon), hasher.hash(&password)).await;
    assert_eq!(code(late), Code::Timeout);
    assert_eq!(hasher.places.available_permits(), 1 + MAX_WAITING);
}
