-- What one unit of an asset is worth in another. A rate that was deleted and made again is another
-- rate: the id is what events are about, clients name the pair.
create table wallet.rates (
    id uuid not null,
    base_asset_code text not null,
    quote_asset_code text not null,
    rate numeric(28, 8) not null,
    custom_data text not null default '{}',
    metadata text not null default '{}',
    version bigint not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint rates_pkey primary key (id),
    constraint rates_pair_key unique (base_asset_code, quote_asset_code),
    constraint rates_base_asset_code_fkey foreign key (base_asset_code) references wallet.assets,
    constraint rates_quote_asset_code_fkey foreign key (quote_asset_code) references wallet.assets,
    constraint rates_pair_check check (base_asset_code <> quote_asset_code),
    -- NaN is more than any number to Postgres.
    constraint rates_rate_check check (rate > 0 and rate <> 'NaN')
);

grant select, insert, update, delete on wallet.rates to guerdon_wallet_app;
