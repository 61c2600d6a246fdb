//! Access to wallet-svc.

use super::{CATALOG, IDENTITY, ORDERS, Table, admins, all, only, owners};

const OWN_WALLETS: &str = "wallets that they own";
const OWN_TRANSACTIONS: &str = "transactions from and to wallets that they own";
const OWN_DEBITS: &str = "debits of wallets that they own, without `commit`";

/// The access to the RPCs of wallet-svc.
pub const TABLE: Table = Table {
    package: "guerdon.wallet.v1",
    rows: &[
        owners("WalletService/GetWallet", OWN_WALLETS).and(&[ORDERS, IDENTITY]),
        owners("WalletService/ListWallets", OWN_WALLETS),
        owners("WalletService/GetWalletBalance", OWN_WALLETS).and(&[ORDERS]),
        owners("WalletService/GetTotalBalance", OWN_WALLETS),
        // wallet-svc trusts identity-svc that the owner exists, or is about to.
        admins("WalletService/CreateWallet").and(&[IDENTITY]),
        admins("WalletService/UpdateWallet").and(&[IDENTITY]),
        owners("TransactionService/GetTransaction", OWN_TRANSACTIONS),
        owners("TransactionService/ListTransactions", OWN_TRANSACTIONS),
        owners("TransactionService/ListActivity", OWN_TRANSACTIONS),
        admins("TransactionService/ListTransactionChanges"),
        admins("TransactionService/CreateDeposit"),
        owners("TransactionService/CreateTransfer", OWN_DEBITS),
        owners("TransactionService/CreateWithdrawal", OWN_DEBITS),
        owners("TransactionService/CreatePayment", OWN_DEBITS),
        owners("TransactionService/CreateExchange", OWN_DEBITS),
        admins("TransactionService/ApproveTransaction"),
        admins("TransactionService/ConfirmTransaction"),
        admins("TransactionService/FailTransaction"),
        admins("TransactionService/RejectTransaction"),
        owners(
            "MovementService/GetMovement",
            "movements of wallets that they own",
        ),
        owners(
            "MovementService/ListMovements",
            "movements of wallets that they own",
        ),
        owners(
            "AddressService/GetAddress",
            "addresses of wallets that they own",
        ),
        owners(
            "AddressService/ListAddresses",
            "addresses of wallets that they own",
        ),
        admins("AddressService/CreateAddress"),
        all("AssetService/GetAsset").and(&[CATALOG, ORDERS, IDENTITY]),
        all("AssetService/ListAssets"),
        admins("AssetService/CreateAsset"),
        admins("AssetService/UpdateAsset"),
        all("RateService/GetRate"),
        all("RateService/ListRates"),
        all("RateService/FindConversion").and(&[ORDERS]),
        admins("RateService/CreateRate"),
        admins("RateService/UpdateRate"),
        admins("RateService/DeleteRate"),
        all("PaymentMethodService/GetPaymentMethod"),
        all("PaymentMethodService/ListPaymentMethods"),
        all("SettingsService/GetSettings").and(&[CATALOG, ORDERS, IDENTITY]),
        only(&[ORDERS], "LedgerService/Post"),
        only(&[ORDERS], "LedgerService/Hold"),
        only(&[ORDERS], "LedgerService/Capture"),
        only(&[ORDERS], "LedgerService/Release"),
        only(&[ORDERS], "LedgerService/Refund"),
        only(&[ORDERS], "LedgerService/GetOperation"),
    ],
};
