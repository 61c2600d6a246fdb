//! The services have the same files, the same names, and the same composition root.

use std::{
    fs,
    path::{Path, PathBuf},
};

const CONTEXTS: [&str; 4] = ["catalog", "orders", "wallet", "identity"];

fn root(context: &str) -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    workspace.join(format!("{context}-svc"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn services_have_the_same_files() {
    for context in CONTEXTS {
        for file in ["README.md", "sqlx.toml", "src/config.rs", "src/error.rs"] {
            let path = root(context).join(file);
            assert!(path.is_file(), "{}", path.display());
        }
        let mut migrations: Vec<_> = fs::read_dir(root(context).join("migrations"))
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        migrations.sort();
        let first = [
            format!("20261129000000_create_{context}.sql"),
            "20261129000100_create_messaging.sql".to_owned(),
        ];
        assert_eq!(migrations[..2], first);
    }
}

#[test]
fn services_are_tested_by_one_binary_with_a_harness() {
    for context in CONTEXTS {
        let tests = root(context).join("tests/it");
        assert!(tests.join("main.rs").is_file(), "{}", tests.display());
        let file = tests.join("harness.rs");
        let harness = if file.is_file() {
            read(&file)
        } else {
            read(&tests.join("harness/mod.rs"))
        };
        assert!(harness.contains("struct TestApp {"), "{context}-svc");
    }
}

#[test]
fn services_have_the_same_entry_point() {
    for context in CONTEXTS {
        let main = format!(
            "//! Runs {context}-svc; `--help` lists its settings.\n\n\
             fn main() -> std::process::ExitCode {{\n    \
                 platform::service::main::<{context}_svc::Service>()\n}}\n"
        );
        assert_eq!(read(&root(context).join("src/main.rs")), main);
        let build = "//! Makes cargo notice new migrations, which are compiled in.\n\n\
                     fn main() {\n    println!(\"cargo:rerun-if-changed=migrations\");\n}\n";
        assert_eq!(read(&root(context).join("build.rs")), build);
    }
}

#[test]
fn library_roots_hold_modules_schema_and_migrations_only() {
    for context in CONTEXTS {
        let lib = read(&root(context).join("src/lib.rs"));
        let head = "#![doc = include_str!(\"../README.md\")]\n\n";
        let tail = format!(
            "\nuse platform::pg::Schema;\n\
             use sqlx::migrate::Migrator;\n\n\
             pub use service::Service;\n\n\
             /// The schema of {context}-svc.\n\
             pub const SCHEMA: Schema = Schema::new(\"{context}\");\n\n\
             /// The migrations of the schema.\n\
             pub static MIGRATOR: Migrator = sqlx::migrate!();\n"
        );
        let modules = lib
            .strip_prefix(head)
            .and_then(|lib| lib.strip_suffix(&tail))
            .unwrap_or_else(|| panic!("{context}-svc/src/lib.rs: another head or tail"));
        for line in modules.lines() {
            let module = line.strip_prefix("pub ").unwrap_or(line);
            assert!(
                module.starts_with("mod ") && module.ends_with(';'),
                "{line}"
            );
        }
    }
}

#[test]
fn composition_roots_are_a_server_and_a_backbone() {
    for context in CONTEXTS {
        let service = read(&root(context).join("src/service.rs"));
        for part in [
            "pub struct Service {\n    server: Server,\n    backbone: Backbone,\n",
            "Backbone::connect::<Self>(&config.database_url, &config.nats, &runtime)",
            "self.backbone.run(self.server, stop).await\n",
        ] {
            assert!(service.contains(part), "{context}-svc: {part}");
        }
    }
}

#[test]
fn background_tasks_are_named_in_kebab_case_and_belong_to_the_backbone() {
    for context in CONTEXTS {
        for (path, source) in sources(&root(context).join("src")) {
            let foreign = source.contains("Supervisor::new") || source.contains("relay::run");
            assert!(!foreign, "{}", path.display());
            for name in task_names(&source) {
                let kebab = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
                assert!(name.bytes().all(kebab), "{}: {name}", path.display());
            }
        }
    }
}

#[test]
fn grpc_clients_come_from_the_one_constructor() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for folder in [
        "platform",
        "gateway",
        "catalog-svc",
        "orders-svc",
        "wallet-svc",
        "identity-svc",
    ] {
        for (path, source) in sources(&workspace.join(folder).join("src")) {
            // `Client::service` sets deadline and limits.
            let unlimited = source.contains("ServiceClient::new(");
            assert!(!unlimited, "{}", path.display());
        }
    }
}

/// The names of the tasks that a file adds to the backbone.
fn task_names(source: &str) -> Vec<&str> {
    [".worker(", ".essential("]
        .iter()
        .flat_map(|call| source.split(call).skip(1))
        .map(|arguments| {
            let name = arguments.trim_start().strip_prefix('"');
            let name = name.and_then(|name| name.split('"').next());
            name.expect("the name of a task is a literal")
        })
        .collect()
}

#[test]
fn grpc_adapters_are_named_after_their_aggregate() {
    for context in CONTEXTS {
        let mut adapters = 0;
        for (path, source) in sources(&root(context).join("src")) {
            for line in source.lines() {
                let Some((service, adapter)) = line
                    .strip_prefix("impl ")
                    .and_then(|line| line.strip_suffix(" {"))
                    .and_then(|line| line.split_once(" for "))
                else {
                    continue;
                };
                if !service.ends_with("Service") {
                    continue;
                }
                let folder = aggregate(&path);
                let file = path.display();
                assert!(adapter.starts_with(&folder), "{file}: {adapter}");
                assert!(adapter.ends_with("Grpc"), "{file}: {adapter}");
                adapters += 1;
            }
        }
        assert!(adapters > 1, "{context}-svc has adapters");
    }
}

/// The folder of `<aggregate>/grpc.rs` or `<aggregate>/grpc/<part>.rs`, as a type's name.
fn aggregate(path: &Path) -> String {
    let parts: Vec<_> = path
        .iter()
        .map(|part| part.to_str().expect("UTF-8"))
        .collect();
    let grpc = parts
        .iter()
        .position(|part| *part == "grpc" || *part == "grpc.rs")
        .unwrap_or_else(|| panic!("{}: an adapter outside grpc", path.display()));
    let capitalised = |word: &str| word[..1].to_uppercase() + &word[1..];
    parts[grpc - 1].split('_').map(capitalised).collect()
}

/// Every Rust file below a folder with its text.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = read(&path);
            found.push((path, text));
        }
    }
    found
}
