//! The groups of operations in the API reference.

use utoipa::openapi::tag::{Tag, TagBuilder};

/// Name and description, in the order of the reference.
const TAGS: [(&str, &str); 22] = [
    ("products", "What the shop sells."),
    ("categories", "Groups of products."),
    ("questions", "What orders of a product must or may answer."),
    ("question-types", "How questions are answered."),
    ("tax-rates", "Taxes of products."),
    (
        "orders",
        "Orders of products, their lines, payments and refunds.",
    ),
    ("order", "Another path of orders, for older clients."),
    ("wallets", "Accounts of users, with balances in any asset."),
    (
        "transactions",
        "Deposits, transfers, payments, exchanges and withdrawals.",
    ),
    ("movements", "What transactions debited and credited."),
    ("assets", "Currencies, points and tokens."),
    ("rates", "Prices of assets in other assets."),
    ("addresses", "Where money from outside is sent to."),
    (
        "payment-methods",
        "Ways to deposit, from the configuration.",
    ),
    ("users", "The users of the shop."),
    ("invites", "Invitations of new users."),
    (
        "tasks",
        "What users are rewarded for, and who completed it.",
    ),
    ("auth", "Tokens of users, and the keys that verify them."),
    ("api-keys", "Credentials of back ends."),
    ("audit-log", "Who changed what."),
    ("webhooks", "Events sent to URLs of your own."),
    ("events", "Events as they happen."),
];

/// Returns those of the tags that operations have.
pub(super) fn of<'a>(used: impl Fn(&str) -> bool + 'a) -> impl Iterator<Item = Tag> + 'a {
    let used = TAGS.iter().filter(move |(name, _)| used(name));
    used.map(|(name, description)| {
        TagBuilder::new()
            .name(*name)
            .description(Some(*description))
            .build()
    })
}
