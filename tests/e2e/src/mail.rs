//! Mails of a running stack, which it writes into a directory.

use std::fs;

use crate::TestApp;

impl TestApp {
    /// Waits for a mail to this address whose link leads to a page, and returns the token of the link.
    ///
    /// # Panics
    /// If none arrives.
    pub async fn mailed_token(&self, address: &str, page: &str) -> String {
        self.eventually(|| async {
            let token = self.find_token(address, page);
            token
                .map(|_| ())
                .ok_or_else(|| format!("no mail to {address} leads to {page}"))
        })
        .await;
        self.find_token(address, page).expect("just found")
    }

    fn find_token(&self, address: &str, page: &str) -> Option<String> {
        let files = fs::read_dir(&self.stack.wiring().mails).expect("a directory");
        files.filter_map(Result::ok).find_map(|file| {
            let is_whole = file.path().extension().is_some_and(|it| it == "eml");
            let mail = is_whole.then(|| fs::read_to_string(file.path()).ok())??;
            token_in(&mail, address, page)
        })
    }
}

/// Returns the token of the link to a page, if this is a mail to the address.
pub fn token_in(mail: &str, address: &str, page: &str) -> Option<String> {
    // Quoted-printable (RFC 2045).
    let plain = mail.replace("=\r\n", "").replace("=3D", "=");
    let (_, after) = plain.split_once(&format!("{page}?token="))?;
    let is_part = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let token = after.chars().take_while(is_part).collect();
    plain.contains(address).then_some(token)
}
