//! Variables that decide which code a program runs, whatever its command line says.
//!
//! A command is trusted by its words. A variable can make other code of the same words: a library
//! that is loaded first, a file that an interpreter reads before its script, another place to find
//! programs, packages or settings. No list of them is complete; this one has those of the system's
//! loader and of the programs that servers are started with. What servers are commonly told and
//! chooses nothing, such as `GOOGLE_API_KEY` or `NODE_ENV`, is not in it.

/// What names of them begin with.
const PREFIXES: &[&str] = &[
    // The loaders of the system.
    "LD_",
    "DYLD_",
    "GLIBC_",
    "GCONV_",
    "NIX_",
    // What chooses among the versions of interpreters.
    "PYENV_",
    "RBENV_",
    "NODENV_",
    "ASDF_",
    "MISE_",
    "VOLTA_",
    "NVM_",
    // Interpreters, and what installs packages for them.
    "NODE_",
    "NPM_",
    "YARN_",
    "PNPM_",
    "COREPACK_",
    "BUN_",
    "DENO_",
    "PYTHON",
    "PIP_",
    "PIPX_",
    "UV_",
    "POETRY_",
    "PERL",
    "RUBY",
    "GEM_",
    "BUNDLE_",
    "LUA_",
    "PHP",
    "JAVA_",
    "JDK_",
    "_JAVA_",
    "MAVEN_",
    "DOTNET_",
    "CORECLR_",
    "JULIA_",
    "R_",
    "ERL_",
    "TCLLIBPATH",
    "CARGO_",
    "RUSTC",
    "RUSTDOC",
    "RUSTFLAGS",
    "RUSTUP_",
    "BASH_",
    // Programs that start others.
    "GIT_",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "SSH_PKCS11_",
    "SSH_SK_",
    "DOCKER_",
    "CONTAINER_",
    "ELECTRON_",
];

/// Names of them.
const NAMES: &[&str] = &[
    // Where programs and the settings of programs are.
    "PATH",
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_DATA_HOME",
    "XDG_DATA_DIRS",
    // Shells.
    "ENV",
    "BASHOPTS",
    "SHELLOPTS",
    "SHELL",
    "ZDOTDIR",
    "FPATH",
    "IFS",
    "PS4",
    "PROMPT_COMMAND",
    "CDPATH",
    // Libraries that load modules.
    "CLASSPATH",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    "LOCPATH",
    "KUBECONFIG",
    "PHPRC",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    // The tools of Go.
    "GOAUTH",
    "GOBIN",
    "GOCACHE",
    "GOENV",
    "GOFLAGS",
    "GOINSECURE",
    "GOMODCACHE",
    "GONOPROXY",
    "GONOSUMDB",
    "GOPATH",
    "GOPRIVATE",
    "GOPROXY",
    "GOROOT",
    "GOSUMDB",
    "GOTOOLCHAIN",
    "GOVCS",
    "GOWORK",
    // Programs that others start by themselves.
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
    "MAKEFLAGS",
];

/// Names that begin like one of them, and only tell a program how to behave.
const HARMLESS: &[&str] = &[
    "NODE_ENV",
    "NODE_NO_WARNINGS",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
];

/// Whether a variable decides which code a program runs. Case is not looked at: npm, for one, takes
/// `Npm_Config_registry` for `npm_config_registry`.
pub fn chooses_code(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let name = name.as_str();
    let begins = || PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    NAMES.contains(&name) || (begins() && !HARMLESS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_chooses_code_is_told_from_what_does_not() {
        let chooses = [
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "PYENV_HOOK_PATH",
            "VOLTA_HOME",
            "ERL_AFLAGS",
            "NODE_OPTIONS",
            "NODE_PATH",
            "npm_config_registry",
            "Npm_Config_registry",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "PYTHONHOME",
            "PERL5LIB",
            "PERL5OPT",
            "RUBYOPT",
            "RUBYLIB",
            "BASH_ENV",
            "ENV",
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "PATH",
            "GIT_SSH_COMMAND",
            "UV_INDEX_URL",
            "HOME",
            "home",
            "GOFLAGS",
            "RUSTC_WRAPPER",
            "SSH_ASKPASS",
        ];
        assert!(chooses.into_iter().all(chooses_code));
        let others = [
            "API_TOKEN",
            "LANG",
            "TZ",
            "DEBUG",
            "LOG_LEVEL",
            "MY_PATH",
            "GITHUB_TOKEN",
            "GOOGLE_API_KEY",
            "NODE_ENV",
            "PYTHONUNBUFFERED",
            "RUST_LOG",
            "SSH_HOST",
        ];
        assert!(!others.into_iter().any(chooses_code));
    }
}
