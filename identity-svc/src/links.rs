//! Links into the shop's pages, which mails and invites hold.

use std::fmt;

/// Builds links below `APP_URL`.
#[derive(Debug, Clone)]
pub(crate) struct Links {
    /// Ends with a slash.
    base: String,
}

impl Links {
    pub(crate) fn new(app_url: &str) -> Self {
        Self {
            base: format!("{}/", app_url.trim_end_matches('/')),
        }
    }

    /// Returns the page where somebody signs up with an invite or referral code.
    pub(crate) fn sign_up(&self, code: &str) -> String {
        self.page(format_args!("sign-up?code={code}"))
    }

    /// Returns the page that sends the token to `POST /users/confirm-email`.
    pub(crate) fn confirm_email(&self, token: &str) -> String {
        self.page(format_args!("confirm-email?token={token}"))
    }

    /// Returns the page that sends the token and a new password to `POST /users/reset-password`.
    pub(crate) fn reset_password(&self, token: &str) -> String {
        self.page(format_args!("reset-password?token={token}"))
    }

    fn page(&self, path: fmt::Arguments<'_>) -> String {
        format!("{}{path}", self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_below_the_base_with_or_without_its_slash() {
        for base in ["https://shop.example/en", "https://shop.example/en/"] {
            let links = Links::new(base);
            assert_eq!(
                links.sign_up("I123456789"),
                "https://shop.example/en/sign-up?code=I123456789"
            );
            assert_eq!(
                links.confirm_email("t"),
                "https://shop.example/en/confirm-email?token=t"
            );
            assert_eq!(
                links.reset_password("t"),
                "https://shop.example/en/reset-password?token=t"
            );
        }
    }
}
