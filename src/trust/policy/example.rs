//! A policy and a list of what is revoked as the help texts show them.

/// A policy that says everything that one can say.
pub const EXAMPLE: &str = r#"# Every key may be left out, and every rule repeated.
mode = "strict"             # off, tofu (usual) or strict: what rules allow
require_signature = false   # true: only servers with a signed card
require_tls = true          # no http:// but to this machine, no --insecure;
                            # false: --insecure also for a host in a rule
card_max_age_days = 30      # how old a verification may be (did-web: usually 7)
cross_domain = "ask"        # allow, ask (usual) or deny what others lead to:
                            # neither the host you name nor one below it
trusted_root = "root.json"  # whom sigstore trusts, instead of what is built in

[[allow]]                   # whose card is signed with sigstore
kind = "sigstore"
issuer = "https://token.actions.githubusercontent.com"
san_prefix = "https://github.com/acme/"   # it ends with / or @; …@refs/tags/
                                          # leaves out what is built of branches
repo_id = "4711"                          # of the repository; optional
hosts = ["*.example.com"]                 # only there; usually anywhere

[[allow]]
kind = "sigstore"
issuer = "https://accounts.google.com"
san = "releases@example.com"              # this identity and no other

[[allow]]                   # whose card the owner of a domain has signed
kind = "did-web"
did = "did:web:example.com"
hosts = ["mcp.example.com"]

[[allow]]                   # whose card is signed with a key
kind = "key"
spki_sha256 = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
hosts = []                  # as for the others

[[allow]]                   # whatever is at these hosts, signed or not; it does
                            # not count where a signature is required
kind = "host"
hosts = ["localhost", "*.internal.example"]   # without TLS the proxy's, too

[[allow]]                   # a command, word for word; "*" leaves the rest open
kind = "command"
command = ["/usr/bin/python3", "-m", "files", "*"]
cwd = "/opt/files"          # it must run there; to be said where that decides

[[allow]]                   # a server on a Unix socket
kind = "socket"
path = "/run/files.sock"

[[allow]]                   # what `mcpmini add registry:NAME` has added
kind = "registry"
namespaces = ["com.example/*", "io.github.acme/weather"]
base = "https://registry.example.com"     # usually the official registry

[[deny]]                    # whatever has all of these properties
name = "weather@1.2.0"      # configured, in the card or in the registry it was
                            # added from; @VERSION optional
host = "*.example.net"      # also as a proxy, or an address of --resolve

[[deny]]
command = ["npx", "-y", "left-pad", "*"]

[[deny]]                    # by who has signed: san, issuer, spki_sha256,
did = "did:web:example.net" # certificate_serial, log_index; or card_sha256

[revocation]                # lists of what is revoked, JSON Lines as below
files = ["revoked.jsonl"]   # relative to this file
urls = ["https://example.com/revoked.jsonl"]   # never an older one again
required = true             # (usual) without these lists nothing is used
max_age = "24h"             # (usual) of a copy: s, m, h or d
san = "security@example.com"              # who has signed them: san and issuer,
issuer = "https://accounts.google.com"    # or public_key = "lists.pem"
"#;

/// Lines of a list of what is revoked, with everything that one can say. When it was issued, one from
/// the network has to say.
pub const EXAMPLE_LIST: &str = r#"{"issued":"2026-11-29T10:05:00Z"}
{"match":{"host":"evil.example"},"since":"2026-11-29T10:00:00Z"}
{"match":{"name":"weather@1.2.0"},"reason":"its key was stolen"}
"#;
