use proto::lists::{Include, asc};

use super::*;
use crate::{error::Code, list::query};

const TABLE: ListTable = ListTable::new(
    "orders",
    &[
        Field::new("id", Class::Id),
        Field::new("amount", Class::Money).sortable(),
        Field::new("status", Class::Enum(&["paid", "unpaid"])),
        Field::new("name", Class::ILike),
        Field::new("note", Class::Like),
        Field::new("open", Class::Bool),
        Field::new("hideDrafts", Class::Flag),
        Field::new("createdAt", Class::Time).sortable(),
        Field::new("secret", Class::Code).hidden(),
        Field::new("search", Class::Search),
    ],
)
.sorted_by(&[asc("secret")])
.including(&[Include::new("lines").up_to(100)]);

fn checked(raw: &str) -> Result<Checked, Failure> {
    check(&TABLE, &query::parse(raw).unwrap())
}

fn predicates(raw: &str) -> Vec<Predicate> {
    let conditions = checked(raw).unwrap().conditions;
    conditions
        .into_iter()
        .map(|condition| condition.predicate)
        .collect()
}

fn refused(raw: &str) -> String {
    let failure = checked(raw).expect_err(raw);
    assert_eq!(failure.code, Code::InvalidQuery, "{raw}");
    failure.detail
}

#[test]
fn a_refusal_names_what_is_allowed() {
    insta::assert_snapshot!(refused("filter[foo]=1"), @"filter[foo]: `foo` is not allowed; allowed: `id` `amount` `status` `name` `note` `open` `hideDrafts` `createdAt` `search`");
    insta::assert_snapshot!(refused("filter[secret]=1"), @"filter[secret]: `secret` is not allowed; allowed: `id` `amount` `status` `name` `note` `open` `hideDrafts` `createdAt` `search`");
    insta::assert_snapshot!(refused("filter[id]=gte:1"), @"filter[id]: `gte` is not allowed; allowed: `=` `in` `nin`");
    insta::assert_snapshot!(refused("sort=name"), @"sort: `name` is not allowed; allowed: `amount` `createdAt`");
    insta::assert_snapshot!(refused("sort="), @"sort: `` is not allowed; allowed: `amount` `createdAt`");
    insta::assert_snapshot!(refused("include=user"), @"include: `user` is not allowed; allowed: `lines`");
    insta::assert_snapshot!(refused("filter[status]=open"), @"filter[status]: must be one of `paid` `unpaid`");
}

#[test]
fn bad_values_are_refused() {
    for raw in [
        "filter[open]=1",
        "filter[open]=",
        "filter[open]=in:true",
        "filter[amount]=",
        "filter[amount]=gte:1e3",
        "filter[amount]=in:1,2",
        "filter[id]=",
        "filter[id]=in:,",
        "filter[id]=in:x",
        "filter[createdAt]=gte:yesterday",
        "filter[name]=in:a,b",
        "filter[name]=gte:a",
        "filter[hideDrafts]=maybe",
    ] {
        refused(raw);
    }
    let many = |n: usize| format!("filter[status]=in:{}", vec!["paid"; n].join(","));
    assert!(checked(&many(500)).is_ok());
    refused(&many(501));
}

#[test]
fn a_plain_text_is_a_substring_unless_it_is_a_pattern() {
    for (raw, pattern, ignore_case) in [
        ("filter[name]=a_b", r"%a\_b%", true),
        (r"filter[note]=a\b", r"%a\\b%", false),
        (r"filter[note]=abc\", r"%abc\\%", false),
        ("filter[name]=50%25", "50%", true),
        ("filter[note]=a_%25", "a_%", false),
        ("filter[name]=like:a_b", "a_b", false),
        (r"filter[note]=ilike:50\%25", r"50\%", true),
        (r"filter[note]=ilike:abc\\", r"abc\\", true),
    ] {
        let pattern = pattern.to_owned();
        let expected = Comparison::Matches {
            pattern,
            ignore_case,
        };
        assert_eq!(predicates(raw), [Predicate::Scalar(expected)], "{raw}");
    }
    let empty = Comparison::Equals(Value::Text(String::new()));
    assert_eq!(predicates("filter[name]="), [Predicate::Scalar(empty)]);
    refused(r"filter[name]=ilike:abc\");
    refused(r"filter[name]=like:\\\");
    refused(r"filter[name]=50%25\");
}

#[test]
fn a_pattern_holds_at_most_four_wildcards() {
    for prefix in ["", "like:", "ilike:"] {
        assert!(checked(&format!("filter[name]={prefix}%25a%25b%25c%25")).is_ok());
        let detail = refused(&format!("filter[name]={prefix}%25a%25b%25c%25d%25"));
        assert_eq!(detail, "filter[name]: may hold at most 4 `%`");
    }
}

#[test]
fn empty_lists_stay_empty() {
    for (raw, membership) in [
        ("filter[id]=in:", Membership::In(vec![])),
        ("filter[id]=nin:", Membership::NotIn(vec![])),
    ] {
        assert_eq!(predicates(raw), [Predicate::Member(membership)], "{raw}");
    }
    let flag = predicates("filter[hideDrafts]=true");
    assert_eq!(flag, [Predicate::Flag(true)]);
}

#[test]
fn a_search_is_one_text() {
    let checked = checked("filter[search]=red shoe&filter[open]=true").unwrap();
    assert_eq!(checked.search.as_deref(), Some("red shoe"));
    assert_eq!(checked.conditions.len(), 1);
    refused("filter[search]=in:red");
}

#[test]
fn a_heavy_include_limits_the_page_size() {
    assert_eq!(
        checked("include=lines&page[size]=100").unwrap().include,
        ["lines"]
    );
    refused("include=lines&page[size]=101");
    let plain = checked("").unwrap();
    assert_eq!((plain.page_size, plain.start), (30, Start::Number(1)));
    assert_eq!(plain.sort, [(TABLE.field("secret").unwrap(), false)]);
}

#[test]
fn requests_that_no_gateway_parsed_are_checked_too() {
    let sized = |size| {
        check(
            &TABLE,
            &ListRequest {
                page_size: Some(size),
                ..Default::default()
            },
        )
    };
    assert!(sized(0).is_err() && sized(1001).is_err() && sized(1000).is_ok());
    let filter = |operator, values: &[&str]| {
        let values = values.iter().map(ToString::to_string).collect();
        let filters = vec![Filter {
            field: "name".into(),
            operator,
            values,
        }];
        check(
            &TABLE,
            &ListRequest {
                filters,
                ..Default::default()
            },
        )
    };
    assert!(filter(Operator::Eq.into(), &["a"]).is_ok());
    assert!(filter(Operator::Eq.into(), &["a\0b"]).is_err());
    assert!(filter(Operator::Eq.into(), &[]).is_err());
    assert!(filter(0, &["a"]).is_err() && filter(99, &["a"]).is_err());
}
