//! The services' copies of the messaging tables.

use std::{fs, path::Path};

#[test]
fn messaging_migrations_of_all_services_equal_the_template() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let template = fs::read_to_string(root.join("platform/sql/messaging.sql")).unwrap();
    let mut contexts = Vec::new();
    for folder in fs::read_dir(root).unwrap() {
        let folder = folder.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap();
        let Some(context) = name.strip_suffix("-svc") else {
            continue;
        };
        let path = folder.join("migrations/20261129000100_create_messaging.sql");
        let migration = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            migration,
            template.replace(":schema", context),
            "{}",
            path.display()
        );
        contexts.push(context.to_owned());
    }
    contexts.sort();
    assert_eq!(contexts, ["catalog", "identity", "orders", "wallet"]);
}
