//! A group's changes as columns for `unnest`, in the order of `write.sql`'s parameters.

use uuid::Uuid;

use super::{group::Decided, queue::Request, write::Write};
use crate::{
    ledger::{Account, Book},
    movement::model::Movement,
    transaction::model::{Status, Transaction},
};

/// `$1` to `$22`.
pub(super) struct NewTransactions<'b>(Vec<&'b Transaction>);

impl<'b> NewTransactions<'b> {
    pub(super) fn of(book: &'b Book) -> Self {
        let created = book.changes.created.iter();
        Self(created.filter_map(|id| book.transactions.get(id)).collect())
    }

    fn column<T>(&self, read: impl Fn(&'b Transaction) -> T) -> Vec<T> {
        self.0.iter().map(|tx| read(tx)).collect()
    }

    pub(super) fn bind_to<'q>(&self, write: Write<'q>) -> Write<'q>
    where
        'b: 'q,
    {
        let write = write
            .bind(self.column(|tx| tx.id))
            .bind(self.column(|tx| tx.kind.as_str()))
            .bind(self.column(|tx| tx.code.as_str()))
            .bind(self.column(|tx| tx.status.as_str()))
            .bind(self.column(|tx| tx.asset.as_str()))
            .bind(self.column(|tx| tx.amount))
            .bind(self.column(Transaction::origin))
            .bind(self.column(Transaction::destination))
            .bind(self.column(Transaction::system_wallet))
            .bind(self.column(|tx| tx.reference.as_str()))
            .bind(self.column(|tx| tx.metadata.as_str()))
            .bind(self.column(|tx| tx.operation.as_ref().map(|(id, _)| id.as_str())))
            .bind(self.column(|tx| tx.operation.as_ref().map(|(_, index)| *index)))
            .bind(self.column(|tx| tx.version))
            .bind(self.column(|tx| tx.processed_at));
        self.bind_notes_to(write)
            .bind(self.column(|tx| tx.created_at))
            .bind(self.column(|tx| tx.refunds))
    }

    fn bind_notes_to<'q>(&self, write: Write<'q>) -> Write<'q>
    where
        'b: 'q,
    {
        write
            .bind(self.column(|tx| tx.notes.description.as_deref()))
            .bind(self.column(|tx| tx.notes.origin_address.as_deref()))
            .bind(self.column(|tx| tx.notes.destination_address.as_deref()))
            .bind(self.column(|tx| tx.notes.external_reference.as_deref()))
            .bind(self.column(|tx| tx.notes.custom_data.as_deref().unwrap_or("{}")))
    }
}

/// `$23` to `$30`.
pub(super) struct Movements<'b>(&'b [Movement]);

impl<'b> Movements<'b> {
    pub(super) fn of(book: &'b Book) -> Self {
        Self(&book.changes.movements)
    }

    fn column<T>(&self, read: impl Fn(&'b Movement) -> T) -> Vec<T> {
        self.0.iter().map(read).collect()
    }

    pub(super) fn bind_to<'q>(&self, write: Write<'q>) -> Write<'q>
    where
        'b: 'q,
    {
        write
            .bind(self.column(|one| one.id))
            .bind(self.column(|one| one.wallet))
            .bind(self.column(|one| one.asset.as_str()))
            .bind(self.column(|one| one.sequence))
            .bind(self.column(|one| one.transaction))
            .bind(self.column(|one| one.amount))
            .bind(self.column(|one| one.balance_after))
            .bind(self.column(|one| one.kind.as_str()))
    }
}

/// `$31` to `$35`.
#[derive(Default)]
pub(super) struct Steps<'b> {
    transactions: Vec<Uuid>,
    versions: Vec<i64>,
    from: Vec<Option<&'static str>>,
    to: Vec<&'static str>,
    actors: Vec<&'b str>,
}

impl<'b> Steps<'b> {
    pub(super) fn of(decided: &'b Decided, group: &'b [Request]) -> Self {
        let mut columns = Self::default();
        for (step, cause) in decided
            .book
            .changes
            .status_changes
            .iter()
            .zip(&decided.causes)
        {
            columns.transactions.push(step.transaction.uuid());
            columns.versions.push(step.version);
            columns.from.push(step.from.map(Status::as_str));
            columns.to.push(step.to.as_str());
            columns.actors.push(&group[*cause].posting.actor);
        }
        columns
    }

    pub(super) fn bind_to<'q>(&'q self, write: Write<'q>) -> Write<'q> {
        write
            .bind(&self.transactions)
            .bind(&self.versions)
            .bind(&self.from)
            .bind(&self.to)
            .bind(&self.actors)
    }
}

/// `$36` to `$43`.
pub(super) struct Balances<'b>(Vec<&'b Account>);

impl<'b> Balances<'b> {
    pub(super) fn of(book: &'b Book) -> Self {
        let touched = book.changes.accounts.iter();
        Self(touched.filter_map(|key| book.accounts.get(key)).collect())
    }

    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    fn column<T>(&self, read: impl Fn(&'b Account) -> T) -> Vec<T> {
        self.0.iter().map(|account| read(account)).collect()
    }

    pub(super) fn bind_to<'q>(&self, write: Write<'q>) -> Write<'q>
    where
        'b: 'q,
    {
        write
            .bind(self.column(|account| account.key.wallet))
            .bind(self.column(|account| account.key.asset.as_str()))
            .bind(self.column(|account| account.amount))
            .bind(self.column(|account| account.held))
            .bind(self.column(|account| account.incoming))
            .bind(self.column(|account| account.sequence))
            .bind(self.column(|account| account.moved_at))
            .bind(self.column(|account| account.version))
    }
}

/// `$55` and `$56`.
pub(super) struct Assets<'b> {
    codes: Vec<&'b str>,
    versions: Vec<i64>,
}

impl<'b> Assets<'b> {
    pub(super) fn of(book: &'b Book) -> Self {
        let assets = book.assets.iter();
        let (codes, versions) = assets
            .map(|(code, rule)| (code.as_str(), rule.version))
            .unzip();
        Self { codes, versions }
    }

    pub(super) const fn len(&self) -> usize {
        self.codes.len()
    }

    pub(super) fn bind_to<'q>(&'q self, write: Write<'q>) -> Write<'q> {
        write.bind(&self.codes).bind(&self.versions)
    }
}
