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
    "TSX_",
    "TS_NODE_",
    "PYTHON",
    "PIP_",
    "PIPX_",
    "UV_",
    "POETRY_",
    "PDM_",
    "PIPENV_",
    "PIXI_",
    "HATCH_",
    "RYE_",
    "XONSH",
    "PERL",
    "RUBY",
    "GEM_",
    "BUNDLE_",
    "LUA_",
    "PHP",
    "COMPOSER",
    "JAVA_",
    "JDK_",
    "_JAVA_",
    "MAVEN_",
    "M2_",
    "GRADLE_",
    "ORG_GRADLE_",
    "ANT_",
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
    "FISH_",
    "NU_",
    "YASH_",
    "JUST_",
    "DEVBOX_",
    "DIRENV_",
    "TASK_REMOTE_",
    // Programs that start others.
    "GIT_",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "SSH_PKCS11_",
    "SSH_SK_",
    "DOCKER_",
    "COMPOSE_",
    "CONTAINER_",
    "CONTAINERS_",
    "CONTAINERD_",
    "NERDCTL_",
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
    // What was fetched or compiled before is taken from there.
    "XDG_CACHE_HOME",
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
    "LESSOPEN",
    "LESSCLOSE",
    // Programs that run recipes.
    "GNUMAKEFLAGS",
    "MAKE",
    "MAKEFILES",
    "MAKEFLAGS",
    "MAKEOVERRIDES",
    "MFLAGS",
    "RAKEOPT",
    "TASK_TEMP_DIR",
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
    use super::super::program::handing_over;
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
        for name in chooses {
            assert!(chooses_code(name), "{name}");
        }
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
            "MAKE_API_KEY",
            "TASK_ID",
            "GOAL",
        ];
        for name in others {
            assert!(!chooses_code(name), "{name}");
        }
    }

    /// What choose the code of each program that a command line is known to hand over to.
    const OF_PROGRAMS: &[(&str, &[&str])] = &[
        ("ant", &["ANT_ARGS", "ANT_OPTS"]),
        ("ash", &["ENV"]),
        ("bash", &["BASH_ENV", "BASH_FUNC_ls%%"]),
        ("bun", &["BUN_INSTALL", "BUN_CONFIG_REGISTRY"]),
        ("bundle", &["BUNDLE_GEMFILE", "BUNDLE_PATH"]),
        ("bunx", &["BUN_INSTALL"]),
        ("cargo", &["CARGO_HOME", "CARGO_BUILD_RUSTC_WRAPPER", "RUSTC"]),
        ("composer", &["COMPOSER", "COMPOSER_HOME"]),
        ("csh", &["HOME"]),
        ("dash", &["ENV"]),
        ("deno", &["DENO_DIR", "XDG_CACHE_HOME"]),
        ("devbox", &["DEVBOX_INIT_PATH"]),
        ("direnv", &["DIRENV_CONFIG"]),
        ("dnx", &["DOTNET_ROOT"]),
        ("docker", &["DOCKER_HOST", "DOCKER_CONFIG"]),
        ("docker-compose", &["COMPOSE_FILE"]),
        ("dotnet", &["DOTNET_STARTUP_HOOKS"]),
        ("elvish", &["XDG_CONFIG_HOME"]),
        ("fish", &["fish_function_path"]),
        ("go", &["GOFLAGS", "GOPROXY", "GOTOOLCHAIN"]),
        ("gradle", &["GRADLE_OPTS", "GRADLE_USER_HOME", "ORG_GRADLE_PROJECT_x"]),
        ("hatch", &["HATCH_CONFIG"]),
        ("java", &["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH"]),
        ("just", &["JUST_JUSTFILE", "JUST_SHELL"]),
        ("ksh", &["ENV", "FPATH"]),
        ("lua", &["LUA_PATH", "LUA_INIT"]),
        ("make", &["MAKEFILES", "MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS", "MAKE"]),
        ("mksh", &["ENV"]),
        ("mvn", &["MAVEN_OPTS", "M2_HOME"]),
        ("nerdctl", &["NERDCTL_TOML", "CONTAINERD_ADDRESS"]),
        ("nix", &["NIX_PATH", "NIX_CONFIG"]),
        ("node", &["NODE_OPTIONS", "NODE_PATH"]),
        ("nodejs", &["NODE_OPTIONS"]),
        ("npm", &["npm_config_prefix"]),
        ("npx", &["npm_config_registry"]),
        ("nu", &["NU_LIB_DIRS"]),
        ("oksh", &["ENV"]),
        ("osh", &["ENV"]),
        ("pdm", &["PDM_PROJECT"]),
        ("perl", &["PERL5OPT", "PERL5LIB"]),
        ("php", &["PHPRC", "PHP_INI_SCAN_DIR"]),
        ("pipenv", &["PIPENV_PIPFILE"]),
        ("pipx", &["PIPX_HOME", "PIP_INDEX_URL", "XDG_DATA_HOME"]),
        ("pixi", &["PIXI_HOME"]),
        ("pnpm", &["PNPM_HOME", "npm_config_registry"]),
        ("pnpx", &["PNPM_HOME"]),
        ("podman", &["CONTAINERS_CONF", "CONTAINER_HOST"]),
        ("poetry", &["POETRY_HOME"]),
        ("pypy", &["PYTHONPATH"]),
        ("python", &["PYTHONPATH", "PYTHONSTARTUP"]),
        ("rake", &["RAKEOPT"]),
        ("rbash", &["BASH_ENV"]),
        ("ruby", &["RUBYOPT", "RUBYLIB"]),
        ("rye", &["RYE_HOME"]),
        ("sh", &["ENV"]),
        ("task", &["TASK_REMOTE_DIR", "TASK_TEMP_DIR"]),
        ("tcsh", &["HOME"]),
        ("tsx", &["TSX_TSCONFIG_PATH", "NODE_OPTIONS"]),
        ("uv", &["UV_INDEX_URL", "UV_CACHE_DIR", "XDG_CACHE_HOME"]),
        ("uvx", &["UV_DEFAULT_INDEX"]),
        ("xonsh", &["XONSHRC"]),
        ("yarn", &["YARN_RC_FILENAME"]),
        ("yash", &["YASH_LOADPATH"]),
        ("zsh", &["ZDOTDIR", "FPATH"]),
    ];

    /// A program that is added to one list and not to the other would be steered by its variables.
    #[test]
    fn of_every_known_program_the_variables_are_known() {
        for program in handing_over() {
            let known = OF_PROGRAMS.iter().find(|(known, _)| *known == program);
            let (_, variables) = known.unwrap_or_else(|| panic!("{program} is steered by what?"));
            for variable in *variables {
                assert!(chooses_code(variable), "{variable} of {program}");
            }
        }
    }
}
