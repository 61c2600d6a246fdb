//! Entry point of catalog-svc.

use std::process::ExitCode;

fn main() -> ExitCode {
    platform::service::main::<catalog_svc::CatalogService>()
}
