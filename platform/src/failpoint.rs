//! Failpoints: crashes and errors between two steps, for tests. Debug builds only, armed by
//! `FAILPOINTS="orders.pay.claimed=kill;wallet.post.committed=error"`.

/// Kills the process with SIGKILL if the failpoint is armed with `kill`.
///
/// ```
/// platform::failpoint::hit("orders.pay.claimed");
/// ```
#[inline]
pub fn hit(name: &str) {
    #[cfg(debug_assertions)]
    if armed::is(name, "kill") {
        armed::kill(name);
    }
    #[cfg(not(debug_assertions))]
    let _ = name;
}

/// Returns whether the failpoint is armed with `error`; the caller then returns one.
#[inline]
pub fn fails(name: &str) -> bool {
    #[cfg(debug_assertions)]
    return armed::is(name, "error");
    #[cfg(not(debug_assertions))]
    {
        let _ = name;
        false
    }
}

#[cfg(debug_assertions)]
mod armed {
    use std::{collections::HashMap, sync::LazyLock};

    static POINTS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
        #[expect(
            clippy::disallowed_methods,
            reason = "not a setting: it exists in debug builds only"
        )]
        let armed = std::env::var("FAILPOINTS").unwrap_or_default();
        parse(&armed)
    });

    pub(super) fn is(name: &str, action: &str) -> bool {
        POINTS.get(name).is_some_and(|armed| armed == action)
    }

    pub(super) fn kill(name: &str) {
        use rustix::process::{Signal, getpid, kill_process};
        tracing::warn!(name, "failpoint: killing the process");
        kill_process(getpid(), Signal::KILL).expect("a process may signal itself");
    }

    pub(super) fn parse(armed: &str) -> HashMap<String, String> {
        armed
            .split(';')
            .filter_map(|point| point.split_once('='))
            .map(|(name, action)| (name.trim().to_owned(), action.trim().to_owned()))
            .collect()
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::armed::parse;

    #[test]
    fn failpoints_are_separated_by_semicolons() {
        let points = parse("orders.pay.claimed=kill; wallet.post=error;;odd");
        assert_eq!(points.len(), 2);
        assert_eq!(points["orders.pay.claimed"], "kill");
        assert_eq!(points["wallet.post"], "error");
    }

    #[test]
    fn an_unarmed_failpoint_does_nothing() {
        super::hit("nowhere");
        assert!(!super::fails("nowhere"));
    }
}
