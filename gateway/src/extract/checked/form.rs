//! The forms of texts. Their checks are those of the services, so that both refuse in the same words.

use platform::{
    error::{FieldCode, InvalidValue},
    ids, money, rank, text,
};
use serde_json::{Value, json};
use utoipa::openapi::{KnownFormat, ObjectBuilder, SchemaFormat};

use super::Form;

/// The grammar of amounts, rates and percentages.
const DECIMAL: &str = r"^(0|[1-9][0-9]{0,18})(\.[0-9]{1,8})?$";
/// The grammar of positions in an order.
const RANK: &str = r"^[0-9]{1,20}(\.[0-9]{1,40})?$";

#[derive(Debug, Clone)]
pub(crate) enum Id {}

#[derive(Debug, Clone)]
pub(crate) enum Amount {}

#[derive(Debug, Clone)]
pub(crate) enum PositiveAmount {}

#[derive(Debug, Clone)]
pub(crate) enum Rate {}

#[derive(Debug, Clone)]
pub(crate) enum Percent {}

#[derive(Debug, Clone)]
pub(crate) enum Rank {}

#[derive(Debug, Clone)]
pub(crate) enum AssetCode {}

/// A text of `MIN` to `MAX` characters.
#[derive(Debug, Clone)]
pub(crate) enum Length<const MIN: usize, const MAX: usize> {}

impl Form for Id {
    const NAME: &'static str = "Id";

    fn check(text: &str) -> Result<(), InvalidValue> {
        ids::parse_uuid(text).map(drop)
    }

    fn describe(schema: ObjectBuilder) -> ObjectBuilder {
        let schema = schema.format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)));
        with(
            schema,
            "The id of a resource, in any case.",
            json!("01927b3a-5f10-7c3e-9a41-2f6d8e0b1c57"),
        )
    }
}

impl Form for Amount {
    const NAME: &'static str = "Amount";

    fn check(text: &str) -> Result<(), InvalidValue> {
        money::Amount::parse(text).map(drop)
    }

    fn describe(schema: ObjectBuilder) -> ObjectBuilder {
        with(
            schema.pattern(Some(DECIMAL)),
            "Decimal text, 0 or more, with at most as many decimals as the asset has.",
            json!("12.50"),
        )
    }
}

impl Form for PositiveAmount {
    const NAME: &'static str = "PositiveAmount";

    fn check(text: &str) -> Result<(), InvalidValue> {
        money::Amount::parse_positive(text).map(drop)
    }

    fn describe(schema: ObjectBuilder) -> ObjectBuilder {
        with(
            schema.pattern(Some(DECIMAL)),
            "Decimal text, more than 0, with at most as many decimals as the asset has.",
            json!("12.50"),
        )
    }
}

impl Form for Rate {
    const NAME: &'static str = "ExchangeRate";

    fn check(text: &str) -> Result<(), InvalidValue> {
        money::Rate::parse(text).map(drop)
    }

    fn describe(schema: ObjectBuilder) -> ObjectBuilder {
        with(
            schema.pattern(Some(DECIMAL)),
            "Price of one unit of the base asset in the quote asset: decimal text, more than 0.",
            json!("0.01"),
        )
    }
}

impl Form for Percent {
    const NAME: &'static str = "Percent";

    fn check(text: &str) -> Result<(), InvalidValue> {
        money::Percent::parse(text).map(drop)
    }

    fn describe(schema: ObjectBuilder) -> ObjectBuilder {
        with(
            schema.pattern(Some(DECIMAL)),
            "A percentage, 0 to 100, as decimal text.",
            json!("21"),
        )
    }
}

impl Form for Rank {
    const NAME: &'static str = "Rank";

    fn check(text: &str) -> Result<(), InvalidValue> {
        rank::Rank::parse(text).map(drop)
    }

    fn describe(schema: ObjectBuilder) -> ObjectBuilder {
        with(
            schema.pattern(Some(RANK)),
            "Position in the order of its list: decimal text. By default the item is the last.",
            json!("3"),
        )
    }
}

impl Form for AssetCode {
    const NAME: &'static str = "AssetCode";

    fn check(text: &str) -> Result<(), InvalidValue> {
        let fits = text.len() <= 16 && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if text.is_empty() {
            Err(InvalidValue::new(FieldCode::Required, "is required"))
        } else if fits {
            Ok(())
        } else {
            let message = "must be 1 to 16 letters (a to z, A to Z) and digits";
            Err(InvalidValue::new(FieldCode::Format, message))
        }
    }

    fn describe(schema: ObjectBuilder) -> ObjectBuilder {
        with(
            schema.pattern(Some("^[A-Za-z0-9]{1,16}$")),
            "1 to 16 letters and digits; kept as written, unique without regard to case.",
            json!("gold"),
        )
    }
}

impl<const MIN: usize, const MAX: usize> Form for Length<MIN, MAX> {
    const NAME: &'static str = match (MIN, MAX) {
        (0, 16) => "Symbol",
        (0, 255) => "Name",
        (1, 255) => "Title",
        (0, 1_000) => "Note",
        (0, 2_048) => "Text",
        (0, 10_000) => "Description",
        (1, 10_000) => "OrderNoteText",
        _ => panic!("a length without a name"),
    };

    fn check(text: &str) -> Result<(), InvalidValue> {
        if MIN > 0 && text.is_empty() {
            return Err(InvalidValue::new(FieldCode::Required, "is required"));
        }
        text::check(text, MIN..=MAX)
    }

    fn describe(schema: ObjectBuilder) -> ObjectBuilder {
        let schema = schema.max_length(Some(MAX));
        if MIN == 0 {
            with(
                schema,
                &format!("At most {MAX} characters."),
                json!("Coffee"),
            )
        } else {
            let about = format!("{MIN} to {MAX} characters.");
            with(schema.min_length(Some(MIN)), &about, json!("Coffee"))
        }
    }
}

fn with(schema: ObjectBuilder, description: &str, example: Value) -> ObjectBuilder {
    schema.description(Some(description)).examples([example])
}
