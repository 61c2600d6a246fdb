//! What the processes of a stack get from the one that starts them: account, environment, files.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path, process::Command};

use stack::{Stack, StackOptions, is_passed};

#[test]
fn processes_have_no_rights_of_root_no_variables_of_others_and_no_huge_pages() {
    let stack = Stack::start(StackOptions::for_test("handover").expect("options"));
    let stack = stack.expect("the stack starts");
    let ours = fs::metadata("/proc/self").expect("a process").uid();
    for (name, pid) in stack.process_ids() {
        let process = format!("/proc/{pid}");
        let uid = fs::metadata(&process).expect("a process").uid();
        if ours == 0 {
            assert_ne!(uid, 0, "{name} runs as root");
        } else {
            assert_eq!(uid, ours, "{name}");
        }
        let environment = fs::read(format!("{process}/environ")).expect("an environment");
        let environment = String::from_utf8_lossy(&environment);
        // Cargo sets it for a test; here it stands for a developer's keys.
        assert!(!environment.contains("CARGO_MANIFEST_DIR"), "{name}");
    }
    let servers = stack.environment().process_ids();
    let processes = stack.process_ids();
    for (name, pid) in processes.iter().filter(|it| !servers.contains_key(it.0)) {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
        assert!(!status.contains("THP_enabled:\t1"), "{name} has huge pages");
    }
    let logs = stack.environment().postgres_log();
    let logs = logs.parent().expect("a directory");
    let logs = fs::read_dir(logs).expect("logs").map(|log| log.unwrap());
    for log in logs {
        let mode = log.metadata().expect("a file").mode();
        assert_eq!(mode & 0o077, 0, "{}", log.path().display());
    }
}

/// A setting that neither comes from the environment nor is set by the stack could not be made for
/// `cargo stack up`.
#[test]
fn every_setting_reaches_its_program() {
    let mut options = StackOptions::for_test("settings").expect("options");
    options.otlp = Some("http://127.0.0.1:1".to_owned());
    let programs = options.binaries.clone();
    let stack = Stack::without_processes(options).expect("a stack");
    let wiring = stack.wiring();
    for instance in &wiring.instances {
        let program = instance.program();
        let wired = wiring.environment(instance).expect("settings");
        let settings = settings(&programs.join(program));
        assert!(settings.len() > 5, "{program}: {settings:?}");
        for name in settings {
            assert!(
                wired.iter().any(|(wired, _)| *wired == name) || is_passed(&name, program),
                "{program} has the setting {name}: add it to `SETTINGS` in \
                 deploy/stack/src/handover.rs, or set it in `Wiring::environment`"
            );
        }
    }
}

/// Returns the names of the variables that a program's `--help` lists.
fn settings(program: &Path) -> Vec<String> {
    let help = Command::new(program).arg("--help").output();
    let help = String::from_utf8(help.expect("the program runs").stdout).expect("text");
    let names = help.split("[env: ").skip(1);
    names
        .map(|rest| rest.split(['=', ']']).next().unwrap_or_default().to_owned())
        .collect()
}
