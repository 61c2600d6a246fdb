use super::*;
use crate::asset::model::{AssetCode, AssetType};

const ANN: &str = "01920000-0000-7000-8000-00000000000a";
const BEN: &str = "01920000-0000-7000-8000-00000000000b";

fn transfer() -> NewTransaction {
    NewTransaction {
        kind: TransactionType::Transfer,
        amount: "1".to_owned(),
        asset_code: "USD".to_owned(),
        code: "internal".to_owned(),
        origin: Some(ANN.to_owned()),
        destination: Some(BEN.to_owned()),
        commit: false,
        data: None,
        notes: Notes::default(),
    }
}

fn deposit() -> NewTransaction {
    NewTransaction {
        kind: TransactionType::Deposit,
        origin: None,
        data: Some("{}".to_owned()),
        ..transfer()
    }
}

fn withdrawal() -> NewTransaction {
    NewTransaction {
        kind: TransactionType::Withdrawal,
        destination: None,
        ..transfer()
    }
}

fn check(new: NewTransaction) -> Result<Create, Failure> {
    let id = TransactionId::parse("01920000-0000-7000-8000-000000000001").unwrap();
    let usd = ResolvedAsset {
        code: AssetCode::stored("usd"),
        kind: Some(AssetType::Fiat),
    };
    new.check(id, Some(usd), None, &PaymentMethods::default())
}

fn fields(result: Result<Create, Failure>) -> Vec<String> {
    let fields = result.unwrap_err().fields.into_iter();
    fields.map(|field| field.field).collect()
}

#[test]
fn commit_decides_the_first_status() {
    for (new, pending, committed) in [
        (deposit(), Status::Pending, Status::Processing),
        (transfer(), Status::Pending, Status::Confirmed),
        (withdrawal(), Status::Pending, Status::Processing),
    ] {
        let kind = new.kind;
        let commit = NewTransaction {
            commit: true,
            ..new.clone()
        };
        assert_eq!(check(new).unwrap().status, pending, "{kind:?}");
        assert_eq!(check(commit).unwrap().status, committed, "{kind:?}");
    }
}

#[test]
fn deposits_and_withdrawals_have_the_external_wallet_on_the_other_side() {
    let (ann, ben) = (WalletId::parse(ANN).unwrap(), WalletId::parse(BEN).unwrap());
    for (new, debit, credit) in [
        (deposit(), EXTERNAL, ben),
        (transfer(), ann, ben),
        (withdrawal(), ann, EXTERNAL),
    ] {
        assert_eq!(check(new).unwrap().sides, Sides { debit, credit });
    }
}

#[test]
fn a_deposit_keeps_its_data_in_the_metadata() {
    let data = Some(r#"{"n": 1.10}"#.to_owned());
    let new = NewTransaction { data, ..deposit() };
    let metadata = check(new).unwrap().metadata;
    assert_eq!(metadata.as_str(), r#"{"data":{"n": 1.10}}"#);
}

#[test]
fn every_violation_is_reported() {
    let empty = NewTransaction {
        amount: String::new(),
        code: String::new(),
        origin: None,
        destination: None,
        ..transfer()
    };
    let missing = ["amount", "code", "originWalletId", "destinationWalletId"];
    assert_eq!(fields(check(empty)), missing);
    let without_data = NewTransaction {
        data: None,
        ..deposit()
    };
    assert_eq!(fields(check(without_data)), ["data"]);
    let notes = Notes {
        description: Some("x".repeat(1_001)),
        origin_address: Some("x".repeat(2_049)),
        destination_address: Some("x".repeat(2_049)),
        external_reference: Some("x".repeat(2_049)),
        custom_data: None,
    };
    let long = NewTransaction {
        notes,
        ..transfer()
    };
    let texts = [
        "description",
        "originAddress",
        "destinationAddress",
        "externalReference",
    ];
    assert_eq!(fields(check(long)), texts);
}

#[test]
fn texts_may_have_their_maximal_length() {
    let notes = Notes {
        description: Some("é".repeat(1_000)),
        external_reference: Some("é".repeat(2_048)),
        ..Notes::default()
    };
    let new = NewTransaction {
        notes,
        ..transfer()
    };
    assert!(check(new).is_ok());
}

#[test]
fn a_reason_is_json_of_at_most_1_kib() {
    let text = |length: usize| format!("\"{}\"", "x".repeat(length));
    for reason in [
        "null",
        "1.10",
        "\"no answer\"",
        r#"{"code":5}"#,
        &text(1_022),
    ] {
        assert!(check_reason(Some(reason)).is_ok(), "{reason}");
    }
    assert!(check_reason(None).is_ok());
    for (reason, code) in [
        ("", FieldCode::Type),
        ("no answer", FieldCode::Type),
        (&text(1_023), FieldCode::Length),
    ] {
        let failure = check_reason(Some(reason)).unwrap_err();
        assert_eq!(failure.fields[0].code, code, "{reason}");
    }
}
