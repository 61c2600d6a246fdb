//! [`Amount`] as `numeric`, decoded from the wire format: a value that is not an amount (NaN, infinity,
//! 1e40, a ninth decimal) is an error, where decoders of general decimals panic or round.
//!
//! Format: `numeric_send` in PostgreSQL's `src/backend/utils/adt/numeric.c`: counts of base-10000
//! digits, weight of the first, sign, display scale, digits; all 16 bits, big-endian.

use sqlx::{
    Decode, Encode, Postgres, Type,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueFormat, PgValueRef},
    types::Decimal,
};

use super::Amount;

const POSITIVE: u16 = 0x0000;
const NEGATIVE: u16 = 0x4000;

impl Type<Postgres> for Amount {
    fn type_info() -> PgTypeInfo {
        <Decimal as Type<Postgres>>::type_info()
    }
}

impl PgHasArrayType for Amount {
    fn array_type_info() -> PgTypeInfo {
        Decimal::array_type_info()
    }
}

impl Encode<'_, Postgres> for Amount {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        for word in words(*self) {
            buffer.extend_from_slice(&word.to_be_bytes());
        }
        Ok(IsNull::No)
    }
}

impl Decode<'_, Postgres> for Amount {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        match value.format() {
            PgValueFormat::Binary => read(value.as_bytes()?),
            PgValueFormat::Text => Ok(value.as_str()?.parse()?),
        }
    }
}

/// Encodes header and digits. 8 decimals are exactly two digits after the point.
fn words(amount: Amount) -> Vec<u16> {
    let mut digits = Vec::with_capacity(7);
    let mut rest = amount.units().unsigned_abs();
    while rest > 0 {
        digits.push(u16::try_from(rest % 10_000).expect("a remainder below 10 000"));
        rest /= 10_000;
    }
    let count = u16::try_from(digits.len()).expect("28 decimal digits make 7");
    // Two of the digits are decimals, and the weight of the last integer digit is 0. The weight is
    // signed: -1 for 0.5.
    let weight = if count == 0 { 0 } else { count.wrapping_sub(3) };
    let sign = if amount.is_negative() {
        NEGATIVE
    } else {
        POSITIVE
    };
    [count, weight, sign, 8]
        .into_iter()
        .chain(digits.into_iter().rev())
        .collect()
}

fn read(bytes: &[u8]) -> Result<Amount, BoxDynError> {
    let (pairs, []) = bytes.as_chunks::<2>() else {
        return Err("a numeric with an odd number of bytes".into());
    };
    let mut words = pairs.iter().map(|pair| u16::from_be_bytes(*pair));
    let mut header = || words.next().ok_or("a numeric without header");
    let (_count, weight, sign, _scale) = (header()?, header()?, header()?, header()?);
    let mut weight = i32::from(weight.cast_signed());
    let mut units = 0_i128;
    for digit in words {
        units = add_digit(units, digit, weight)?;
        weight -= 1;
    }
    match sign {
        POSITIVE => Ok(Amount::from_units(units)?),
        NEGATIVE => Ok(Amount::from_units(-units)?),
        _ => Err("NaN or infinity is no amount".into()),
    }
}

fn add_digit(units: i128, digit: u16, weight: i32) -> Result<i128, BoxDynError> {
    if digit == 0 {
        return Ok(units);
    }
    // The weight of 10⁻⁸ is -2.
    let power = u32::try_from(weight + 2).map_err(|_| "an amount has at most 8 decimals")?;
    10_000_i128
        .checked_pow(power)
        .and_then(|scale| scale.checked_mul(digit.into()))
        .and_then(|part| units.checked_add(part))
        .ok_or_else(|| "an amount has at most 20 integer digits".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn encoded_amounts_are_decoded_again() {
        for text in [
            "0",
            "0.00000001",
            "-0.5",
            "1",
            "10000",
            "123.45",
            "-99999999999999999999.1",
        ] {
            let amount: Amount = text.parse().unwrap();
            assert_eq!(read(&bytes(&words(amount))).unwrap(), amount, "{text}");
        }
        assert_eq!(
            words("12345.5".parse().unwrap()),
            [4, 1, 0, 8, 1, 2345, 5000, 0]
        );
    }

    #[test]
    fn values_that_are_not_amounts_are_rejected() {
        for (what, words) in [
            ("NaN", vec![0, 0, 0xC000, 0]),
            ("infinity", vec![0, 0, 0xD000, 32]),
            ("-infinity", vec![0, 0, 0xF000, 32]),
            ("1e40", vec![1, 10, 0, 0, 1]),
            ("1e131000", vec![1, 32_767, 0, 0, 1]),
            ("1e20", vec![1, 5, 0, 0, 1]),
            ("0.000000001", vec![1, 0xFFFD, 0, 9, 1000]),
            ("no header", vec![0, 0]),
        ] {
            assert!(read(&bytes(&words)).is_err(), "{what}");
        }
        assert!(read(&[0, 0, 0]).is_err());
        // 40 decimals, all 0.
        assert_eq!(
            read(&bytes(&[1, 0, 0, 40, 7])).unwrap().to_string(),
            "7.00000000"
        );
    }

    #[sqlx::test(migrations = false)]
    async fn encoding_agrees_with_the_server(pool: sqlx::PgPool) {
        for text in [
            "0",
            "0.00000001",
            "-0.5",
            "10000",
            "-12345678901234567890.12345678",
        ] {
            let amount: Amount = text.parse().unwrap();
            let (same, back, all): (bool, Amount, Vec<Amount>) = sqlx::query_as(
                "select $1 = $2::text::numeric, $2::text::numeric(28, 8), array[$1, $1::numeric(28, 8)]",
            )
            .bind(amount)
            .bind(text)
            .fetch_one(&pool)
            .await
            .unwrap();
            assert!(same && back == amount && all == [amount, amount], "{text}");
        }
    }

    #[sqlx::test(migrations = false)]
    async fn hostile_numerics_are_errors(pool: sqlx::PgPool) {
        for text in [
            "NaN",
            "Infinity",
            "-Infinity",
            "1e40",
            "1e-9",
            "123456789012345678901",
        ] {
            let read = sqlx::query_scalar::<_, Amount>("select $1::text::numeric").bind(text);
            assert!(read.fetch_one(&pool).await.is_err(), "{text}");
            // The text format, that of statements which are not prepared.
            let sql = sqlx::AssertSqlSafe(format!("select '{text}'::numeric as amount"));
            let row = sqlx::raw_sql(sql).fetch_one(&pool).await.unwrap();
            assert!(
                sqlx::Row::try_get::<Amount, _>(&row, "amount").is_err(),
                "{text}"
            );
        }
        let zeros = "select array[-0::numeric, 0.0000000000000000000000000000000000000000, 7.5]";
        let zeros: Vec<Amount> = sqlx::query_scalar(zeros).fetch_one(&pool).await.unwrap();
        assert_eq!(format!("{zeros:?}"), "[0.00000000, 0.00000000, 7.50000000]");
    }
}
