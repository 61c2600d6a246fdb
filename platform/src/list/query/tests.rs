use super::*;
use crate::error::Code;

/// `createdAt gte A | createdAt lte B`
fn filters(raw: &str) -> String {
    let request = parse(raw).unwrap();
    let shown = request.filters.iter().map(|filter| {
        let operator = fields::symbol(filter.operator());
        format!("{} {operator} {}", filter.field, filter.values.join(" ; "))
    });
    shown.collect::<Vec<_>>().join(" | ")
}

fn refused(raw: &str) -> Failure {
    let failure = parse(raw).expect_err(raw);
    assert_eq!(failure.code, Code::InvalidQuery, "{raw}");
    failure
}

#[test]
fn encoded_and_raw_forms_are_equal() {
    assert_eq!(filters("filter%5Bcode%5D=bank%3Awire"), "code = bank:wire");
    assert_eq!(filters("filter[code]=bank:wire"), "code = bank:wire");
    assert_eq!(parse("page%5Bsize%5D=7").unwrap().page_size, Some(7));
}

#[test]
fn values_are_decoded_once_after_splitting() {
    assert_eq!(
        filters("filter[name]=ilike:%25R%26D%25"),
        "name ilike %R&D%"
    );
    assert_eq!(filters("filter[name]=a%2526b%3Dc"), "name = a%26b=c");
    assert_eq!(filters("filter[name]=a=b"), "name = a=b");
    assert_eq!(filters("filter[name]=two+words"), "name = two words");
    assert_eq!(filters("filter[name]=ilike:%a_b%"), "name ilike %a_b%");
}

#[test]
fn only_eight_prefixes_are_operators() {
    assert_eq!(
        filters("filter[code]=in:internal,bank:wire"),
        "code in internal ; bank:wire"
    );
    assert_eq!(filters("filter[name]=eq:x"), "name = eq:x");
    assert_eq!(filters("filter[name]=IN:x"), "name = IN:x");
    assert_eq!(filters("filter[id]=in:"), "id in ");
    assert_eq!(filters("filter[id]=nin:a,,b c"), "id nin a ;  ; b c");
    assert_eq!(filters("filter[name]="), "name = ");
    assert_eq!(filters("filter[name]"), "name = ");
}

#[test]
fn two_bounds_come_in_four_ways() {
    let range = "createdAt gte 2026-01-01T00:00:00Z | createdAt lte 2026-02-01";
    for raw in [
        "filter[createdAt]=gte:2026-01-01T00:00:00Z&lte:2026-02-01",
        "filter[createdAt]=gte:2026-01-01T00:00:00Z&lte%3A2026-02-01=",
        "filter%5BcreatedAt%5D=gte%3A2026-01-01T00%3A00%3A00Z%26lte%3A2026-02-01",
        "filter[createdAt]=gte:2026-01-01T00:00:00Z&filter[createdAt]=lte:2026-02-01",
    ] {
        assert_eq!(filters(raw), range, "{raw}");
    }
    refused("lte:2026-02-01");
    refused("filter[createdAt]=gte:A&page[size]=5&lte:B");
    refused("filter[createdAt]=gte:A%26nonsense");
}

#[test]
fn arrays_mean_in() {
    assert_eq!(
        filters("filter[id][0]=a&filter[id][1]=in:b,c"),
        "id in a ; in:b,c"
    );
    assert_eq!(
        filters("filter[id][]=a&sort=x&filter[id][]=b"),
        "id in a ; b"
    );
    refused("filter[id][0]=a&filter[id][0]=b");
    refused("filter[id]=in:a&filter[id][0]=b");
}

#[test]
fn includes_come_in_three_ways() {
    for raw in [
        "include=a,b",
        "include[0]=a&include[1]=b",
        "include[]=a&include[]=b",
        "include[a]=true&include[b]=true&include[c]=false",
        "include=a&include=b,a",
    ] {
        assert_eq!(parse(raw).unwrap().include, ["a", "b"], "{raw}");
    }
    assert!(parse("include=").unwrap().include.is_empty());
    refused("include[a]=1");
}

#[test]
fn sorts_are_a_comma_list() {
    let sort = parse("sort=-createdAt,name").unwrap().sort;
    let keys: Vec<_> = sort
        .iter()
        .map(|key| (key.field.as_str(), key.descending))
        .collect();
    assert_eq!(keys, [("createdAt", true), ("name", false)]);
    refused("sort=a,-a");
    refused("sort[0]=a");
}

#[test]
fn single_values_come_once() {
    for raw in [
        "page[size]=5&page%5Bsize%5D=500",
        "page[number]=1&page[number]=1",
        "sort=a&sort=b",
        "filter[id]=x&filter[id]=y",
        "filter[id]=in:x&filter[id]=in:y",
        "filter[createdAt]=gte:A&gte:B",
    ] {
        let failure = refused(raw);
        assert_eq!(failure.fields[0].code, FieldCode::Duplicate, "{raw}");
    }
}

#[test]
fn pages_are_whole_numbers_from_one() {
    for value in [
        "0",
        "-1",
        "1e3",
        "",
        "abc",
        "%2B1",
        "+1",
        "1.0",
        "18446744073709551616",
    ] {
        refused(&format!("page[number]={value}"));
        refused(&format!("page[size]={value}"));
    }
    for value in ["1001", "100000000", "4294967297"] {
        refused(&format!("page[size]={value}"));
    }
    let request = parse("page[number]=7&page[size]=1000").unwrap();
    assert_eq!(
        (request.page_number, request.page_size),
        (Some(7), Some(1000))
    );
    assert_eq!(
        parse("page[after]=x").unwrap().page_after.as_deref(),
        Some("x")
    );
    refused("page[after]=x&page[number]=1");
    assert!(refused("page[limit]=1").detail.contains("page[size]"));
}

#[test]
fn pages_with_a_number_reach_a_bounded_depth() {
    for (fits, beyond) in [
        (
            "page[number]=100&page[size]=1000",
            "page[number]=101&page[size]=1000",
        ),
        (
            "page[size]=1&page[number]=100000",
            "page[size]=1&page[number]=100001",
        ),
        ("page[number]=3334", "page[number]=3335"),
        ("", "page[number]=18446744073709551615"),
    ] {
        assert!(parse(fits).is_ok(), "{fits}");
        let failure = refused(beyond);
        assert_eq!(failure.fields[0].field, "page[number]", "{beyond}");
        assert!(failure.detail.contains("page[after]"), "{beyond}");
    }
}

#[test]
fn filters_sorts_and_includes_are_bounded_in_number() {
    let each = |count: usize, form: &str, separator: &str| {
        let names = (0..count).map(|name| form.replace("NAME", &format!("n{name}")));
        names.collect::<Vec<_>>().join(separator)
    };
    let filters = |count| each(count, "filter[NAME]=x", "&");
    let array = |count| each(count, "filter[NAME][]=x", "&");
    let flags = |count| each(count, "include[NAME]=true", "&");
    let list = |count| each(count, "NAME", ",");
    let range = "filter[createdAt]=gte:A&lte:B&";
    for (fits, beyond) in [
        (filters(64), filters(65)),
        (array(64), array(65)),
        (
            range.to_owned() + &filters(62),
            range.to_owned() + &filters(63),
        ),
        (format!("sort={}", list(16)), format!("sort={}", list(17))),
        (
            format!("include={}", list(16)),
            format!("include={}", list(17)),
        ),
        (flags(16), flags(17)),
    ] {
        assert!(parse(&fits).is_ok(), "{fits}");
        assert_eq!(
            refused(&beyond).fields[0].code,
            FieldCode::Length,
            "{beyond}"
        );
    }
    // Many values of one filter are one filter.
    let values = vec!["filter[id][]=x"; 500].join("&");
    assert_eq!(parse(&values).unwrap().filters.len(), 1);
}

#[test]
fn others_are_ignored() {
    let request = parse("&foo=1&foo=2&page=3&filter=x&filters[a]=1&utm[x]=2&&hideDrafts=true");
    assert_eq!(request.unwrap(), ListRequest::default());
}

#[test]
fn what_is_no_text_is_refused() {
    refused("filter[name]=a%00b");
    refused("filter[na%00me]=a");
    refused("filter[name]=%FF");
    refused("filter[name=a");
    refused("filter[]=a");
    refused("filter[a][b]=c");
}

#[test]
fn a_time_beside_the_list_is_read_once() {
    let at = |raw| super::time(raw, "at").map(|at| at.map(|at| at.to_rfc3339()));
    let moment = Some("2026-01-31T08:00:00+00:00".to_owned());
    assert_eq!(at("at=2026-01-31T10:00:00+02:00&sort=x").unwrap(), moment);
    assert_eq!(at("at=2026-01-31T10%3A00%3A00%2B02:00").unwrap(), moment);
    assert_eq!(at("").unwrap(), None);
    assert_eq!(at("that=1&filter[at]=2").unwrap(), None);
    for raw in ["at=", "at=soon", "at", "at=2026-01-31&at=2026-01-31"] {
        assert!(at(raw).is_err(), "{raw}");
    }
}
