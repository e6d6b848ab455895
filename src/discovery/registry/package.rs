//! Packages that servers are run from, as the registry describes them.

use serde_json::Value;

use super::super::claim::Input;
use super::super::document::{Object, text};
use super::super::normalise::{input, inputs};

/// A package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Where it is from.
    pub kind: Kind,
    /// Its name there.
    pub identifier: String,
    /// Its version.
    pub version: Option<String>,
    /// The registry of packages, when it is another than the usual one.
    pub base_url: Option<String>,
    /// The hash of the file, in hexadecimal digits.
    pub sha256: Option<String>,
    /// What is to run it.
    pub runtime_hint: Option<String>,
    /// How the server is spoken to.
    pub transport: Transport,
    /// Arguments for what runs it.
    pub runtime_arguments: Vec<Argument>,
    /// Arguments for the server.
    pub arguments: Vec<Argument>,
    /// Variables for the server.
    pub environment: Vec<(String, Input)>,
}

/// Where a package is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// npm.
    Npm,
    /// PyPI.
    Pypi,
    /// A container image.
    Oci,
    /// NuGet.
    Nuget,
    /// A bundle: an archive with everything in it.
    Mcpb,
    /// Another one, which cannot be run.
    Other(String),
}

/// How a server from a package is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// On its standard streams.
    Stdio,
    /// Over HTTP, at a URL of its own.
    Http,
}

/// An argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// The flag in front of the value; `None` for a positional one.
    pub flag: Option<String>,
    /// What stands for the value: the name that `--var` takes.
    pub name: Option<String>,
    /// The value.
    pub input: Input,
    /// Whether it may be there several times.
    pub is_repeated: bool,
}

impl Kind {
    /// Reads the word for it.
    pub fn named(word: &str) -> Kind {
        match word.to_ascii_lowercase().as_str() {
            "npm" => Kind::Npm,
            "pypi" => Kind::Pypi,
            "oci" | "docker" | "docker-hub" => Kind::Oci,
            "nuget" => Kind::Nuget,
            "mcpb" => Kind::Mcpb,
            _ => Kind::Other(word.to_owned()),
        }
    }

    /// The word for it.
    pub fn word(&self) -> &str {
        match self {
            Kind::Npm => "npm",
            Kind::Pypi => "pypi",
            Kind::Oci => "oci",
            Kind::Nuget => "nuget",
            Kind::Mcpb => "mcpb",
            Kind::Other(word) => word,
        }
    }

    /// Those that can be run, the preferred first.
    pub const ALL: [Kind; 5] = [Kind::Npm, Kind::Pypi, Kind::Oci, Kind::Nuget, Kind::Mcpb];
}

impl Package {
    /// Reads a package, in the spelling of today or that of the first registry. `None` when it does
    /// not say what it is.
    pub fn read(package: &Object) -> Option<Package> {
        let kind = text(package, &["registryType", "registry_type", "registry_name"])?;
        let transport = match package.get("transport") {
            Some(Value::Object(transport)) => text(transport, &["type"]),
            Some(Value::String(word)) => Some(word.clone()),
            _ => None,
        };
        Some(Package {
            kind: Kind::named(&kind),
            identifier: text(package, &["identifier", "name"])?,
            version: text(package, &["version"]),
            base_url: text(package, &["registryBaseUrl", "registry_base_url"]),
            sha256: text(package, &["fileSha256", "file_sha256"]),
            runtime_hint: text(package, &["runtimeHint", "runtime_hint"]),
            transport: match transport.as_deref() {
                None | Some("stdio") => Transport::Stdio,
                Some(_) => Transport::Http,
            },
            runtime_arguments: arguments(package, &["runtimeArguments", "runtime_arguments"]),
            arguments: arguments(package, &["packageArguments", "package_arguments"]),
            environment: environment(package),
        })
    }
}

fn arguments(package: &Object, names: &[&str]) -> Vec<Argument> {
    let list = names.iter().find_map(|name| package.get(*name)?.as_array());
    list.into_iter().flatten().filter_map(Value::as_object).map(Argument::read).collect()
}

fn environment(package: &Object) -> Vec<(String, Input)> {
    let names = ["environmentVariables", "environment_variables"];
    let list = names.iter().find_map(|name| package.get(*name)?.as_array());
    let variables = list.into_iter().flatten().filter_map(Value::as_object);
    let named =
        variables.filter_map(|variable| Some((text(variable, &["name"])?, input(variable))));
    named.chain(inputs(package.get("env"))).collect()
}

impl Argument {
    fn read(argument: &Object) -> Argument {
        let flag = text(argument, &["name"]);
        let is_named = text(argument, &["type"]).is_none_or(|kind| kind == "named");
        let flag = flag.filter(|_| is_named);
        let hint = text(argument, &["valueHint", "value_hint"]);
        // For `--port` one says `port`.
        let bare = flag.as_ref().map(|flag| flag.trim_matches(['-', '=']).to_owned());
        let repeats = |name: &str| argument.get(name).and_then(Value::as_bool) == Some(true);
        Argument {
            name: bare.or(hint).filter(|name| !name.is_empty()),
            flag,
            input: input(argument),
            is_repeated: repeats("isRepeated") || repeats("is_repeated"),
        }
    }
}
