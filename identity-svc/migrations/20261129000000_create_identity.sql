-- Users with their credentials, API keys, and tasks.

create table identity.users (
    id uuid not null,
    -- `provisioning`: the row only reserves the email until the user's wallet exists. `deleted`: the
    -- personal data is erased, and the row stays for what refers to it.
    state text not null default 'provisioning',
    -- The version in the user's last event
    version bigint not null default 0,
    -- Tokens carry it as `ver`; raised when they are revoked
    token_version int not null default 0,
    -- As the client wrote it, and the form that is unique (user::email)
    email text,
    canonical_email text,
    name text,
    phone text,
    locale text,
    roles text[] not null,
    approved boolean not null,
    blocked boolean not null,
    verified boolean not null,
    -- When the user proved to receive mail at the email; `verified` is about the person.
    email_confirmed_at timestamptz(3),
    -- While provisioning: the existing wallet that the request named, if any.
    primary_wallet_id uuid,
    referral_code text not null,
    referral_user_id uuid,
    -- JSON object as the client wrote it
    custom_data text not null default '{}',
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint users_pkey primary key (id),
    constraint users_canonical_email_key unique (canonical_email),
    constraint users_primary_wallet_id_key unique (primary_wallet_id),
    constraint users_referral_code_key unique (referral_code),
    constraint users_referral_user_id_fkey foreign key (referral_user_id) references identity.users (id),
    constraint users_referral_user_id_check check (referral_user_id <> id),
    constraint users_state_check check (state in ('provisioning', 'active', 'deleted')),
    constraint users_roles_check check (roles <@ array ['admin', 'user'] and cardinality(roles) > 0),
    constraint users_active_check check (state = 'provisioning' or (primary_wallet_id is not null and version > 0)),
    constraint users_email_check check ((email is null) = (state = 'deleted')),
    constraint users_canonical_email_check check (canonical_email is not distinct from lower(email)),
    constraint users_custom_data_check check (octet_length(custom_data) <= 16384)
);
create index users_created_at_idx on identity.users (created_at, id);
create index users_updated_at_idx on identity.users (updated_at, id);
create index users_referral_user_id_idx on identity.users (referral_user_id);
create index users_admins_idx on identity.users (created_at, id) where 'admin' = any (roles);

create table identity.credentials (
    user_id uuid not null,
    -- Argon2id in PHC form.
    password_hash text not null,
    updated_at timestamptz(3) not null,
    constraint credentials_pkey primary key (user_id),
    constraint credentials_user_id_fkey foreign key (user_id) references identity.users (id)
);

-- The newest refresh token of each login. Earlier ones of the same login have the same family.
create table identity.refresh_tokens (
    family_id uuid not null,
    user_id uuid not null,
    -- SHA-256 of the secret part of the token
    token_hash bytea not null,
    -- When the login took place, and when its token was last replaced
    created_at timestamptz(3) not null default now(),
    rotated_at timestamptz(3) not null default now(),
    expires_at timestamptz(3) not null,
    constraint refresh_tokens_pkey primary key (family_id),
    constraint refresh_tokens_user_id_fkey foreign key (user_id) references identity.users (id),
    constraint refresh_tokens_token_hash_check check (octet_length(token_hash) = 32)
);
create index refresh_tokens_user_id_idx on identity.refresh_tokens (user_id);
create index refresh_tokens_expires_at_idx on identity.refresh_tokens (expires_at);

-- Creations in progress: from the claim of the email until the user is active.
create table identity.user_provisionings (
    user_id uuid not null,
    -- Scope of the request's idempotency record, if it has one
    idempotency_scope bytea,
    -- Whether the user is asked to confirm the email
    confirms_email boolean not null,
    -- When a worker resumes it, by the database's clock; at first the lease of the request
    due_at timestamptz(3) not null,
    -- The number of attempts of workers, and the error of the last
    attempts integer not null default 0,
    last_error text,
    created_at timestamptz(3) not null default now(),
    constraint user_provisionings_pkey primary key (user_id),
    constraint user_provisionings_user_id_fkey foreign key (user_id) references identity.users (id)
);
create index user_provisionings_due_at_idx on identity.user_provisionings (due_at);

-- Deletions in progress: from the claim until the user is erased.
create table identity.user_deletions (
    user_id uuid not null,
    -- When a worker resumes it, by the database's clock; at first the lease of the request
    due_at timestamptz(3) not null,
    -- The number of attempts of workers, and the error of the last
    attempts integer not null default 0,
    last_error text,
    created_at timestamptz(3) not null default now(),
    constraint user_deletions_pkey primary key (user_id),
    constraint user_deletions_user_id_fkey foreign key (user_id) references identity.users (id)
);
create index user_deletions_due_at_idx on identity.user_deletions (due_at);

-- Each brings one new user.
create table identity.invites (
    id uuid not null,
    code text not null,
    -- That it has expired is not stored: it follows from the clock
    state text not null,
    -- The only email that may use it, as the inviter wrote it
    invited_email text,
    invited_user_id uuid,
    inviter_user_id uuid,
    -- The hidden user who is being created with it
    reserved_by uuid,
    -- The version in its last event
    version bigint not null,
    expired_at timestamptz(3) not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    constraint invites_pkey primary key (id),
    constraint invites_code_key unique (code),
    constraint invites_invited_user_id_key unique (invited_user_id),
    constraint invites_reserved_by_key unique (reserved_by),
    constraint invites_invited_user_id_fkey foreign key (invited_user_id) references identity.users (id),
    constraint invites_inviter_user_id_fkey foreign key (inviter_user_id) references identity.users (id),
    constraint invites_reserved_by_fkey foreign key (reserved_by) references identity.users (id),
    constraint invites_state_check check (state in ('pending', 'accepted', 'canceled')),
    constraint invites_invited_user_id_check check ((state = 'accepted') = (invited_user_id is not null)),
    constraint invites_reserved_by_check check (reserved_by is null or state = 'pending')
);
create index invites_created_at_idx on identity.invites (created_at, id);
create index invites_updated_at_idx on identity.invites (updated_at, id);
create index invites_expired_at_idx on identity.invites (expired_at, id);
create index invites_inviter_user_id_idx on identity.invites (inviter_user_id, created_at, id);
create index invites_invited_email_idx on identity.invites (lower(invited_email));

create table identity.api_keys (
    id uuid not null,
    name text not null,
    -- SHA-256 of the key; the key itself is shown once and not stored.
    key_hash bytea not null,
    roles text[] not null,
    expires_at timestamptz(3),
    revoked_at timestamptz(3),
    -- To the minute
    last_used_at timestamptz(3),
    -- Tokens carry it as `ver`; raised when they are revoked
    token_version int not null default 0,
    created_at timestamptz(3) not null,
    constraint api_keys_pkey primary key (id),
    constraint api_keys_key_hash_key unique (key_hash),
    constraint api_keys_key_hash_check check (octet_length(key_hash) = 32),
    constraint api_keys_roles_check check (roles <@ array ['admin', 'user'] and cardinality(roles) > 0)
);

-- The users and API keys whose tokens of lower versions are refused; kept until those have expired.
create table identity.revocations (
    -- `user` or `key`, and the id of the user or the API key
    subject_kind text not null,
    subject_id uuid not null,
    min_version int not null,
    -- The transaction of the last change. Transactions commit in another order than they start, so
    -- readers ask for all that their last snapshot did not include.
    written_by xid8 not null default pg_current_xact_id(),
    created_at timestamptz(3) not null default clock_timestamp(),
    constraint revocations_pkey primary key (subject_kind, subject_id),
    constraint revocations_subject_kind_check check (subject_kind in ('user', 'key')),
    constraint revocations_min_version_check check (min_version > 0)
);
create index revocations_written_by_idx on identity.revocations (written_by);
create index revocations_created_at_idx on identity.revocations (created_at);

create table identity.tasks (
    id uuid not null,
    name text not null,
    description text not null,
    kind text not null,
    amount numeric(28, 8) not null,
    asset_code text not null,
    button_label text,
    survey_url text,
    -- As the client wrote it: a URL, or a path relative to MEDIA_BASE_URL
    image text,
    thumbnail text,
    -- The public `order`
    rank numeric(60, 40) not null,
    enabled boolean not null,
    featured boolean not null,
    custom_data text not null default '{}',
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    -- A deleted task is hidden, and its completions stay
    deleted_at timestamptz(3),
    constraint tasks_pkey primary key (id),
    constraint tasks_kind_check check (kind in ('manual', 'survey', 'automatic', 'system')),
    constraint tasks_amount_check check (amount > 0 and amount <> 'NaN'),
    constraint tasks_rank_check check (rank >= 0 and rank <> 'NaN'),
    constraint tasks_custom_data_check check (octet_length(custom_data) <= 16384)
);
create index tasks_rank_idx on identity.tasks (rank, id) where deleted_at is null;

-- Completed tasks, whose rewards are paid once. Append-only.
create table identity.task_completions (
    id uuid not null,
    task_id uuid not null,
    user_id uuid not null,
    amount numeric(28, 8) not null,
    asset_code text not null,
    -- The transaction that credits the reward in wallet-svc
    transaction_id uuid not null,
    created_at timestamptz(3) not null,
    constraint task_completions_pkey primary key (id),
    constraint task_completions_task_id_user_id_key unique (task_id, user_id),
    constraint task_completions_transaction_id_key unique (transaction_id),
    constraint task_completions_task_id_fkey foreign key (task_id) references identity.tasks (id),
    constraint task_completions_user_id_fkey foreign key (user_id) references identity.users (id),
    constraint task_completions_amount_check check (amount > 0 and amount <> 'NaN')
);
create index task_completions_task_id_idx on identity.task_completions (task_id, created_at, id);
create index task_completions_user_id_idx on identity.task_completions (user_id, created_at, id);

-- Mails to send, and for a week those that were sent or given up. No secret is stored: a token is made
-- when its mail is sent.
create table identity.mails (
    id bigint generated always as identity,
    kind text not null,
    recipient text not null,
    -- The user who asked for it, where this is not the recipient
    user_id uuid,
    -- The code of an invite
    code text,
    -- JSON of the webhook that was disabled
    details text,
    -- When a worker sends it, by the database's clock
    due_at timestamptz(3) not null default now(),
    -- The number of attempts, and the error of the last
    attempts integer not null default 0,
    last_error text,
    sent_at timestamptz(3),
    failed_at timestamptz(3),
    created_at timestamptz(3) not null default now(),
    constraint mails_pkey primary key (id),
    constraint mails_kind_check check (kind in (
        'invite', 'confirm_email', 'reset_password', 'change_email', 'email_change_requested',
        'password_changed', 'webhook_disabled')),
    constraint mails_ended_check check (sent_at is null or failed_at is null)
);
create index mails_due_at_idx on identity.mails (due_at) where sent_at is null and failed_at is null;
create index mails_recipient_idx on identity.mails (lower(recipient), kind, id);
create index mails_user_id_idx on identity.mails (user_id, kind, created_at) where user_id is not null;
create index mails_created_at_idx on identity.mails using brin (created_at);

-- Tokens that were mailed to users, each for one use. The owner of a token controls the address that it
-- was sent to.
create table identity.account_tokens (
    -- SHA-256 of the token, which is not stored
    token_hash bytea not null,
    purpose text not null,
    user_id uuid not null,
    -- The address that is confirmed, or that becomes the user's
    email text,
    expires_at timestamptz(3) not null,
    constraint account_tokens_pkey primary key (token_hash),
    constraint account_tokens_user_id_fkey foreign key (user_id) references identity.users (id) on delete cascade,
    constraint account_tokens_token_hash_check check (octet_length(token_hash) = 32),
    constraint account_tokens_purpose_check check (
        purpose = 'reset_password' and email is null
        or purpose in ('confirm_email', 'change_email') and email is not null)
);
create index account_tokens_user_id_idx on identity.account_tokens (user_id, purpose);
create index account_tokens_expires_at_idx on identity.account_tokens (expires_at);

-- The shares that referrers earned of the rewards of tasks and of paid orders, once for each. Append-only.
create table identity.referral_rewards (
    -- Made from the source
    id uuid not null,
    source_kind text not null,
    -- The completion or the order
    source_id uuid not null,
    referrer_user_id uuid not null,
    user_id uuid not null,
    base_amount numeric(28, 8) not null,
    base_asset_code text not null,
    -- As it was set then
    percent numeric(28, 8) not null,
    -- The transaction that credits the reward in wallet-svc
    transaction_id uuid not null,
    created_at timestamptz(3) not null,
    constraint referral_rewards_pkey primary key (id),
    constraint referral_rewards_source_kind_source_id_key unique (source_kind, source_id),
    constraint referral_rewards_transaction_id_key unique (transaction_id),
    constraint referral_rewards_referrer_user_id_fkey
        foreign key (referrer_user_id) references identity.users (id),
    constraint referral_rewards_user_id_fkey foreign key (user_id) references identity.users (id),
    constraint referral_rewards_source_kind_check check (source_kind in ('order', 'task')),
    constraint referral_rewards_users_check check (referrer_user_id <> user_id),
    constraint referral_rewards_base_amount_check check (base_amount > 0 and base_amount <> 'NaN'),
    constraint referral_rewards_percent_check check (percent > 0 and percent <= 100)
);

-- The keys that sign tokens. The newest whose time has come signs; older ones verify for a while.
create table identity.signing_keys (
    -- `kid` in the header of a token: a hash of the public key
    key_id text not null,
    -- The Ed25519 seed, sealed with IDENTITY_KEY_ENCRYPTION_KEY
    sealed_seed bytea not null,
    signs_from timestamptz(3) not null,
    created_at timestamptz(3) not null default now(),
    constraint signing_keys_pkey primary key (key_id)
);

grant usage on schema identity to guerdon_identity_app;
grant select, insert, update, delete on
    identity.users, identity.credentials, identity.refresh_tokens, identity.user_provisionings,
    identity.user_deletions, identity.revocations, identity.signing_keys
to guerdon_identity_app;
grant select, insert, update on identity.api_keys, identity.invites, identity.tasks to guerdon_identity_app;
grant select, insert on identity.task_completions, identity.referral_rewards to guerdon_identity_app;
grant select, insert, update, delete on identity.mails, identity.account_tokens to guerdon_identity_app;
