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
        admins("WalletService/CreateWallet")
            .and(&[IDENTITY])
            .does("wallet.created"),
        admins("WalletService/UpdateWallet")
            .and(&[IDENTITY])
            .does("wallet.updated"),
        only(&[IDENTITY], "WalletService/CloseWallets").does("wallet.closed"),
        owners("TransactionService/GetTransaction", OWN_TRANSACTIONS),
        owners("TransactionService/ListTransactions", OWN_TRANSACTIONS),
        owners("TransactionService/ListActivity", OWN_TRANSACTIONS),
        admins("TransactionService/ListTransactionChanges"),
        admins("TransactionService/CreateDeposit").does("transaction.created"),
        owners("TransactionService/CreateTransfer", OWN_DEBITS).does("transaction.created"),
        owners("TransactionService/CreateWithdrawal", OWN_DEBITS).does("transaction.created"),
        owners("TransactionService/CreatePayment", OWN_DEBITS).does("transaction.created"),
        owners("TransactionService/SendMoney", OWN_DEBITS).does("transaction.created"),
        owners("TransactionService/CreateExchange", OWN_DEBITS).does("transaction.created"),
        admins("TransactionService/ApproveTransaction").does("transaction.approved"),
        admins("TransactionService/ConfirmTransaction").does("transaction.confirmed"),
        admins("TransactionService/FailTransaction").does("transaction.failed"),
        admins("TransactionService/RejectTransaction").does("transaction.rejected"),
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
        admins("AddressService/CreateAddress").does("address.created"),
        all("AssetService/GetAsset").and(&[CATALOG, ORDERS, IDENTITY]),
        all("AssetService/ListAssets"),
        admins("AssetService/CreateAsset").does("asset.created"),
        admins("AssetService/UpdateAsset").does("asset.updated"),
        all("RateService/GetRate"),
        all("RateService/ListRates"),
        all("RateService/FindConversion").and(&[ORDERS]),
        admins("RateService/CreateRate").does("rate.created"),
        admins("RateService/UpdateRate").does("rate.updated"),
        admins("RateService/DeleteRate").does("rate.deleted"),
        all("PaymentMethodService/GetPaymentMethod"),
        all("PaymentMethodService/ListPaymentMethods"),
        all("SettingsService/GetSettings").and(&[CATALOG, ORDERS, IDENTITY]),
        only(&[ORDERS], "LedgerService/Post").does("transaction.created"),
        only(&[ORDERS], "LedgerService/PostMany").does("transaction.created"),
        only(&[ORDERS], "LedgerService/Hold").does("transaction.created"),
        only(&[ORDERS], "LedgerService/Capture").does("transaction.confirmed"),
        only(&[ORDERS], "LedgerService/Release").does("transaction.failed"),
        only(&[ORDERS], "LedgerService/Refund").does("transaction.created"),
        only(&[ORDERS], "LedgerService/GetOperation"),
    ],
};
