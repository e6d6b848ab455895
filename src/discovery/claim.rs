//! What a document claims about one server, whatever form the document has.

use std::fmt;

/// What a document claims about one server. Texts are as they came, control characters and all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claim {
    /// The form of the document.
    pub form: Form,
    /// The name: `com.example/weather`, or whatever an older form has.
    pub name: Option<String>,
    /// A name for people.
    pub title: Option<String>,
    /// The version of the server.
    pub version: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// A page about it.
    pub website: Option<String>,
    /// Where it can be reached, in the order of the document.
    pub remotes: Vec<Remote>,
    /// What older forms say beyond that.
    pub hints: Hints,
    /// What is odd about the document.
    pub remarks: Vec<Remark>,
}

/// The form of a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Form {
    /// Server Card v1 (SEP-2127).
    #[default]
    Card,
    /// A v1 card with members of an older form.
    Hybrid,
    /// `serverInfo` and `transport` (SEP-1649).
    Draft,
    /// `endpoints` and `mcp_version` (SEP-1960).
    Manifest,
    /// A URL and a transport at the top.
    Flat,
    /// One of a list `servers`.
    Listed,
    /// One of the `mcpServers` of a configuration.
    Config,
    /// An entry of a registry.
    Registry,
}

/// A way to reach the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remote {
    /// How HTTP is used.
    pub binding: Binding,
    /// The URL, in which `{name}` stands for a variable.
    pub url: String,
    /// Headers for every request.
    pub headers: Vec<(String, Input)>,
    /// The variables of the URL.
    pub variables: Vec<(String, Input)>,
    /// The revisions that are spoken there; empty when nothing is said.
    pub versions: Vec<String>,
}

/// How HTTP is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Binding {
    /// Streamable HTTP.
    #[default]
    Http,
    /// HTTP+SSE, of the revision 2024-11-05.
    Sse,
}

/// A value that the document leaves open, or says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Input {
    /// What it is for.
    pub description: Option<String>,
    /// Whether it must be there.
    pub is_required: bool,
    /// Whether it must be kept secret.
    pub is_secret: bool,
    /// What it must look like.
    pub format: Format,
    /// What it is when nothing else is said.
    pub default: Option<String>,
    /// An example, which is no value.
    pub placeholder: Option<String>,
    /// What it always is; only the variables in it can be set.
    pub value: Option<String>,
    /// All values that it may have; empty when any will do.
    pub choices: Vec<String>,
    /// The variables of `value`.
    pub variables: Vec<(String, Input)>,
}

/// What a value must look like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// Any text.
    #[default]
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// The path of a file that is there.
    FilePath,
}

/// What older forms say beyond a card.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hints {
    /// What the server can do: `tools`, `prompts`.
    pub capabilities: Vec<String>,
    /// The kinds of packages that it can be run from.
    pub packages: Vec<String>,
    /// How many tools are listed.
    pub tools: Option<usize>,
    /// The revisions it speaks.
    pub versions: Vec<String>,
    /// Whether credentials are needed.
    pub needs_login: Option<bool>,
    /// Which kinds of them.
    pub schemes: Vec<String>,
}

/// What is odd about a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// A network document names a command; that is not used.
    Command {
        /// The entry.
        entry: String,
    },
    /// An endpoint is reached in a way that cannot be used.
    Transport {
        /// The word for it.
        kind: String,
    },
    /// A relative endpoint in a document that came from no URL.
    Relative {
        /// The endpoint.
        endpoint: String,
    },
    /// An endpoint that is no HTTP URL.
    NoUrl {
        /// What it is.
        endpoint: String,
    },
    /// The document has a member twice, and others may read the other one.
    Repeated,
    /// A member of a card is not what it must be, and was left out.
    Ignored {
        /// Where it is.
        member: String,
    },
}

impl Form {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Form::Card => "v1",
            Form::Hybrid => "v1-hybrid",
            Form::Draft => "sep-1649",
            Form::Manifest => "sep-1960",
            Form::Flat => "flat",
            Form::Listed => "list",
            Form::Config => "config",
            Form::Registry => "registry",
        }
    }

    /// Whether it is a form of the standard, and not one that came before.
    pub fn is_current(self) -> bool {
        matches!(self, Form::Card | Form::Hybrid | Form::Registry)
    }
}

impl Binding {
    /// The word for it in a card.
    pub fn word(self) -> &'static str {
        match self {
            Binding::Http => "streamable-http",
            Binding::Sse => "sse",
        }
    }

    /// Reads the many spellings that are in use; `None` for what is no HTTP.
    pub fn named(word: &str) -> Option<Binding> {
        let plain = word.to_ascii_lowercase().replace(['-', '_', ' '], "");
        match plain.as_str() {
            "http" | "https" | "streamablehttp" | "httpstreamable" | "httpstream" => {
                Some(Binding::Http)
            }
            "sse" | "httpsse" | "http+sse" => Some(Binding::Sse),
            _ => None,
        }
    }
}

impl Claim {
    /// What to call the server in a list.
    pub fn shown_name(&self) -> &str {
        self.name.as_deref().or(self.title.as_deref()).unwrap_or("(no name)")
    }

    /// The remotes with a binding.
    pub fn remotes_of(&self, binding: Binding) -> impl Iterator<Item = &Remote> {
        self.remotes.iter().filter(move |remote| remote.binding == binding)
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remark::Command { entry } => {
                write!(f, "{entry:?} names a command; a document of the network never starts one")
            }
            Remark::Transport { kind } => write!(f, "an endpoint for {kind:?} cannot be used"),
            Remark::Relative { endpoint } => {
                write!(f, "{endpoint:?} is relative, and the document came from no URL")
            }
            Remark::NoUrl { endpoint } => write!(f, "{endpoint:?} is no http URL"),
            Remark::Repeated => {
                f.write_str("a member is there twice; others may read the other one")
            }
            Remark::Ignored { member } => {
                write!(f, "{member} is not as it should be and was ignored")
            }
        }
    }
}
