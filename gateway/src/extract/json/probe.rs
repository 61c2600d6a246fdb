//! Asks a type about one place of a body: the type reads a body that holds nothing but the way to
//! this place, and only what happens there counts. The rest is missing, which is no fault of it.

use serde::{
    Deserializer,
    de::{
        DeserializeOwned, DeserializeSeed, Error as _, IntoDeserializer as _, MapAccess, SeqAccess,
        Visitor,
        value::{StrDeserializer, UnitDeserializer},
    },
    forward_to_deserialize_any,
};
use serde_json::Error;

use super::SEPARATOR;

/// A step from a value into it.
#[derive(Debug)]
pub(super) enum Step {
    Key(String),
    Item(usize),
}

/// Parses the text of a value as the type does at this place.
pub(super) fn parse<T: DeserializeOwned>(path: &[Step], text: &str) -> Result<(), Error> {
    let mut answer = Ok(());
    ask::<T>(path, Question::Value(text, &mut answer));
    answer
}

/// Returns whether the type needs a value at this place. A field with a default does not, though it
/// may refuse `null`, with a message of its own.
pub(super) fn is_needed<T: DeserializeOwned>(path: &[Step]) -> bool {
    let mut answer = Ok(());
    ask::<T>(path, Question::Absence(&mut answer));
    answer.is_err_and(|refusal| !refusal.to_string().contains(SEPARATOR))
}

/// Returns the fields of the object that the type reads at this place.
pub(super) fn fields<T: DeserializeOwned>(path: &[Step]) -> Option<&'static [&'static str]> {
    let mut answer = None;
    ask::<T>(path, Question::Fields(&mut answer));
    answer
}

fn ask<'de, T: DeserializeOwned>(path: &'de [Step], question: Question<'de>) {
    // The result says nothing, for the body is incomplete.
    drop(T::deserialize(Place { path, question }));
}

/// A question, and where its answer goes.
enum Question<'de> {
    Value(&'de str, &'de mut Result<(), Error>),
    Absence(&'de mut Result<(), Error>),
    Fields(&'de mut Option<&'static [&'static str]>),
}

/// A body with nothing in it but the way to a place.
struct Place<'de> {
    path: &'de [Step],
    question: Question<'de>,
}

impl<'de> Place<'de> {
    /// Takes the first step.
    fn enter<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Error> {
        let Self { path, question } = self;
        let (result, answer) = match (&path[1..], question) {
            ([], Question::Value(text, answer)) => {
                let mut parser = serde_json::Deserializer::from_str(text);
                (seed.deserialize(&mut parser), answer)
            }
            ([], Question::Absence(answer)) => (seed.deserialize(UnitDeserializer::new()), answer),
            (path, question) => return seed.deserialize(Place { path, question }),
        };
        result.map_err(|error| {
            *answer = Err(error);
            Error::custom("kept as the answer")
        })
    }
}

impl<'de> Deserializer<'de> for Place<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.path.first() {
            Some(Step::Key(_)) => visitor.visit_map(Only(Some(self))),
            Some(Step::Item(_)) => visitor.visit_seq(Only(Some(self))),
            None => Err(Error::custom("nothing to read")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if let ([], Question::Fields(answer)) = (self.path, &mut self.question) {
            **answer = Some(fields);
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// An object or array of one value.
struct Only<'de>(Option<Place<'de>>);

impl<'de> MapAccess<'de> for Only<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some(Step::Key(key)) = self.0.as_ref().and_then(|place| place.path.first()) else {
            return Ok(None);
        };
        let key: StrDeserializer<'_, Error> = key.as_str().into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let place = self.0.take().expect("a key comes before its value");
        place.enter(seed)
    }
}

impl<'de> SeqAccess<'de> for Only<'de> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        self.0.take().map(|place| place.enter(seed)).transpose()
    }
}
