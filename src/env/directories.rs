//! Where files belong (XDG Base Directory Specification).
//!
//! Every directory may be missing: with `HOME` unset there is no cache and no store, and the
//! program works without.

use std::path::PathBuf;

use super::Env;

/// The program's own folder in each of the base directories.
const FOLDER: &str = "mcpmini";

impl Env {
    /// The home directory: `HOME`, if that is an absolute path.
    pub fn home(&self) -> Option<PathBuf> {
        self.directory("HOME")
    }

    /// Where the user's configuration is.
    pub fn config_dir(&self) -> Option<PathBuf> {
        self.base("XDG_CONFIG_HOME", ".config")
    }

    /// Where things are kept that can be made again.
    pub fn cache_dir(&self) -> Option<PathBuf> {
        self.base("XDG_CACHE_HOME", ".cache")
    }

    /// Where approvals, pins and tokens are kept: `MCPMINI_STATE_DIR`, or else the folder in the
    /// user's state directory.
    pub fn state_dir(&self) -> Option<PathBuf> {
        self.directory("MCPMINI_STATE_DIR").or_else(|| self.base("XDG_STATE_HOME", ".local/state"))
    }

    /// Where sockets are kept until the user logs out. The specification gives no default.
    pub fn runtime_dir(&self) -> Option<PathBuf> {
        self.directory("XDG_RUNTIME_DIR").map(|base| base.join(FOLDER))
    }

    fn base(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        // What is written below a home directory that is not there would make it.
        let home = || self.home().filter(|_| !self.homeless);
        let base = self.directory(variable).or_else(|| Some(home()?.join(below_home)))?;
        Some(base.join(FOLDER))
    }

    /// A directory from a variable. Relative paths are invalid and to be ignored, says the
    /// specification: they would mean another place after each `cd`.
    fn directory(&self, variable: &str) -> Option<PathBuf> {
        self.setting(variable).map(PathBuf::from).filter(|path| path.is_absolute())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn directories_follow_the_variables() {
        #[track_caller]
        fn check<const N: usize>(variables: [(&str, &str); N], expected: [Option<&str>; 4]) {
            let env = Env { variables: variables.into(), ..Env::default() };
            let found = [env.config_dir(), env.cache_dir(), env.state_dir(), env.runtime_dir()];
            assert_eq!(found.each_ref().map(Option::as_deref), expected.map(|o| o.map(Path::new)));
        }
        check([], [None; 4]);
        check([("HOME", "")], [None; 4]);
        check([("HOME", "home/u")], [None; 4]);
        check(
            [("HOME", "/h")],
            [
                Some("/h/.config/mcpmini"),
                Some("/h/.cache/mcpmini"),
                Some("/h/.local/state/mcpmini"),
                None,
            ],
        );
        check(
            [
                ("HOME", "/h"),
                ("XDG_CONFIG_HOME", "/c"),
                ("XDG_CACHE_HOME", "relative"),
                ("XDG_STATE_HOME", "/s"),
                ("XDG_RUNTIME_DIR", "/run/user/7"),
            ],
            [
                Some("/c/mcpmini"),
                Some("/h/.cache/mcpmini"),
                Some("/s/mcpmini"),
                Some("/run/user/7/mcpmini"),
            ],
        );
        check(
            [("XDG_STATE_HOME", "/s"), ("MCPMINI_STATE_DIR", "/t")],
            [None, None, Some("/t"), None],
        );
    }

    #[test]
    fn below_a_home_that_is_not_there_is_nothing() {
        let variables = [("HOME", "/h"), ("XDG_CACHE_HOME", "/c")].into();
        let env = Env { variables, homeless: true, ..Env::default() };
        let found = [env.config_dir(), env.cache_dir(), env.state_dir()];
        assert_eq!(found, [None, Some("/c/mcpmini".into()), None]);
    }
}
