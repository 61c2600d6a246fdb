//! The texts of mails, from the templates in `templates/<language>/`.
//!
//! A `.txt` file begins with its subject and an empty line; the `.html` file beside it says the same.
//! minijinja escapes values in HTML, and rendering fails where a value is missing.

use chrono::SecondsFormat;
use minijinja::{Environment, UndefinedBehavior, Value, context};

use super::{DisabledWebhook, content::Content};

const DEFAULT_LANGUAGE: &str = "en";

/// The longest name that is shown.
const MAX_NAME_CHARS: usize = 60;

/// Lists the templates of a language.
macro_rules! templates {
    ($language:literal: $($name:literal)+) => {
        &[$(
            (concat!($language, "/", $name), include_str!(concat!("../../templates/", $language, "/", $name)))
        ),+]
    };
}

const TEMPLATES: &[(&str, &str)] = templates!("en":
    "layout.html"
    "invite.txt" "invite.html"
    "confirm_email.txt" "confirm_email.html"
    "reset_password.txt" "reset_password.html"
    "change_email.txt" "change_email.html"
    "email_change_requested.txt" "email_change_requested.html"
    "password_changed.txt" "password_changed.html"
    "webhook_disabled.txt" "webhook_disabled.html"
);

/// Renders mails.
#[derive(Debug)]
pub(super) struct Templates {
    environment: Environment<'static>,
    /// The sender's name.
    shop: String,
}

/// The texts of a mail.
#[derive(Debug)]
pub(super) struct Rendered {
    pub(super) subject: String,
    pub(super) text: String,
    pub(super) html: String,
}

impl Templates {
    /// Parses all templates.
    pub(super) fn new(shop: &str) -> Result<Self, minijinja::Error> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        for (name, source) in TEMPLATES {
            environment.add_template(name, source)?;
        }
        let shop = shop.to_owned();
        Ok(Self { environment, shop })
    }

    /// Renders the content of a mail in the language of its recipient, or in English.
    pub(super) fn render(&self, content: &Content) -> Result<Rendered, minijinja::Error> {
        let language = self.language(content);
        let name = content.kind.as_str();
        let values = context! {
            shop => self.shop.as_str(),
            name => content.name.as_deref().map_or_else(String::new, display_name),
            inviter => content.inviter.as_deref().map_or_else(String::new, display_name),
            link => content.link.as_deref().unwrap_or_default(),
            hours => content.hours.unwrap_or_default(),
            webhook => content.webhook.as_ref().map(webhook_values),
        };
        let render = |format: &str| {
            let template = format!("{language}/{name}.{format}");
            self.environment.get_template(&template)?.render(&values)
        };
        let text = render("txt")?;
        let (subject, text) = text.split_once("\n\n").unwrap_or_default();
        Ok(Rendered {
            subject: subject.to_owned(),
            text: text.to_owned(),
            html: render("html")?,
        })
    }

    /// Returns the language of `pt-PT` or `pt`, if there are templates in it.
    fn language<'l>(&self, content: &'l Content) -> &'l str {
        let locale = content.locale.as_deref().unwrap_or(DEFAULT_LANGUAGE);
        let language = locale.split(['-', '_']).next().unwrap_or_default();
        let layout = format!("{language}/layout.html");
        match self.environment.get_template(&layout) {
            Ok(_) => language,
            Err(_) => DEFAULT_LANGUAGE,
        }
    }
}

fn webhook_values(webhook: &DisabledWebhook) -> Value {
    let since = webhook.failing_since;
    context! {
        id => webhook.id.as_str(),
        host => webhook.host.as_str(),
        description => webhook.description.as_str(),
        reason => webhook.reason.as_str(),
        failing_since => since.to_rfc3339_opts(SecondsFormat::Secs, true),
        last_error => webhook.last_error.as_str(),
    }
}

/// Returns a name as it is shown to others, in one line: users choose theirs, and must not write
/// links or texts of their own into the shop's mails.
pub(super) fn display_name(name: &str) -> String {
    let chars = name.chars().take(MAX_NAME_CHARS);
    let chars = chars.map(|c| match c {
        c if c.is_alphanumeric() || "'’-".contains(c) => c,
        _ => ' ',
    });
    let shown: String = chars.collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mail::{Kind, Line},
        user::Email,
    };

    fn content(kind: Kind) -> Content {
        Content {
            kind,
            to: Email::parse("ann@x.com").unwrap(),
            name: Some("Ann <i>".to_owned()),
            locale: Some("pt-PT".to_owned()),
            inviter: Some("Bob".to_owned()),
            link: Some("https://shop.example/page?token=a&b=\"c\"".to_owned()),
            hours: Some(1),
            webhook: Some(webhook("gone")),
        }
    }

    fn webhook(reason: &str) -> DisabledWebhook {
        DisabledWebhook {
            id: "019c".to_owned(),
            host: "hooks.x.com".to_owned(),
            description: Line::new("<b>shop</b> & \"co\""),
            reason: reason.to_owned(),
            failing_since: "2026-01-31T12:00:00Z".parse().unwrap(),
            last_error: Line::new("status 410"),
        }
    }

    #[test]
    fn every_kind_has_a_subject_and_says_the_same_as_text_and_html() {
        let templates = Templates::new("Tea & Co").unwrap();
        for kind in Kind::ALL {
            let Rendered {
                subject,
                text,
                html,
            } = templates.render(&content(kind)).unwrap();
            let kind = kind.as_str();
            assert!(!subject.is_empty() && !subject.contains('\n'), "{kind}");
            let link = "https://shop.example/page?token=a&b=\"c\"";
            let escaped = html.contains("token=a&amp;b=&quot;c&quot;");
            assert_eq!(text.contains(link), escaped, "{kind}: {html}");
            assert!(text.contains("Ann i,") && html.contains("Ann i,"), "{kind}");
            assert!(
                text.contains("Tea & Co") && html.contains("Tea &amp; Co"),
                "{kind}"
            );
        }
    }

    #[test]
    fn the_notice_of_a_disabled_webhook_says_which_and_why() {
        let templates = Templates::new("Shop").unwrap();
        for (reason, why) in [("gone", "410 (Gone)"), ("failing", "three days")] {
            let mut content = content(Kind::WebhookDisabled);
            content.webhook = Some(webhook(reason));
            let Rendered {
                subject,
                text,
                html,
            } = templates.render(&content).unwrap();
            assert_eq!(subject, "Webhook disabled: hooks.x.com");
            for shown in [
                why,
                "hooks.x.com",
                "2026-01-31T12:00:00Z",
                "status 410",
                "PATCH /webhooks/019c",
            ] {
                assert!(text.contains(shown), "{shown}: {text}");
                assert!(html.contains(shown), "{shown}: {html}");
            }
            assert!(text.contains("<b>shop</b> & \"co\""), "{text}");
            assert!(text.contains("{\"enabled\": true}"), "{text}");
            let escaped = "&lt;b&gt;shop&lt;&#x2f;b&gt; &amp; &quot;co&quot;";
            assert!(html.contains(escaped) && !html.contains("<b>"), "{html}");
        }
    }

    #[test]
    fn a_missing_template_or_value_is_an_error() {
        let templates = Templates::new("Shop").unwrap();
        assert_eq!(templates.language(&content(Kind::Invite)), "en");
        let mut environment = templates.environment;
        environment.add_template("bad", "{{ nothing }}").unwrap();
        let bad = environment.get_template("bad").unwrap();
        assert!(bad.render(context! {}).is_err());
    }

    #[test]
    fn names_are_shown_in_one_line_without_links() {
        for (name, shown) in [
            ("Zoë 日本-O’Neil", "Zoë 日本-O’Neil"),
            (" a\r\nBcc: b@x.com ", "a Bcc b x com"),
            ("www.evil.example/win", "www evil example win"),
            ("\u{202e}\0", ""),
            (&"x".repeat(1_000), &"x".repeat(60)),
        ] {
            assert_eq!(display_name(name), shown);
        }
    }
}
