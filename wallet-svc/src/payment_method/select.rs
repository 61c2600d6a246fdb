//! Filters and sorts payment methods in memory, like [`platform::list`] does in Postgres. Pure.

use std::cmp::Ordering;

use platform::{
    error::{Code, Failure, FieldCode},
    list::{
        check::{Comparison, Condition, Membership, Predicate, Start, check},
        fields::Value,
    },
};
use proto::{
    common::v1::{ListRequest, Operator},
    lists::wallet::PAYMENT_METHODS,
};

use super::model::PaymentMethod;

/// Returns the methods that match a list request, in its order.
pub(crate) fn select<'m>(
    methods: &'m [PaymentMethod],
    request: &ListRequest,
) -> Result<Vec<&'m PaymentMethod>, Failure> {
    let checked = check(&PAYMENT_METHODS, request)?;
    if let Start::After(_) = checked.start {
        let failure = Failure::new(Code::InvalidQuery, "page[after]: has no pages");
        return Err(failure.field("page[after]", FieldCode::UnknownField, "has no pages"));
    }
    let mut found: Vec<_> = methods
        .iter()
        .filter(|method| checked.conditions.iter().all(|one| matches(method, one)))
        .collect();
    found.sort_by(|a, b| {
        let keys = checked.sort.iter().map(|(field, descending)| {
            let order = compare(&value(a, field.name), &value(b, field.name));
            if *descending { order.reverse() } else { order }
        });
        keys.fold(Ordering::Equal, Ordering::then)
            .then_with(|| a.slug.cmp(&b.slug))
    });
    Ok(found)
}

fn matches(method: &PaymentMethod, Condition { field, predicate }: &Condition) -> bool {
    let value = value(method, field.name);
    match predicate {
        Predicate::Member(Membership::Equals(wanted))
        | Predicate::Scalar(Comparison::Equals(wanted)) => value == *wanted,
        Predicate::Member(Membership::In(wanted)) => wanted.contains(&value),
        Predicate::Member(Membership::NotIn(unwanted)) => !unwanted.contains(&value),
        Predicate::Scalar(Comparison::Bound(operator, bound)) => {
            compares(compare(&value, bound), *operator)
        }
        // No field of the table is a text to match or a flag.
        Predicate::Scalar(Comparison::Matches { .. }) | Predicate::Flag(_) => false,
    }
}

fn compares(order: Ordering, operator: Operator) -> bool {
    match operator {
        Operator::Gte => order.is_ge(),
        Operator::Lte => order.is_le(),
        Operator::Gt => order.is_gt(),
        Operator::Lt => order.is_lt(),
        _ => order.is_eq(),
    }
}

/// Returns the value of a field of the list table.
fn value(method: &PaymentMethod, field: &str) -> Value {
    match field {
        "createdAt" => Value::Time(method.created_at),
        "enabled" => Value::Text(method.enabled.to_string()),
        _ => Value::Text(method.slug.clone()),
    }
}

/// Compares two values of one field.
fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Time(left), Value::Time(right)) => left.cmp(right),
        (Value::Text(left), Value::Text(right)) => left.cmp(right),
        _ => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use platform::list::query;

    use super::*;
    use crate::payment_method::model::tests::method;

    fn slugs(query: &str) -> Result<String, Failure> {
        let at = |slug: &str, time: &str, enabled: bool| PaymentMethod {
            created_at: time.parse().unwrap(),
            enabled,
            ..method(slug)
        };
        let methods = [
            at("a", "2026-01-02T00:00:00Z", true),
            at("b", "2026-01-01T00:00:00Z", false),
            at("c", "2026-01-02T00:00:00Z", true),
        ];
        let found = select(&methods, &query::parse(query)?)?;
        Ok(found.into_iter().map(|method| &*method.slug).collect())
    }

    #[test]
    fn filters_and_sorts_like_a_table() {
        for (query, expected) in [
            ("", "abc"),
            ("filter[slug]=b", "b"),
            ("filter[slug]=B", ""),
            ("filter[slug]=in:c,a,x", "ac"),
            ("filter[slug]=in:", ""),
            ("filter[slug]=nin:c", "ab"),
            ("filter[enabled]=true", "ac"),
            ("filter[enabled]=false&filter[slug]=a", ""),
            ("filter[enabled]=in:true,false", "abc"),
            ("filter[enabled]=in:false", "b"),
            ("filter[enabled]=in:", ""),
            ("filter[enabled]=nin:false", "ac"),
            ("filter[enabled]=nin:true,false", ""),
            ("filter[createdAt]=2026-01-02", "ac"),
            ("filter[createdAt]=lt:2026-01-02", "b"),
            ("filter[createdAt]=gt:2026-01-01T00:00:00Z", "ac"),
            ("filter[createdAt]=gte:2026-01-01&lte:2026-01-01", "b"),
            ("sort=createdAt", "bac"),
            ("sort=-createdAt", "acb"),
            ("page[size]=1&page[number]=2", "abc"),
        ] {
            assert_eq!(slugs(query).unwrap(), expected, "{query}");
        }
    }

    #[test]
    fn queries_beyond_the_list_table_are_refused() {
        for query in [
            "filter[name]=a",
            "filter[slug]=like:a",
            "filter[slug]=",
            "filter[enabled]=1",
            "filter[enabled]=in:true,1",
            "filter[enabled]=",
            "filter[createdAt]=yesterday",
            "sort=slug",
            "sort=name",
            "include=assets",
            "page[size]=0",
            "page[after]=x",
        ] {
            assert_eq!(
                slugs(query).unwrap_err().code,
                Code::InvalidQuery,
                "{query}"
            );
        }
    }
}
