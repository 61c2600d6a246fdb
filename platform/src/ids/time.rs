//! The time of a `UUIDv7`: its first 48 bits, in milliseconds (RFC 9562, section 5.7).

use chrono::{DateTime, Utc};
use uuid::Uuid;

const MAX_MILLIS: u64 = (1 << 48) - 1;
const BITS_AFTER_TIME: u32 = 80;

/// Returns the smallest UUID that starts with this time. All of version 7 with this time or a later one are
/// greater. Times before 1970 count as its start.
pub fn first_id_of(time: DateTime<Utc>) -> Uuid {
    let millis = u64::try_from(time.timestamp_millis()).unwrap_or(0);
    Uuid::from_u128(u128::from(millis.min(MAX_MILLIS)) << BITS_AFTER_TIME)
}

/// Returns an id with this time and the other bits of `id`.
pub fn with_time(id: Uuid, time: DateTime<Utc>) -> Uuid {
    let others = id.as_u128() & ((1 << BITS_AFTER_TIME) - 1);
    Uuid::from_u128(first_id_of(time).as_u128() | others)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::ids::Ids;

    fn at(millis: i64) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(millis).unwrap()
    }

    #[test]
    fn ids_of_a_time_lie_between_the_first_of_it_and_of_the_next() {
        let ids = Ids::system();
        let time = at(1_764_547_200_123);
        for id in (0..100).map(|_| with_time(ids.uuid(), time)) {
            assert_eq!(id.get_version_num(), 7);
            assert!(first_id_of(time) < id);
            assert!(id < first_id_of(time + TimeDelta::milliseconds(1)));
        }
    }

    #[test]
    fn a_fraction_of_a_millisecond_is_cut_off() {
        let time = at(1_764_547_200_123);
        let later = time + TimeDelta::microseconds(999);
        assert_eq!(first_id_of(later), first_id_of(time));
    }

    #[test]
    fn times_outside_of_the_range_are_its_ends() {
        assert_eq!(first_id_of(at(-1)), Uuid::nil());
        let last = first_id_of(DateTime::<Utc>::MAX_UTC);
        assert_eq!(last.to_string(), "ffffffff-ffff-0000-0000-000000000000");
    }

    #[test]
    fn the_other_bits_stay() {
        let id = Uuid::from_u128(u128::MAX);
        let dated = with_time(id, at(1));
        assert_eq!(dated.to_string(), "00000000-0001-ffff-ffff-ffffffffffff");
    }
}
