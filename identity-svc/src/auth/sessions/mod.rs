//! Logins of users. A login starts a family of refresh tokens, and every use of one replaces it by
//! the next. A token that is used again was copied: its family ends, and so does the session of
//! whoever has the newest token.

mod purge;
mod refresh_token;
mod repo;
mod throttle;

use std::{net::IpAddr, time::Duration};

use platform::{
    auth::{Caller, Kind, TokenVerifier},
    ids::Ids,
};
use proto::identity::v1::UserTokens;
use sqlx::{PgConnection, PgPool};

use self::{
    refresh_token::RefreshToken,
    repo::{Account, Holder},
    throttle::Throttle,
};
use super::Tokens;
use crate::{
    error::{Error, Result},
    user::{Email, Hasher, PasswordAttempt, User, UserId, Users},
};

/// The lifetime of a user's token. It ends earlier where the user is blocked, deleted, or changes its
/// password.
const TOKEN_TTL: Duration = Duration::from_mins(10);

/// Logs users in and keeps them so.
#[derive(Debug, Clone)]
pub(crate) struct Sessions {
    pool: PgPool,
    tokens: Tokens,
    verifier: TokenVerifier,
    users: Users,
    hasher: Hasher,
    throttle: Throttle,
    ids: Ids,
}

/// The credentials of a login as the client wrote them.
pub(crate) struct Login {
    pub(crate) email: String,
    pub(crate) password: String,
    /// The address of the client, as the gateway sees it.
    pub(crate) from: IpAddr,
}

impl Sessions {
    pub(crate) fn new(
        pool: PgPool,
        tokens: Tokens,
        verifier: TokenVerifier,
        users: Users,
        hasher: Hasher,
        ids: Ids,
    ) -> Self {
        Self {
            pool,
            tokens,
            verifier: verifier.for_clients(),
            users,
            hasher,
            throttle: Throttle::default(),
            ids,
        }
    }

    /// Starts a family for an email and a password. An unknown email, a wrong password, and a user
    /// who is blocked or not approved get the same error after the same time.
    pub(crate) async fn log_in(&self, login: Login) -> Result<UserTokens> {
        let email = Email::parse(&login.email)
            .ok()
            .map(|email| email.canonical());
        let name = email.as_deref().unwrap_or(&login.email);
        let attempt = self.throttle.begin(name, login.from)?;
        match self.start(email.as_deref(), &login.password).await {
            Ok(tokens) => {
                attempt.succeeded();
                Ok(tokens)
            }
            Err(Error::BadCredentials) => Err(Error::BadCredentials),
            Err(fault) => {
                attempt.withdraw();
                Err(fault)
            }
        }
    }

    async fn start(&self, email: Option<&str>, password: &str) -> Result<UserTokens> {
        let password = PasswordAttempt::parse(password).ok_or(Error::BadCredentials)?;
        let account = match email {
            Some(email) => repo::find_account(&self.pool, email).await?,
            None => None,
        };
        let hash = account.as_ref().map(|account| &*account.password_hash);
        let verified = self.hasher.verify(&password, hash).await?;
        let mut account = account
            .filter(|account| verified.matches && account.may_log_in)
            .ok_or(Error::BadCredentials)?;
        if verified.is_outdated {
            self.hash_again(&mut account, &password).await?;
        }
        let token = RefreshToken::generate(&self.ids);
        let holder = repo::start(&self.pool, &account, &token).await?;
        Ok(self.issue(holder.ok_or(Error::BadCredentials)?, &token))
    }

    /// Replaces a hash that was made with weaker parameters than those of now.
    async fn hash_again(&self, account: &mut Account, password: &PasswordAttempt) -> Result<()> {
        let hash = self.hasher.hash_again(password).await?;
        if repo::replace_hash(&self.pool, account, &hash).await? {
            account.password_hash = hash;
        }
        Ok(())
    }

    /// Replaces a refresh token. If it was used before, its family ends.
    pub(crate) async fn refresh(&self, token: &str) -> Result<UserTokens> {
        let used = RefreshToken::parse(token).ok_or(Error::BadCredentials)?;
        let next = RefreshToken::generate_in(used.family(), &self.ids);
        if let Some(holder) = repo::rotate(&self.pool, &used, &next).await? {
            return Ok(self.issue(holder, &next));
        }
        if let Some(user_id) = repo::end(&self.pool, &used).await? {
            let family = used.family();
            tracing::warn!(%user_id, %family, "refresh tokens: one was used again, ending its family");
            metrics::counter!("refresh_token_families_ended_total").increment(1);
        }
        Err(Error::BadCredentials)
    }

    /// Ends the family of a refresh token, the newest or an earlier one. Nothing happens if there is
    /// none.
    pub(crate) async fn revoke(&self, token: &str) -> Result<()> {
        if let Some(token) = RefreshToken::parse(token) {
            repo::end(&self.pool, &token).await?;
        }
        Ok(())
    }

    /// Returns the user of an access token, if it may still log in.
    pub(crate) async fn user_of(&self, token: &str) -> Result<User> {
        let caller = self.verifier.verify(token).await?;
        let id = caller.user_id().ok_or(Error::BadCredentials)?;
        let id = UserId::parse(id).map_err(Error::internal)?;
        match self.users.get(&caller, id).await {
            Ok(user) if user.approved && !user.blocked => Ok(user),
            Ok(_) | Err(Error::UserNotFound) => Err(Error::BadCredentials),
            Err(error) => Err(error),
        }
    }

    fn issue(&self, holder: Holder, refresh_token: &RefreshToken) -> UserTokens {
        let Holder {
            user_id,
            roles,
            token_version,
        } = holder;
        let names = roles.iter().map(|role| role.as_str().to_owned()).collect();
        let caller = Caller {
            kind: Kind::User,
            subject: user_id.to_string(),
            roles,
        };
        let access = self.tokens.issue(&caller, token_version, TOKEN_TTL);
        UserTokens {
            access_token: access.token,
            refresh_token: refresh_token.expose(),
            roles: names,
            expires_in_seconds: u32::try_from(TOKEN_TTL.as_secs()).unwrap_or_default(),
        }
    }
}

/// Ends all sessions of a user: its refresh tokens work no more. Call it after the statements that
/// block or delete the user or change its password: a login that they do not stop is ended by it.
pub(crate) async fn end_all_in_tx(conn: &mut PgConnection, user_id: UserId) -> Result<()> {
    repo::end_all_in_tx(conn, user_id).await
}
