-- What each posting paid for and nobody asked for.

-- A change is found by its transaction and version.
alter table wallet.transaction_changes drop column id;

-- The balances that a transaction is about have one already, which keeps the asset.
alter table wallet.transactions drop constraint transactions_asset_code_fkey;
