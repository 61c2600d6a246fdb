//! The page `proto/API.md`: every RPC with its callers, every message and every field, with the comments of
//! the `.proto` files.

mod file;
mod text;

use std::fmt::Write as _;

use prost::Message as _;
use prost_types::FileDescriptorSet;

use self::file::File;

/// The packages in the order of the page, with their titles.
const PACKAGES: [(&str, &str); 7] = [
    ("guerdon.catalog.v1", "Catalogue"),
    ("guerdon.orders.v1", "Orders"),
    ("guerdon.wallet.v1", "Wallets"),
    ("guerdon.identity.v1", "Identity"),
    ("guerdon.audit.v1", "Audit log"),
    ("guerdon.common.v1", "Lists"),
    ("guerdon.events.v1", "Events"),
];

/// Renders `proto/API.md`.
///
/// # Panics
/// Never: the descriptors are those of the build script.
pub fn page() -> String {
    let set = FileDescriptorSet::decode(crate::DESCRIPTORS).expect("the build script encoded it");
    let mut files: Vec<_> = set.file.iter().map(File::new).collect();
    files.sort_by_key(File::name);
    let mut page = include_str!("head.md").to_owned();
    for (package, title) in PACKAGES {
        contents(&mut page, package, title, &files);
    }
    for (package, title) in PACKAGES {
        let of_package = || files.iter().filter(|file| file.package() == package);
        _ = write!(page, "\n## {title}\n\nPackage `{package}`.");
        for about in of_package().filter_map(File::about) {
            _ = write!(page, " {about}");
        }
        page.push('\n');
        for file in of_package() {
            file.render(&mut page);
        }
    }
    page
}

/// Writes the line of a package in the table of contents, with its services.
fn contents(page: &mut String, package: &str, title: &str, files: &[File]) {
    let services: Vec<_> = files
        .iter()
        .filter(|file| file.package() == package)
        .flat_map(File::services)
        .map(|service| format!("[{service}]({})", text::anchor(package, service)))
        .collect();
    let link = title.to_lowercase().replace(' ', "-");
    let services = services.join(", ");
    _ = writeln!(page, "| [{title}](#{link}) | `{package}` | {services} |");
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_committed_page_is_current() {
        assert!(
            page() == include_str!("../../API.md"),
            "run: cargo run -q -p proto --example reference > proto/API.md"
        );
    }

    #[test]
    fn every_rpc_and_every_message_is_on_the_page() {
        let page = page();
        let set = FileDescriptorSet::decode(crate::DESCRIPTORS).unwrap();
        let ours = |package: &str| package.starts_with("guerdon.");
        for file in set.file.iter().filter(|file| ours(file.package())) {
            let services = file.service.iter().flat_map(|service| &service.method);
            for rpc in services {
                assert!(
                    page.contains(&format!("| `{}`", rpc.name())),
                    "{}",
                    rpc.name()
                );
            }
            for message in &file.message_type {
                let heading = text::heading(file.package(), message.name());
                assert!(page.contains(&format!("\n#### {heading}\n")), "{heading}");
            }
        }
    }

    #[test]
    fn every_link_leads_to_a_heading() {
        let page = page();
        let headings: BTreeSet<_> = page
            .lines()
            .filter_map(|line| line.strip_prefix("##"))
            .map(|heading| heading.trim_start_matches('#').trim().to_lowercase())
            .map(|heading| heading.replace(['`', '.'], "").replace(' ', "-"))
            .collect();
        let links = page
            .split("](#")
            .skip(1)
            .filter_map(|rest| rest.split(')').next());
        let broken: BTreeSet<_> = links.filter(|link| !headings.contains(*link)).collect();
        assert_eq!(broken, BTreeSet::new());
    }
}
