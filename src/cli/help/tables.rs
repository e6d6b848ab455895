//! What the help texts say beyond the comments on commands and options.

use crate::trust::policy::{EXAMPLE, EXAMPLE_LIST};

/// The topics of `mcpmini help TOPIC`, and what each is about.
pub(super) const TOPICS: &[(&str, &str)] = &[
    ("options", "the options of every command"),
    ("naming", "how to name a server"),
    ("arguments", "how to write the arguments of a tool"),
    ("exit-codes", "the exit codes, and when a script may try again"),
    ("environment", "the environment variables"),
    ("files", "where configuration, state and stored answers are"),
    ("policy-file", "what a policy can say"),
    ("man", "the manual page"),
];

/// What there is to say about the file of a policy and about lists of what is revoked, each with an
/// example.
pub(super) const POLICY_FILE: &[(&str, &str)] = &[
    (
        "policy.toml says which servers may be used (where it is: `mcpmini policy --help`). What is \
         revoked or denied is refused in every mode; otherwise the first rule that allows a server \
         counts, and then mode and require_signature. With a key or a kind that is not known no \
         server is used. A [[deny]] of a package or an image with a version is about that version \
         in every spelling, and about all that may come out as it: a range, a tag, no version. \
         This example says all that can be said:",
        EXAMPLE,
    ),
    (
        "A list of what is revoked has an object of JSON on each line. \"match\" has the keys of \
         [[deny]]; \"since\" and \"reason\" may be left out, and are told. A list without any line \
         counts as one that was cut off, and no server is used; one that revokes nothing has the \
         line with \"issued\". Beside a list is what signs it, its name with .sigstore.json; a list in files needs that only if a signer is \
         named.",
        EXAMPLE_LIST,
    ),
];

/// The files and directories that are read or written.
pub(super) const FILES: &[(&str, &str)] = &[
    (
        ".mcpmini.json, .mcp.json",
        "the servers of the project: the nearest one, from the working directory up to the top of \
         the repository",
    ),
    ("~/.config/mcpmini/config.json", "your servers (XDG_CONFIG_HOME in place of ~/.config)"),
    ("/etc/mcpmini/config.json", "the servers of this machine"),
    (
        "~/.local/state/mcpmini/",
        "approvals and tokens (MCPMINI_STATE_DIR, or XDG_STATE_HOME in place of ~/.local/state)",
    ),
    (
        "~/.cache/mcpmini/",
        "stored lists, and the revision that each server speaks; it may be deleted (XDG_CACHE_HOME in \
         place of ~/.cache)",
    ),
    (
        "$XDG_RUNTIME_DIR/mcpmini/",
        "the sockets of sessions while they run (else in TMPDIR or /tmp)",
    ),
];

/// The examples on the first page, five that show the ways to name a server and to use an answer.
pub(super) const EXAMPLES: &[&str] = &[
    "mcpmini tools https://mcp.example.com/mcp",
    "mcpmini call https://mcp.example.com/mcp get_weather city=Oslo days:=3",
    "mcpmini call 'npx -y @modelcontextprotocol/server-everything' echo message=hi",
    "issue=$(mcpmini call tracker create_issue title=\"$t\" -o structured) || exit",
    "mcpmini call render draw spec:=@spec.json -o raw > out.png",
];

/// The forms of an argument of a tool.
pub(super) const ARGUMENTS: &[(&str, &str)] = &[
    ("KEY=VALUE", "a value of the type that the tool's schema says; text is never changed"),
    ("KEY:=JSON", "a JSON value, sent as it is written: n:=3, tags:='[\"a\",\"b\"]', on:=true"),
    ("KEY=@FILE", "the text in FILE; @- is standard input"),
    ("KEY:=@FILE", "the JSON in FILE"),
    ("KEY=@b64:FILE", "the bytes in FILE, as base64"),
    ("KEY=@@TEXT", "text that begins with @"),
    ("A.B=VALUE", "B inside of A; a dot in a name is written \\."),
    ("A[]=VALUE", "one more element of the list A; A[2]=VALUE is its third"),
    ("'{...}'", "all arguments as one JSON object; those after it are added"),
    ("@FILE, -", "the same, from FILE or from standard input"),
    ("-- --KEY VALUE", "after --, arguments as options: --KEY=VALUE, --FLAG, --no-FLAG"),
];

/// The ways to name a server.
pub(super) const SERVERS: &[(&str, &str)] = &[
    ("NAME", "the server of that name in the configuration (.mcp.json, see --config)"),
    ("https://HOST/PATH", "a server on the network; http:// as well"),
    ("registry:NAME", "the server that `mcpmini add registry:NAME` has added"),
    ("unix:PATH", "a server that speaks HTTP on a Unix socket; unix:PATH#/URL-PATH"),
    ("exec:'CMD ARG...'", "a command to start, which is spoken to on its standard streams"),
    ("'CMD ARG...'", "the same; a word with a blank or a slash in it is a command"),
];

/// The options of every command, in groups.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    (
        "Answer and messages",
        &[
            "--output",
            "--json",
            "--out",
            "--json-errors",
            "--notifications",
            "--progress",
            "--log-level",
            "--quiet",
            "--verbose",
            "--color",
            "--trace",
        ],
    ),
    (
        "Time",
        &[
            "--timeout",
            "--max-time",
            "--start-timeout",
            "--shutdown-timeout",
            "--retry",
            "--retry-delay",
        ],
    ),
    ("Servers that are started", &["--env", "--inherit-env", "--cwd", "--arg", "--stderr"]),
    (
        "Servers on the network",
        &[
            "--header",
            "--header-file",
            "--bearer-file",
            "--bearer-command",
            "--cacert",
            "--cert",
            "--key",
            "--insecure",
            "--proxy",
            "--resolve",
            "--http",
            "--no-delete",
        ],
    ),
    (
        "Tokens for servers on the network",
        &[
            "--login",
            "--grant",
            "--client-id",
            "--client-secret-file",
            "--client-key",
            "--client-key-id",
            "--client-key-alg",
            "--client-metadata-url",
            "--issuer",
            "--scope",
            "--callback-port",
            "--assertion-file",
            "--assertion-command",
            "--idp-token-endpoint",
            "--idp-client-id",
            "--idp-client-secret-file",
            "--idp-id-token-file",
            "--dpop",
            "--allow-private",
        ],
    ),
    (
        "Protocol",
        &[
            "--protocol",
            "--transport",
            "--root",
            "--meta",
            "--id-format",
            "--strict",
            "--max-message",
            "--max-depth",
        ],
    ),
    (
        "When the server asks back",
        &[
            "--elicit",
            "--answer",
            "--answers",
            "--accept-defaults",
            "--decline",
            "--interactive",
            "--sample",
            "--sampling-command",
        ],
    ),
    ("Configuration, trust and stored answers", &["--config", "--lock", "--refresh", "--no-cache"]),
    ("About", &["--help", "--version"]),
];
