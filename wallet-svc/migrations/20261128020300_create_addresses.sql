-- Addresses outside that belong to wallets, and how far each extended public key has been derived.

create table wallet.addresses (
    id uuid not null,
    address text not null,
    asset_code text,
    wallet_id uuid,
    custom_data text not null default '{}',
    metadata text not null default '{}',
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint addresses_pkey primary key (id),
    constraint addresses_address_key unique nulls not distinct (address, asset_code),
    constraint addresses_asset_code_fkey foreign key (asset_code) references wallet.assets,
    constraint addresses_wallet_id_fkey foreign key (wallet_id) references wallet.wallets,
    constraint addresses_address_check check (address ~ '^[!-~]{1,128}$' and address !~ '[/?#]')
);
create index addresses_created_at_idx on wallet.addresses (created_at, id);
create index addresses_wallet_id_idx on wallet.addresses (wallet_id) where wallet_id is not null;

create table wallet.address_keys (
    -- HASH160 of the public key, in hexadecimal: another key starts anew
    fingerprint text not null,
    next_index bigint not null,
    constraint address_keys_pkey primary key (fingerprint),
    -- Beyond are the hardened indexes of BIP 32
    constraint address_keys_next_index_check check (next_index between 1 and 2147483648)
);

grant select, insert on wallet.addresses to guerdon_wallet_app;
grant select, insert, update on wallet.address_keys to guerdon_wallet_app;
