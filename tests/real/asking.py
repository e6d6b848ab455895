"""What server-everything asks its client and tells it beside an answer."""

import pathlib
import tempfile

import harness

RESOURCE = "demo://resource/dynamic/text/1"
# A page to visit, agreed to by a program.
AGREE = ("--elicit", """cmd:echo '{"action":"accept"}'""")
# The server offers some of its tools only after it was initialized, to clients that can answer them,
# and begins its updates with a tool; a session keeps what it has begun.
WATCH_UPDATES = """
"$0" call "$1" toggle-subscriber-updates >/dev/null &&
"$0" watch "$1" "$2" --count 1 --max-time 20
"""


def everything_asks(client):
    """Its questions: a form, a page to visit, a prompt for a model, the folders it may use."""
    form = ["call", "trigger-elicitation-request"]
    client.expect([*form, "--answer", "name=Ada", "--accept-defaults"],
                  r"(?s)Name: Ada.*Favorite Integer: 42.*\"titledMultipleSelectEnum\": \[\s+\"fish-1\"")
    client.expect([*form, "--answer", "name=Ada", "--answer", "integer=101"], "^$", code=10)
    client.expect([*form, "--answer", "name=Ada", "--answer", "email=ada"], "^$", code=10)
    client.expect([*form, "--decline"], "User declined")
    client.expect([*form, "--elicit", "cancel"], "User cancelled")
    client.expect([*form, "--elicit", """cmd:echo '{"action":"accept","content":{"name":"Bob"}}'"""], "Name: Bob")
    # A client that cannot answer declares nothing, so the tool is not there.
    client.expect([*form, "--elicit", "fail"], code=3)

    page = ["call", "trigger-url-elicitation", "url=https://example.com/visit"]
    client.expect([*page, *AGREE], "User completed the URL elicitation")
    run = client.expect([*page, "errorPath:=true", *AGREE], "^$", code=10)
    if "open https://modelcontextprotocol.io (" not in run.err:
        client.faults.append(f"the page to open is not named: {run.err[-300:]!r}")

    sampling = ["call", "trigger-sampling-request", "prompt=capital of Norway"]
    client.expect([*sampling, "--sample", "cmd:grep -q Norway && echo Oslo"], '"text": "Oslo"')
    client.expect([*sampling, "--sampling-command", "false"], "^$", code=10)
    client.expect(sampling, code=3)

    with tempfile.TemporaryDirectory() as folder:
        uri = pathlib.Path(folder).resolve().as_uri()
        client.expect(["call", "get-roots-list", "--root", folder], rf"\(1 total\)(?s:.*)URI: {uri}\n")


def everything_tells(client):
    """Its progress, its log, its changes."""
    work = ["call", "trigger-long-running-operation", "duration:=1", "steps:=2"]
    expect_told(client, [*work, "--progress", "json"], '{"progress":1,"total":2}\n{"progress":2,"total":2}\n')
    expect_told(client, [*work, "--progress", "auto"], "")  # no bar off a terminal
    subscribe = ["watch", RESOURCE, "--max-time", "2", "--log-level"]
    expect_told(client, [*subscribe, "info"], f": info: Received Subscribe Resource request for URI: {RESOURCE}")
    expect_told(client, [*subscribe, "notice"], "")

    script = ["session", "--", "sh", "-c", WATCH_UPDATES, harness.binary(), client.server, RESOURCE]
    update = r'\{"method":"notifications/resources/updated","params":\{"uri":"demo://resource/dynamic/text/1"\}\}\n'
    client.expect(script, f"^{update}$")
    client.expect(["watch", "--tools", "--max-time", "1"])


def expect_told(client, words, told):
    """Runs a command that must say `told` on stderr; nothing at all when that is empty."""
    run = client.expect(words)
    if told not in run.err or bool(told) != bool(run.err):
        client.faults.append(f"{words}: stderr is not {told!r} but {run.err[-300:]!r}")
