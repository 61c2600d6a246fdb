//! Composes the message of a mail: headers, a text and its HTML.

use std::time::SystemTime;

use lettre::{
    Address, Message,
    message::{Mailbox, MultiPart, header::HeaderName, header::HeaderValue},
};

use super::{
    content::Content,
    template::{Rendered, Templates, display_name},
};
use crate::error::{Error, Result};

/// Composes messages of one sender.
#[derive(Debug)]
pub(super) struct Composer {
    from: Mailbox,
    templates: Templates,
}

impl Composer {
    pub(super) fn new(from: Mailbox) -> Result<Self> {
        let shop = from.name.clone().unwrap_or_else(|| "Guerdon".to_owned());
        let templates = Templates::new(&shop).map_err(Error::internal)?;
        Ok(Self { from, templates })
    }

    /// Composes a message. `id` is the mail's: a mail that is sent twice has the same `Message-ID`,
    /// by which a mailbox may drop the second.
    pub(super) fn compose(&self, id: i64, content: &Content, now: SystemTime) -> Result<Message> {
        let Rendered {
            subject,
            text,
            html,
        } = self.templates.render(content).map_err(Error::internal)?;
        let address: Address = content.to.as_str().parse().map_err(Error::internal)?;
        let name = content.name.as_deref().map(display_name);
        let to = Mailbox::new(name.filter(|name| !name.is_empty()), address);
        let message_id = format!("<guerdon-mail-{id}@{}>", self.from.email.domain());
        Message::builder()
            .from(self.from.clone())
            .to(to)
            .subject(subject)
            .date(now)
            .message_id(Some(message_id))
            // Asks for no replies of absence assistants (RFC 3834).
            .raw_header(HeaderValue::new(
                HeaderName::new_from_ascii_str("Auto-Submitted"),
                "auto-generated".to_owned(),
            ))
            .multipart(MultiPart::alternative_plain_html(text, html))
            .map_err(Error::internal)
    }
}
