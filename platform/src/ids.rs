//! Identifiers: [`Id`] is typed by its resource, [`Ids`] generates new ones.

mod time;

use std::{
    any::type_name,
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    marker::PhantomData,
    str::FromStr,
    sync::{
        Arc,
        atomic::{self, AtomicU64},
    },
};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sqlx::{
    Decode, Encode, Postgres, Type,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueRef},
};
use uuid::Uuid;

pub use self::time::{first_id_of, with_time};
use crate::error::{FieldCode, InvalidValue};

/// The id of a `T`: a UUID, written as 36 lower-case characters.
///
/// ```
/// # use platform::ids::Id;
/// struct Product;
/// let id = Id::<Product>::parse("01920000-AAAA-7000-8000-000000000001").unwrap();
/// assert_eq!(id.to_string(), "01920000-aaaa-7000-8000-000000000001");
/// ```
pub struct Id<T>(Uuid, PhantomData<fn() -> T>);

impl<T> Id<T> {
    /// Wraps a UUID that identifies a `T`.
    pub const fn new(uuid: Uuid) -> Self {
        Self(uuid, PhantomData)
    }

    /// Parses the hyphenated form of 36 characters, in any case, and no other.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        parse_uuid(text).map(Self::new)
    }

    /// Returns the untyped UUID.
    pub const fn uuid(self) -> Uuid {
        self.0
    }
}

/// Parses an untyped id in the form of [`Id::parse`].
pub fn parse_uuid(text: &str) -> Result<Uuid, InvalidValue> {
    // Of the forms that the uuid crate accepts, only the hyphenated one has 36 characters.
    (text.len() == 36)
        .then(|| Uuid::try_parse(text).ok())
        .flatten()
        .ok_or_else(|| InvalidValue::new(FieldCode::Format, "must be a UUID of 36 characters"))
}

// Not derived, because derives require the same traits of `T`.
impl<T> Copy for Id<T> {}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T> Eq for Id<T> {}

impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<T> fmt::Display for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = type_name::<T>().rsplit("::").next().unwrap_or_default();
        write!(f, "Id<{kind}>({self})")
    }
}

impl<T> FromStr for Id<T> {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl<T> From<Id<T>> for String {
    fn from(id: Id<T>) -> Self {
        id.to_string()
    }
}

impl<T> Serialize for Id<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, T> Deserialize<'de> for Id<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl<T> Type<Postgres> for Id<T> {
    fn type_info() -> PgTypeInfo {
        <Uuid as Type<Postgres>>::type_info()
    }
}

impl<T> PgHasArrayType for Id<T> {
    fn array_type_info() -> PgTypeInfo {
        Uuid::array_type_info()
    }
}

impl<T> Encode<'_, Postgres> for Id<T> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        self.0.encode_by_ref(buffer)
    }
}

impl<T> Decode<'_, Postgres> for Id<T> {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        <Uuid as Decode<Postgres>>::decode(value).map(Self::new)
    }
}

/// A generator of ids and codes. Clones share its state.
#[derive(Debug, Clone)]
pub struct Ids(Source);

#[derive(Debug, Clone)]
enum Source {
    System,
    Seeded { seed: u64, count: Arc<AtomicU64> },
}

/// Crockford's base 32: no I, L, O, U.
const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

impl Ids {
    /// Creates a generator of `UUIDv7` from the system's clock and randomness.
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// Creates a generator that returns the same ids for the same seed, for tests.
    pub fn seeded(seed: u64) -> Self {
        Self(Source::Seeded {
            seed,
            count: Arc::default(),
        })
    }

    /// Generates an id. Ids of one generator sort in the order of their generation.
    pub fn next<T>(&self) -> Id<T> {
        Id::new(self.uuid())
    }

    /// Generates an untyped id.
    #[expect(clippy::disallowed_methods, reason = "this is where ids come from")]
    pub fn uuid(&self) -> Uuid {
        match &self.0 {
            Source::System => Uuid::now_v7(),
            Source::Seeded { seed, count } => {
                let n = count.fetch_add(1, atomic::Ordering::Relaxed);
                let mut random = [0; 10];
                random[..8].copy_from_slice(&split_mix(*seed, n).to_be_bytes());
                uuid::Builder::from_unix_timestamp_millis(1_700_000_000_000 + n, &random)
                    .into_uuid()
            }
        }
    }

    /// Generates 32 random bytes that nobody can guess; the same for the same seed, in tests.
    pub fn secret(&self) -> [u8; 32] {
        let Source::Seeded { seed, count } = &self.0 else {
            return rand::random();
        };
        let mut bytes = [0; 32];
        for chunk in bytes.chunks_exact_mut(8) {
            let n = count.fetch_add(1, atomic::Ordering::Relaxed);
            chunk.copy_from_slice(&split_mix(*seed, n).to_be_bytes());
        }
        bytes
    }

    /// Generates a code of up to 12 random characters of Crockford's base 32.
    pub fn code(&self, length: usize) -> String {
        assert!(length <= 12, "a code of {length} characters");
        encode(self.random_bits(), length).collect()
    }

    /// Generates a code of 16 characters of Crockford's base 32: 7 for the seconds of the time, 9 random ones.
    /// Codes sort by their seconds, so that an index on them grows at its end.
    pub fn time_ordered_code(&self, time: DateTime<Utc>) -> String {
        const SECONDS: usize = 7;
        const RANDOM: usize = 9;
        let seconds = u64::try_from(time.timestamp()).unwrap_or(0);
        // The first character is of the highest bits.
        let seconds = encode(seconds, SECONDS).rev();
        seconds.chain(encode(self.random_bits(), RANDOM)).collect()
    }

    #[expect(clippy::disallowed_methods, reason = "this is where codes come from")]
    fn random_bits(&self) -> u64 {
        match &self.0 {
            Source::System => Uuid::new_v4().as_u64_pair().1,
            Source::Seeded { seed, count } => {
                split_mix(*seed, count.fetch_add(1, atomic::Ordering::Relaxed))
            }
        }
    }
}

/// Encodes the lowest bits of a number, those of the first character first.
fn encode(bits: u64, length: usize) -> impl DoubleEndedIterator<Item = char> {
    (0..length).map(move |n| char::from(CROCKFORD[(bits >> (5 * n) & 31) as usize]))
}

/// Hashes a counter with the finalizer of `SplitMix64` (Steele, Lea, Flood 2014).
const fn split_mix(seed: u64, n: u64) -> u64 {
    let mut z = seed.wrapping_add(n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    struct Product;

    #[test]
    fn only_the_hyphenated_form_is_parsed() {
        let id = Id::<Product>::parse("0192ABCD-0000-7000-8000-00000000000f").unwrap();
        assert_eq!(id.to_string(), "0192abcd-0000-7000-8000-00000000000f");
        assert_eq!(
            format!("{id:?}"),
            "Id<Product>(0192abcd-0000-7000-8000-00000000000f)"
        );
        for other in [
            "",
            "0192abcd00007000800000000000000f",
            "{0192abcd-0000-7000-8000-00000000000f}",
            "urn:uuid:0192abcd-0000-7000-8000-00000000000f",
            "0192abcd-0000-7000-8000-00000000000",
            "0192abcd-0000-7000-8000-00000000000g",
            "0192abcd_0000_7000_8000_00000000000f",
            " 192abcd-0000-7000-8000-00000000000f",
            "0192abcd-00007-000-8000-00000000000f",
            "{192abcd-0000-7000-8000-0000000000f}",
        ] {
            assert!(Id::<Product>::parse(other).is_err(), "{other}");
        }
    }

    #[test]
    fn json_form_is_the_text() {
        let id = Ids::seeded(1).next::<Product>();
        let json = serde_json::to_string(&id).unwrap();
        assert_eq!(json, format!("\"{id}\""));
        assert_eq!(serde_json::from_str::<Id<Product>>(&json).unwrap(), id);
        assert!(serde_json::from_str::<Id<Product>>("\"x\"").is_err());
    }

    #[test]
    fn generated_ids_are_distinct_and_ordered() {
        for ids in [Ids::system(), Ids::seeded(7)] {
            let made: Vec<_> = (0..1000).map(|_| ids.next::<Product>()).collect();
            assert!(made.is_sorted() && made.iter().collect::<HashSet<_>>().len() == 1000);
            assert!(made.iter().all(|id| id.uuid().get_version_num() == 7));
        }
        assert_eq!(Ids::seeded(7).uuid(), Ids::seeded(7).uuid());
        assert_ne!(Ids::seeded(7).uuid(), Ids::seeded(8).uuid());
    }

    #[test]
    fn secrets_differ_unless_they_have_the_same_seed() {
        for ids in [Ids::system(), Ids::seeded(7)] {
            let made: HashSet<_> = (0..1000).map(|_| ids.secret()).collect();
            assert_eq!(made.len(), 1000);
        }
        assert_eq!(Ids::seeded(7).secret(), Ids::seeded(7).secret());
        assert_ne!(Ids::seeded(7).secret(), Ids::seeded(8).secret());
    }

    #[test]
    fn codes_consist_of_crockford_characters() {
        for ids in [Ids::system(), Ids::seeded(7)] {
            let made: HashSet<_> = (0..1000).map(|_| ids.code(12)).collect();
            assert_eq!(made.len(), 1000);
            assert!(
                made.iter()
                    .all(|c| c.bytes().all(|b| CROCKFORD.contains(&b)))
            );
        }
    }

    #[test]
    fn time_ordered_codes_sort_by_their_seconds() {
        let ids = Ids::system();
        let codes = |seconds| {
            let time = DateTime::from_timestamp(seconds, 0).unwrap();
            (0..100).map(|_| ids.time_ordered_code(time)).collect()
        };
        let times = [0, 1, 31, 32, 1_764_547_200, 1_764_547_201, 33_000_000_000];
        let made: Vec<Vec<String>> = times.map(codes).into();
        for [earlier, later] in made.array_windows() {
            assert!(earlier.iter().max() < later.iter().min());
        }
        let distinct: HashSet<_> = made.iter().flatten().collect();
        assert_eq!(distinct.len(), 700);
        assert!(distinct.iter().all(|code| code.len() == 16));
    }
}
