//! Money that is sent to a wallet, or to the user with an email.
//!
//! Nobody learns from it for nothing which emails have users: an email is refused only where the money could
//! be sent, and in the same words whether the user is unknown, blocked, or has a locked wallet.

use platform::{
    auth::Caller,
    error::{Failure, FieldCode},
    idempotency::{Key, Reply},
};
use proto::wallet::v1 as wire;

use super::{model::TransactionType, new::NewTransaction, service::Transactions};
use crate::{
    access,
    error::{Error, FieldNames, TRANSACTION, ledger_failure},
    ledger::{Command, Create, LedgerError},
    posting::PostingError,
    wallet::model::EXTERNAL,
};

/// The field with the email of the recipient.
pub(super) const BY_EMAIL: &str = "destinationEmail";

/// What is sent.
#[derive(Debug, Clone)]
pub(crate) struct Sending {
    /// Has no destination if there is an email.
    pub(super) new: NewTransaction,
    /// The email of the user whose primary wallet gets the money.
    pub(super) email: Option<String>,
}

impl Transactions {
    /// Sends money, as a confirmed transfer with code `send`. A user sends only from its own wallets.
    pub(crate) async fn send(
        &self,
        caller: &Caller,
        key: Option<Key>,
        sending: Sending,
    ) -> Result<Reply<wire::Transaction>, Error> {
        let owner = access::reader(caller)?;
        let Sending { mut new, email } = sending;
        let asset = self.assets.find(&new.asset_code).await?;
        let recipient = match &email {
            Some(email) => self.users.find_recipient(email).await?,
            None => None,
        };
        if email.is_some() {
            new.destination = Some(recipient.unwrap_or(EXTERNAL).to_string());
        }
        let mut create = match new.check(self.ids.next(), asset, owner, &self.methods) {
            Ok(create) => create,
            Err(failure) => return self.replay_or(key, failure).await,
        };
        "send".clone_into(&mut create.code);
        if email.is_none() {
            return self.post(caller, key, Command::Create(create)).await;
        }
        if recipient.is_none() {
            let refusal = self.refuse_recipient(create).await;
            return self.replay_or(key, refusal).await;
        }
        let posted = self
            .post(caller, key, Command::Create(create.clone()))
            .await;
        match posted {
            Err(Error::Rejected(PostingError::Rejected(LedgerError::WalletLocked(wallet))))
                if wallet == create.sides.credit =>
            {
                Err(self.refuse_recipient(create).await)
            }
            Err(Error::Rejected(PostingError::Rejected(error))) => Err(failure(error).into()),
            other => other,
        }
    }

    /// Returns why money cannot be sent to an email: first of all, what is wrong with the debit.
    async fn refuse_recipient(&self, mut create: Create) -> Error {
        create.kind = TransactionType::Withdrawal;
        create.sides.credit = EXTERNAL;
        match self.decide(&Command::Create(create)).await {
            Err(error) => error,
            Ok(()) => unknown_recipient().into(),
        }
    }
}

fn unknown_recipient() -> Failure {
    let message = "nobody who can receive money has this email";
    Failure::invalid(BY_EMAIL, FieldCode::UnknownReference, message)
}

/// Returns the failure of a rejected sending to an email.
fn failure(error: LedgerError) -> Failure {
    let names = FieldNames {
        destination: BY_EMAIL,
        ..TRANSACTION
    };
    ledger_failure(error, names)
}
