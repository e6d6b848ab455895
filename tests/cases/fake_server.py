#!/usr/bin/env python3
"""Table-driven fake MCP server for client robustness tests (Python 3.9+, stdlib only).

    fake_server.py stdio CASE [--era legacy|modern] [--log FILE]
    fake_server.py http  CASE [--era legacy|modern] [--log FILE] --port N     (N=0: any free port)
    fake_server.py list

http: binds loopback only and prints one JSON line {"port":N,"url":"..."} on stdout once it listens; it ends on
SIGTERM/SIGINT or after --life seconds (default 120).  stdio: never lives longer than --life seconds either, even in
the cases that ignore EOF and SIGTERM, so a failing client cannot leak processes for ever.

Era: "legacy" = initialize handshake (2024-11-05 .. 2025-11-25); "modern" = per-request _meta (2026-07-28).
--log FILE (or $FAKE_MCP_LOG): JSONL of what the server saw; the expectations in cases.json are checked against it.
The behaviour is that of servers in public bug reports; cases.json says what a client should make of it.
"""
import argparse, base64, gzip, hashlib, json, os, queue, re, secrets, signal, socket, subprocess, sys, threading, time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = os.path.abspath(__file__)
LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
MODERN = "2026-07-28"
M = "io.modelcontextprotocol/"
SEPS = "a\u2028b\u2029c\u0085d\ufeffe"            # Unicode line separators that are legal raw inside JSON strings
MULTI = "na\u00efve \u2014 \u8aad\u53d6 \U0001f389 \u00e9"  # 2-, 3- and 4-byte UTF-8
HUGE = "0123456789abcdef" * (12 * 1024 * 1024 // 16)        # 12 MiB, above the 10 MB cap of one SDK and 64 KiB of another


# ------------------------------------------------------------------------------------------------ JSON with lexemes
class Num(str):
    """A JSON number kept as its source text, so that 1.0, 1e3 and 2^63 come back exactly as they were sent."""


def jload(s):
    return json.loads(s, parse_int=Num, parse_float=Num, parse_constant=Num)


def jdump(v):
    if isinstance(v, Num):
        return str(v)
    if isinstance(v, dict):
        return "{" + ",".join(json.dumps(k, ensure_ascii=False) + ":" + jdump(x) for k, x in v.items()) + "}"
    if isinstance(v, (list, tuple)):
        return "[" + ",".join(jdump(x) for x in v) + "]"
    return json.dumps(v, ensure_ascii=False)


class Log:
    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()

    def __call__(self, ev, **kw):
        if self.path:
            rec = json.dumps(dict(t=round(time.time(), 4), pid=os.getpid(), ev=ev, **kw))
            with self.lock:
                fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
                try:
                    os.write(fd, rec.encode() + b"\n")
                finally:
                    os.close(fd)

    def msg(self, raw, m, **kw):
        d = m if isinstance(m, dict) else {}
        kind = ("request" if "id" in d else "notification") if "method" in d else "response" if "id" in d else "other"
        p = d.get("params")
        self("recv", raw=raw if len(raw) < 4000 else raw[:4000] + "...", n=len(raw), kind=kind, method=d.get("method"),
             id=str(d.get("id")) if "id" in d else None, has_error="error" in d, has_result="result" in d,
             params_null="params" in d and p is None,
             args_kind=(type(p["arguments"]).__name__ if isinstance(p, dict) and "arguments" in p else "absent"), **kw)


# ------------------------------------------------------------------------------------------------ protocol core
def tool(name, props=None, required=(), **kw):
    s = {"type": "object", "properties": props or {}}
    if required:
        s["required"] = list(required)
    return {"name": name, "description": "fake tool " + name, "inputSchema": s, **kw}


S = {"type": "string"}
TOOLS = [
    tool("echo", {"text": S}),
    tool("types", {"symbol": S, "pin": S, "phone": S, "note": S, "expr": S, "url": S, "empty": S,
                   "count": {"type": "integer"}, "price": {"type": "number"}, "flag": {"type": "boolean"},
                   "tags": {"type": "array", "items": S}, "opts": {"type": "object"},
                   "opt": {"type": ["string", "null"]}, "either": {"anyOf": [{"type": "integer"}, S]}}),
    tool("noargs"),
]


def text(t, **kw):
    return {"content": [{"type": "text", "text": t}], **kw}


class Rpc(Exception):
    def __init__(self, code, message, data=None, http=None):
        self.err = {"code": code, "message": message, **({"data": data} if data is not None else {})}
        self.http = http


class Core:
    """What a well-behaved server of the chosen era answers.  A case overrides single methods of it."""

    def __init__(self, case, era, log):
        self.case, self.era, self.log = case, era, log
        self.inited = self.ready = False
        self.version = None
        self.state = {}
        self.lock = threading.Lock()

    def bump(self, k):
        with self.lock:
            self.state[k] = self.state.get(k, 0) + 1
            return self.state[k]

    def tools(self):
        f = self.case.get("tools")
        return f(self) if f else TOOLS

    # -- results ------------------------------------------------------------------------------
    def fin(self, method, r):
        if self.era == "modern" and not self.case.get("bare"):
            r = {"resultType": "complete", **r}
            r.setdefault("_meta", {M + "serverInfo": {"name": "fake", "version": "1"}})
            if method in ("tools/list", "server/discover", "prompts/list", "resources/list"):
                r.setdefault("ttlMs", 0)
                r.setdefault("cacheScope", "private")
        return r

    def check_modern(self, m):
        meta = ((m.get("params") or {}).get("_meta")) or {}
        v = meta.get(M + "protocolVersion")
        if v is None or M + "clientCapabilities" not in meta:
            raise Rpc(-32602, "missing required _meta fields", http=400)
        sup = self.case.get("supported", [MODERN])
        if v not in sup:
            raise Rpc(-32022, "Unsupported protocol version", {"supported": sup, "requested": v}, http=400)

    def handle(self, m):
        """-> result dict.  Raises Rpc for a JSON-RPC error."""
        meth, p = m["method"], m.get("params")
        over = self.case.get(meth)
        if self.era == "modern":
            if meth == "initialize":
                raise Rpc(-32601, "Method not found: initialize (this server speaks only " + MODERN + ")",
                          {"supported": self.case.get("supported", [MODERN])}, http=400)
            self.check_modern(m)
        else:
            if meth == "server/discover" and not over:
                raise Rpc(-32601, "Method not found: server/discover")
            if meth == "initialize":
                return over(self, m) if over else self.initialize(m)
            if meth == "ping":
                return over(self, m) if over else {}
            if not self.inited and not over:
                raise Rpc(-32602, "Received request before initialization was complete")
        if over:
            return over(self, m)
        if meth == "server/discover":
            return {"supportedVersions": self.case.get("supported", [MODERN]), "capabilities": {"tools": {}}}
        if meth == "tools/list":
            if p is None and "params" in m:
                raise Rpc(-32602, "params must be an object, not null")
            return {"tools": self.tools()}
        if meth == "tools/call":
            return self.call(m)
        if meth == "ping":
            return {}
        raise Rpc(-32601, "Method not found: " + meth, http=404 if self.era == "modern" else None)

    def initialize(self, m):
        want = (m.get("params") or {}).get("protocolVersion")
        v = self.case.get("version") or (want if want in LEGACY else LEGACY[-1])
        self.inited, self.version = True, v
        return {"protocolVersion": v, "capabilities": self.case.get("caps", {"tools": {}}),
                "serverInfo": {"name": "fake", "version": "1"}}

    def call(self, m):
        p = m.get("params") or {}
        if "arguments" not in p:
            p = dict(p, arguments={})
        a = p["arguments"]
        known = [t.get("name") for t in self.tools() if isinstance(t, dict)]
        if p.get("name") not in known:
            raise Rpc(-32602, "Unknown tool: " + str(p.get("name")))
        if p["name"] == "echo" and isinstance(a, dict) and isinstance(a.get("text"), str) and not isinstance(a["text"], Num):
            return text(a["text"])
        return text(jdump(a))

    def answer(self, m):
        """-> (response object or None, http status or None)"""
        if "method" not in m or "id" not in m:
            if m.get("method") == "notifications/initialized":
                self.ready = True
            return None, None
        try:
            r = self.handle(m)
            if r is None:
                return None, None
            return {"jsonrpc": "2.0", "id": m["id"], "result": self.fin(m["method"], r)}, None
        except Rpc as e:
            return {"jsonrpc": "2.0", "id": m["id"], "error": e.err}, e.http


# ------------------------------------------------------------------------------------------------ stdio engine
class Stdio:
    def __init__(self, cid, case, era, log, life):
        self.id, self.case, self.log, self.life = cid, case, log, life
        self.core = Core(case, era, log)
        self.out = os.fdopen(os.dup(1), "wb", 0)
        self.wlock = threading.Lock()
        self.waiters = {}
        self.inq = queue.Queue()

    def raw(self, b):
        with self.wlock:
            v = memoryview(b)
            while v:
                n = self.out.write(v)
                v = v[n:]

    def send(self, o):
        self.raw(jdump(o).encode("utf-8") + b"\n")

    def ask(self, rid, method, params, wait):
        """A server->client request; returns the client's response or None."""
        q = self.waiters[str(rid)] = queue.Queue()
        self.send({"jsonrpc": "2.0", "id": rid, "method": method, "params": params})
        try:
            return q.get(timeout=wait)
        except queue.Empty:
            return None

    def child(self, code):
        """A helper child in our process group that inherits stdin/stdout; it ends by itself after `life` seconds."""
        p = subprocess.Popen([sys.executable, "-c", code, str(self.life)])
        self.log("child", child=p.pid)
        return p

    def spawn_inner(self, name):
        p = subprocess.Popen([sys.executable, HERE, "stdio", name, "--life", str(self.life), "--era", self.core.era,
                              *(["--log", self.log.path] if self.log.path else [])])
        self.log("child", child=p.pid)
        return p

    def run(self):
        self.log("start", case=self.id, era=self.core.era, ppid=os.getppid(), cwd=os.getcwd())
        t = threading.Timer(self.life, lambda: os._exit(70))
        t.daemon = True
        t.start()
        if self.case.get("start") and self.case["start"](self) == "done":
            return
        threading.Thread(target=self.reader, daemon=True).start()
        while True:
            raw = self.inq.get()
            if raw is None:
                break
            self.line(raw)
        self.log("eof")
        if self.case.get("eof"):
            self.case["eof"](self)

    def reader(self):
        gate = self.case.get("read_gate")
        for raw in iter(sys.stdin.buffer.readline, b""):
            # responses to server->client requests are taken here, so that a busy handler can wait for them
            try:
                m = jload(raw)
            except ValueError:
                m = None
            if isinstance(m, dict) and "method" not in m and str(m.get("id")) in self.waiters:
                self.log.msg(raw.decode("utf-8", "replace").rstrip("\r\n"), m)
                self.waiters[str(m["id"])].put(m)
                continue
            self.inq.put(raw)
            if gate:
                gate(self, m)
        self.inq.put(None)

    def line(self, raw):
        s = raw.decode("utf-8", "replace").rstrip("\r\n")
        try:
            m = jload(s)
        except ValueError:
            self.log("viol", what="client line is not JSON", raw=s[:300])
            m = None
        self.log.msg(s, m)
        if self.case.get("line") and self.case["line"](self, s, m) == "done":
            return
        if not isinstance(m, dict):
            return
        if m.get("params", 0) is None:
            self.log("viol", what="params is null", raw=s[:300])
        f = self.case.get("stdio:" + str(m.get("method")))
        if f and "id" in m:
            r = f(self, m)
            if r == "done":
                return
            if r is not None:
                return self.reply({"jsonrpc": "2.0", "id": m["id"], "result": self.core.fin(m["method"], r)}, m)
        resp, _ = self.core.answer(m)
        if resp:
            self.reply(resp, m)

    def reply(self, resp, m):
        f = self.case.get("emit")
        if f:
            f(self, resp, m)
        else:
            self.send(resp)


CASES = {}


def case(cid, kind, transport="stdio", **kw):
    CASES[cid] = dict(kind=kind, transport=transport, **kw)


NOTE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "hello"}}


def line_of(o):
    return jdump(o).encode() + b"\n"


# ================================================================================================ stdio framing
def banner(s):
    s.raw(b"\xf0\x9f\x96\xa5\xef\xb8\x8f Server mode: STDIO\n\x1b[32m[info]\x1b[0m ready\n\n   \n"
          b'{"level":30,"msg":"a JSON log line"}\n12345\nnull\n"str"\n[]\n')


case("stdio-banner", "stdio-framing", start=banner,
     emit=lambda s, r, m: s.raw(b"handling " + str(m["method"]).encode() + b" ...\n" + line_of(r)))


def storm(s, raw, m):
    s.raw(b"DEBUG got %d bytes\n" % len(raw))
    if s.core.bump("lines") > 100:
        s.log("viol", what="storm")
        os._exit(1)


case("stdio-error-storm", "stdio-framing", line=storm)


def bom(s, r, m):
    s.raw((b"\xef\xbb\xbf" if s.core.bump("out") == 1 else b"") + line_of(r)[:-1] + b"\r\n")


case("stdio-bom-crlf", "stdio-framing", emit=bom)


def drip(s, r, m):
    b = line_of(r)
    if m["method"] != "tools/call":
        return s.raw(b)
    for i in range(len(b)):
        s.raw(b[i:i + 1])
        if b[i] > 127:
            time.sleep(0.005)


case("stdio-utf8-split", "stdio-framing", emit=drip)


def coalesce(s, r, m):
    odd = [{"jsonrpc": "2.0", "method": "window/logMessage", "params": {"type": 3, "message": "lsp"}},
           {"jsonrpc": "2.0", "method": "notifications/stderr", "params": {"content": "x"}}, NOTE,
           {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "nobody", "progress": 1}}]
    b = b"".join(map(line_of, odd)) + b"\n" + line_of(r) + line_of(NOTE)
    k = len(b) - 25                       # cut inside the last message
    s.raw(b[:k])
    time.sleep(0.15)
    s.raw(b[k:])


case("stdio-coalesced", "stdio-framing", emit=coalesce)
case("stdio-huge-line", "stdio-framing", **{"tools/call": lambda c, m: text(HUGE)})
case("stdio-bad-utf8-line", "stdio-framing",
     emit=lambda s, r, m: s.raw(b"\xff\xfe\xfa not utf-8\n" + line_of(r)))
case("stdio-bad-utf8-result", "stdio-framing",
     emit=lambda s, r, m: s.raw(line_of(r).replace(b"APOS", b"\x92")), **{"tools/call": lambda c, m: text("itAPOSs")})


def last_words(s, r, m):
    if m["method"] != "tools/call":
        return s.send(r)
    s.raw(line_of(r)[:-1])                # no newline, then gone
    s.log("exit")
    os._exit(0)


case("stdio-eof-no-newline", "stdio-framing", emit=last_words)
case("stdio-batch", "stdio-framing", version="2025-03-26",
     emit=lambda s, r, m: s.send([NOTE, r]) if m["method"] == "tools/call" else s.send(r))
case("stdio-unicode-separators", "stdio-framing", **{"tools/call": lambda c, m: text(SEPS)})


# ================================================================================================ process lifecycle
SLEEPER = "import sys,time,signal\nsignal.signal(signal.SIGHUP,signal.SIG_IGN)\ntime.sleep(float(sys.argv[1]))"


def stay(s):
    s.log("staying")
    time.sleep(s.life)


def wrapper(s):
    """Like sh -c / npx / uvx: the real server is our child; we neither exec it nor pass signals on."""
    p = s.spawn_inner("_inner-ignores-eof")
    p.wait()
    return "done"


case("_inner-ignores-eof", "internal", eof=stay)
case("proc-wrapper-grandchild", "process", start=wrapper)


def deaf(s):
    for g in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(g, lambda *_: s.log("signal", sig=_[0]))


case("proc-sigterm-ignored", "process", start=deaf, eof=stay)


def flood(s, r, m):
    for _ in range(256):
        sys.stderr.write("log line " * 500 + "\n")
    sys.stderr.flush()
    s.send(r)


case("proc-stderr-flood", "process", emit=flood)


def die_early(s):
    sys.stderr.write("Traceback: DATABASE_URL is not set\n")
    sys.stderr.flush()
    os._exit(1)


case("proc-exit-at-start", "process", start=die_early)


def crash(s, m):
    sys.stderr.write("panic: index out of range (boom-42)\n")
    sys.stderr.flush()
    os._exit(3)


case("proc-crash-mid-call", "process", **{"stdio:tools/call": crash})
case("proc-command-not-found", "process", driver_only=True)
case("proc-bad-cwd", "process", driver_only=True)
case("proc-silent", "process", line=lambda s, raw, m: "done")


def never(s, m):
    s.log("in_call", id=str(m["id"]))
    return "done"


case("proc-sigint-mid-call", "process", eof=stay, **{"stdio:tools/call": never})


# ================================================================================================ ids
def swapped(s, r, m):
    i = r["id"]                            # number -> string, numeric string -> number
    s.send(dict(r, id=str(i) if isinstance(i, Num) else Num(i) if re.fullmatch(r"\d{1,15}", i) else i))


case("id-type-swapped", "ids", emit=swapped)
case("id-float", "ids", emit=lambda s, r, m: s.send(
    dict(r, id=Num(r["id"] + ".0") if isinstance(r["id"], Num) and "." not in r["id"] else r["id"])))


def strays(s, r, m):
    for i in (Num("987654321"), "nope", None):
        s.send({"jsonrpc": "2.0", "id": i, "result": {"content": [{"type": "text", "text": "STRAY"}]}})
    if s.core.state.get("first"):
        s.send(s.core.state["first"])     # a response that was already delivered, once more
    s.core.state.setdefault("first", r)
    s.send(r)


case("id-strays", "ids", emit=strays)
case("id-always-zero", "ids", emit=lambda s, r, m: s.send(dict(r, id=Num("0"))))


# ================================================================================================ server->client requests
def ping_mid(s, m):
    r = s.ask(m["id"], "ping", {}, 8)     # same id as the client's own request: ids are per direction
    return text("pong ok" if r and "result" in r else "ping failed: " + jdump(r))


case("req-ping-mid-call", "server-requests", **{"stdio:tools/call": ping_mid})


def roots_mid(s, m):
    t = time.time()
    r = s.ask("roots-1", "roots/list", {}, 20)
    return text("roots answered" if r else "roots unanswered after %.0fs" % (time.time() - t))


case("req-roots-mid-call", "server-requests", **{"stdio:tools/call": roots_mid})


def odd_mid(s, m):
    asks = [(Num("101"), "sampling/createMessage", {"messages": [], "maxTokens": 1}),
            ("e-1", "elicitation/create", {"message": "name?", "requestedSchema": {"type": "object", "properties": {"name": S}}}),
            (Num("-5"), "x/unknown", {})]
    n = sum(1 for a in asks if s.ask(*a, 5))
    return text("answers:%d" % n)


case("req-unsupported-mid-call", "server-requests", **{"stdio:tools/call": odd_mid})


def early(s):
    for meth in ("notifications/tools/list_changed", "notifications/resources/list_changed"):
        s.send({"jsonrpc": "2.0", "method": meth})
    s.send(NOTE)


case("req-notifications-before-init", "server-requests", start=early,
     emit=lambda s, r, m: (s.send(NOTE), s.send(r), s.send(NOTE)))


def mrtr_elicit(c, m):
    p = m["params"]
    r = p.get("inputResponses")
    if r is None:
        return {"resultType": "input_required", "requestState": "st-1", "inputRequests": {
            "who": {"method": "elicitation/create", "params": {"mode": "form", "message": "Your name?", "requestedSchema": {
                "type": "object", "properties": {"name": S}, "required": ["name"]}}}}}
    c.log("mrtr", responses=jdump(r))
    return text("user said " + str((r.get("who") or {}).get("action")), isError=True)


case("mrtr-elicitation", "server-requests", **{"tools/call": mrtr_elicit})


# ================================================================================================ timeouts
def progress(s, m, until, every=0.4):
    tok = (((m.get("params") or {}).get("_meta")) or {}).get("progressToken")
    s.log("progress_token", present=tok is not None)
    end, n = time.time() + until, 0
    while time.time() < end:
        time.sleep(every)
        n += 1
        if tok is not None:
            s.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": tok, "progress": Num(str(n))}})
    return text("done after progress")


case("timeout-progress-resets", "timeouts", **{"stdio:tools/call": lambda s, m: progress(s, m, 4.5)})
case("timeout-cancelled", "timeouts", **{"stdio:tools/call": never})

# ================================================================================================ versions / eras
case("ver-older-answer", "versions", version="2024-11-05")
case("ver-future-answer", "versions", version="2099-01-01")


def only_0618(c, m):
    want = m["params"].get("protocolVersion")
    if want != "2025-06-18":
        raise Rpc(-32602, "Unsupported protocol version", {"supported": ["2025-06-18"], "requested": want})
    return c.initialize(m)


case("ver-error-lists-supported", "versions", initialize=only_0618)


def no_reply(c, m):
    return None


case("ver-discover-silent", "versions", **{"server/discover": no_reply})


def init_first(c, m):
    raise Rpc(-32602, "initialize first")


case("ver-discover-32602", "versions", **{"server/discover": init_first})


def strict_order(s, raw, m):
    if isinstance(m, dict) and "id" in m and m.get("method") not in ("initialize", "ping", "server/discover") and not s.core.ready:
        sys.stderr.write("fatal: expect initialized notification, got %s\n" % m.get("method"))
        sys.stderr.flush()
        os._exit(1)


case("ver-strict-initialized", "versions", line=strict_order)


def strict_caps(c, m):
    p = m["params"]
    bad = [k for k in p.get("capabilities", {}) if k not in ("roots", "sampling", "experimental")]
    bad += [k for k in p.get("clientInfo", {}) if k not in ("name", "version")]
    bad += [k for k in p if k not in ("protocolVersion", "capabilities", "clientInfo", "_meta")]
    if bad:
        raise Rpc(-32602, "unknown field(s): " + ", ".join(bad))
    return c.initialize(m)


case("ver-strict-fields", "versions", initialize=strict_caps)
case("ver-modern-unsupported", "versions", supported=["2027-03-01"])
case("ver-modern-bare-results", "versions", bare=True)


# ================================================================================================ pagination
def pages(c, m):
    cur = (m.get("params") or {}).get("cursor", 0)
    weird = "a/b+c==\u00e9\"\\\n\u2028"
    if cur == 0:
        return {"tools": [tool("first")], "nextCursor": ""}
    if cur == "":
        return {"tools": [tool("second")], "nextCursor": weird}
    if cur == weird:
        return {"tools": [tool("third")], "nextCursor": None}
    raise Rpc(-32602, "Invalid cursor")


case("page-empty-cursor", "pagination", **{"tools/list": pages})
case("page-empty-forever", "pagination", **{"tools/list": lambda c, m: {"tools": TOOLS, "nextCursor": ""}})


# ================================================================================================ tools
def bad_tools(c):
    return [{"name": "no_schema"}, {"name": "null_schema", "inputSchema": None},
            {"name": "only_dialect", "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#"}},
            {"name": "top_any_of", "inputSchema": {"anyOf": [{"type": "object"}, {"type": "object"}]}},
            {"name": "required_null", "inputSchema": {"type": "object", "properties": {}, "required": None}},
            {"name": "props_list", "inputSchema": {"type": "object", "properties": []}},
            {"name": "string_schema", "inputSchema": {"type": "string"}},
            {"name": "prop_string", "inputSchema": {"type": "object", "properties": {"p": "array"}}},
            {"name": "bad_output", "inputSchema": {"type": "object"}, "outputSchema": {"type": "no-such-type"}},
            {"name": "odd_meta", "description": None, "title": 7, "annotations": [], "inputSchema": {"type": "object"}},
            {"description": "no name at all", "inputSchema": {"type": "object"}}, None, *TOOLS]


case("tools-bad-schemas", "tools", tools=bad_tools)


ODD = ["browser.navigate", "ns/tool.v1", "-dash", "UPPER_lower", "with space", "\u540d\u524d", "n" * 128]
case("tools-odd-names", "tools", tools=lambda c: [tool(n, {"text": S}) for n in ODD])


def needs_args(c, m):
    if type((m.get("params") or {}).get("arguments")) is not dict:
        raise Rpc(-32602, "Invalid arguments: expected object, received undefined")
    return text("ok {}")


case("tools-no-arguments", "tools", **{"tools/call": needs_args})
case("tools-toplevel-oneof", "tools", tools=lambda c: [{"name": "oneof", "inputSchema": {"type": "object", "oneOf": [
    {"properties": {"app": S}, "required": ["app"]}, {"properties": {"window_id": {"type": "integer"}}, "required": ["window_id"]}]}}])
OUT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
case("tools-missing-structured", "tools", tools=lambda c: [tool("sized", outputSchema=OUT)],
     **{"tools/call": lambda c, m: text("important text 7")})

# ================================================================================================ results
case("result-is-error", "results", **{"tools/call": lambda c, m: text("disk full (E-77)", isError=True)})
case("result-unknown-tool", "results")
case("result-error-with-schema", "results", tools=lambda c: [tool("sized", outputSchema=OUT)],
     **{"tools/call": lambda c, m: text("quota exceeded (E-78)", isError=True)})
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
MIXED = {"content": [
    {"type": "text", "text": "see:", "annotations": {"audience": ["user"], "priority": 0.9}},
    {"type": "image", "data": PNG, "mimeType": "image/png"},
    {"type": "audio", "data": "UklGRiQAAABXQVZF", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "probe://linked", "name": "linked-doc", "mimeType": "text/plain"},
    {"type": "resource", "resource": {"uri": "probe://txt", "mimeType": "text/plain", "text": "embedded text body"}},
    {"type": "resource", "resource": {"uri": "probe://bin", "mimeType": "application/pdf", "blob": "JVBERi0xLjQK"}},
    {"type": "video3d", "payload": {"future": True}}]}
case("result-mixed-content", "results", **{"tools/call": lambda c, m: MIXED})


def php_init(c, m):
    r = c.initialize(m)
    return dict(r, capabilities={"tools": [], "prompts": []}, _meta=[])


case("result-php-empty-arrays", "results", initialize=php_init,
     tools=lambda c: [{"name": "echo", "inputSchema": {"type": "object", "properties": [], "required": []}, "annotations": [], "_meta": []}],
     **{"server/discover": lambda c, m: {"supportedVersions": [MODERN], "capabilities": {"tools": []}} if c.era == "modern" else init_first(c, m)})
case("result-structured-any", "results", **{"tools/call": lambda c, m: {
    "content": [{"type": "text", "text": "[1,null,\"x\"]"}], "structuredContent": [1, None, "x"]}})

# ================================================================================================ JSON
BIG = '{"id":1915883588174806058,"max":18446744073709551615,"min":-9223372036854775808,"edge":9007199254740993}'
EXT = '{"one":1.0,"huge":123456789012345678901234567890,"over":1e400,"tiny":-0.0,"exp":1E+2,"dec":0.10000000000000000555}'


def raw_structured(j):
    def emit(s, r, m):
        b = line_of(r)
        s.raw(b.replace(b'"@RAW@"', j.encode()) if m["method"] == "tools/call" else b)
    return emit


STRUCT = {"tools/call": lambda c, m: {"content": [{"type": "text", "text": "see structuredContent"}], "structuredContent": "@RAW@"}}
case("json-bigint-result", "json", emit=raw_structured(BIG), **STRUCT)
case("json-number-extremes", "json", emit=raw_structured(EXT), **STRUCT)
case("json-bigint-args", "json")
case("json-lone-surrogate", "json", emit=lambda s, r, m: s.raw(line_of(r).replace(b"@SUR@", b"\\ud83d")),
     **{"tools/call": lambda c, m: text("a@SUR@b")})
case("json-nan", "json", emit=raw_structured('{"mean":NaN,"max":Infinity}'), **STRUCT)
ESC = "nul:\u0000 esc:\u001b[31mred\u001b[0m tab:\t slash:/ emoji:\U0001f600 bell:\u0007 end"


def escaped(s, r, m):
    b = json.dumps(json.loads(jdump(r)), ensure_ascii=True).replace("/", "\\/")
    s.raw(b.encode() + b"\n")


case("json-escapes-terminal", "json", emit=escaped, **{"tools/call": lambda c, m: text(ESC)})

# ================================================================================================ CLI arguments
for _n in ("args-digit-strings", "args-equals-in-value", "args-array-object", "args-bool-null", "args-json-exact",
           "args-from-stdin"):
    case(_n, "args")


# ================================================================================================ HTTP engine
class Http(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, cid, case, era, log, addr, life):
        self.address_family = socket.AF_INET6 if ":" in addr[0] else socket.AF_INET
        super().__init__(addr, Handler)
        self.id, self.case, self.era, self.log, self.life = cid, case, era, log, life
        self.core = Core(case, era, log)
        self.sessions, self.sse, self.lock = {}, {}, threading.Lock()
        self.pending = {}
        self.origin = "http://127.0.0.1:%d" % self.server_port
        self.oauth = OAuth(self) if case.get("oauth") is not None else None

    def handle_error(self, request, client_address):
        e = sys.exc_info()[1]
        if not isinstance(e, (ConnectionError, TimeoutError)):
            self.log("server_error", what=repr(e))
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "fake"

    def log_message(self, *a):
        pass

    # -- plumbing -----------------------------------------------------------------------------
    @property
    def case(self):
        return self.server.case

    def h(self, name):
        return self.headers.get(name)

    def reply(self, status, body=b"", ctype=None, headers=(), length=True):
        if isinstance(body, str):
            body = body.encode()
        self.send_response(status)
        if ctype:
            self.send_header("Content-Type", ctype)
        for k, v in headers:
            self.send_header(k, v)
        if length and status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def chunks(self, status, ctype, parts, headers=(), delay=0.0):
        self.send_response(status)
        if ctype:
            self.send_header("Content-Type", ctype)
        for k, v in headers:
            self.send_header(k, v)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for p in parts:
            if p:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(p), p))
                self.wfile.flush()
                if delay:
                    time.sleep(delay)
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def seen(self, body=""):
        hd = {k.lower(): v for k, v in self.headers.items()}
        self.server.log("http", verb=self.command, path=self.path, headers=hd, auth=hd.get("authorization", ""),
                        session=hd.get("mcp-session-id", ""), body=body[:2000])

    def body(self):
        if (self.h("Transfer-Encoding") or "").lower() == "chunked":
            out = b""
            while True:
                n = int(self.rfile.readline().split(b";")[0], 16)
                out += self.rfile.read(n)
                self.rfile.readline()
                if not n:
                    return out
        return self.rfile.read(int(self.h("Content-Length") or 0))

    # -- verbs --------------------------------------------------------------------------------
    def do_GET(self):
        self.seen()
        if self.server.oauth and self.server.oauth.get(self):
            return
        f = self.case.get("get")
        return f(self) if f else self.reply(405, headers=[("Allow", "POST")])

    def do_DELETE(self):
        self.seen()
        f = self.case.get("delete")
        return f(self) if f else self.reply(204)

    def do_POST(self):
        raw = self.body().decode("utf-8", "replace")
        self.seen(raw)
        if self.server.oauth and self.server.oauth.post(self, raw):
            return
        f = self.case.get("pre")
        if f and f(self, raw) == "done":
            return
        try:
            m = jload(raw)
        except ValueError:
            self.server.log("viol", what="POST body is not JSON", raw=raw[:300])
            return self.reply(400, jdump({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}), "application/json")
        self.server.log.msg(raw, m)
        self.post(m, raw)

    def post(self, m, raw):
        srv, core, era = self.server, self.server.core, self.server.era
        if not isinstance(m, dict):
            return self.reply(400)
        meth = m.get("method")
        # response to a server->client request
        if meth is None:
            q = srv.pending.get(str(m.get("id")))
            if q:
                q.put(m)
            return self.reply(202)
        if era == "modern":
            why = self.modern_headers(m)
            if why:
                return self.reply(400, jdump({"jsonrpc": "2.0", "id": m.get("id"), "error": {"code": -32020, "message": why}}), "application/json")
        else:
            if meth != "initialize":
                if meth == "server/discover" or (self.h("MCP-Protocol-Version") or "") >= MODERN:
                    f = self.case.get("http_modern_probe")
                    return f(self, m) if f else self.reply(400, jdump({"jsonrpc": "2.0", "error": {
                        "code": -32000, "message": "Bad Request: Server not initialized"}, "id": None}), "application/json")
                if not self.case.get("no_session"):
                    sid = self.h("Mcp-Session-Id")
                    if not sid:
                        return self.reply(400, jdump({"jsonrpc": "2.0", "error": {"code": -32000, "message": "Bad Request: Mcp-Session-Id header is required"}, "id": None}), "application/json")
                    if not srv.sessions.get(sid):
                        return self.reply(404, jdump({"jsonrpc": "2.0", "error": {"code": -32001, "message": "Session not found"}, "id": None}), "application/json")
        if "id" not in m:
            core.answer(m)
            f = self.case.get("notified")
            return f(self) if f else self.reply(202)
        f = self.case.get("http:" + meth)
        if f and f(self, m) == "done":
            return
        resp, status = core.answer(m)
        if resp is None:
            return self.reply(202)
        hd = []
        if meth == "initialize" and era == "legacy" and not self.case.get("no_session") and "result" in resp:
            sid = secrets.token_hex(8)
            srv.sessions[sid] = resp["result"]["protocolVersion"]
            hd = [(self.case.get("session_header", "Mcp-Session-Id"), sid)]
        f = self.case.get("respond")
        if f:
            return f(self, m, resp, hd, status)
        self.sse_or_json(m, resp, hd, status)

    def sse_or_json(self, m, resp, hd=(), status=None):
        if m.get("method") == "tools/call" and "result" in resp and not status:
            return self.chunks(200, "text/event-stream", [b"event: message\ndata: " + jdump(resp).encode() + b"\n\n"], hd)
        self.reply(status or 200, jdump(resp), "application/json", hd)

    def modern_headers(self, m):
        p = m.get("params") or {}
        v = self.h("MCP-Protocol-Version")
        if not v or v != (p.get("_meta") or {}).get(M + "protocolVersion"):
            return "Header mismatch: MCP-Protocol-Version"
        if self.h("Mcp-Method") != m.get("method"):
            return "Header mismatch: Mcp-Method"
        want = p.get("uri") if m["method"] == "resources/read" else p.get("name") if m["method"] in ("tools/call", "prompts/get") else None
        if want is not None and unsentinel(self.h("Mcp-Name")) != want:
            return "Header mismatch: Mcp-Name"
        if m["method"] == "tools/call":
            for t in self.server.core.tools():
                if isinstance(t, dict) and t.get("name") == want:
                    for k, s in ((t.get("inputSchema") or {}).get("properties") or {}).items():
                        if isinstance(s, dict) and "x-mcp-header" in s and s.get("type") in ("string", "integer", "boolean"):
                            a = (p.get("arguments") or {}).get(k)
                            got = self.h("Mcp-Param-" + s["x-mcp-header"])
                            exp = None if a is None else {True: "true", False: "false"}.get(a, str(a)) if isinstance(a, bool) else str(a)
                            if unsentinel(got) != exp:
                                return "Header mismatch: Mcp-Param-" + s["x-mcp-header"]
        return None


def unsentinel(v):
    if v and v.startswith("=?base64?") and v.endswith("?="):
        return base64.b64decode(v[9:-2]).decode()
    return v


def http(cid, kind="http", **kw):
    case(cid, kind, "http", **kw)


# -- redirects
def redirect(status, to):
    def pre(h, raw):
        if h.path == "/mcp":
            h.reply(status, headers=[("Location", to(h))])
            return "done"
    return pre


http("http-307-slash", pre=redirect(307, lambda h: "/mcp/"))
http("http-308-absolute", pre=redirect(308, lambda h: h.server.origin + "/v2/mcp"))
http("http-301-post", pre=redirect(301, lambda h: "/mcp/"), get=lambda h: h.reply(400, "POST only", "text/plain"))


def other_origin(srv):
    """A second listener on another port (another origin) that records the headers it is given."""
    with srv.lock:
        if "other" not in srv.core.state:
            class H2(Handler):
                def do_POST(self):
                    raw = self.body().decode("utf-8", "replace")
                    srv.log("other_origin", verb="POST", headers={k.lower(): v for k, v in self.headers.items()},
                            leaked=bool(self.h("Authorization") or self.h("X-Api-Key") or self.h("Cookie")))
                    self.reply(401, "who are you", "text/plain")

                def do_GET(self):
                    self.do_POST()
            t = ThreadingHTTPServer(("127.0.0.1", 0), H2)
            t.daemon_threads = True
            t.case, t.log = {}, srv.log
            threading.Thread(target=t.serve_forever, daemon=True).start()
            srv.core.state["other"] = t.server_port
        return "http://127.0.0.1:%d" % srv.core.state["other"]




# -- content types, headers
def picky(h, raw):
    if h.h("Content-Type") != "application/json":
        h.reply(415, "Content-Type must be application/json", "text/plain")
        return "done"
    acc = [a.split(";")[0].strip() for a in (h.h("Accept") or "").split(",")]
    if "application/json" not in acc or "text/event-stream" not in acc:
        h.reply(406, jdump({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "Not Acceptable"}}), "application/json")
        return "done"


def odd_ctype(h, m, resp, hd, status):
    if m["method"] == "tools/call":
        return h.chunks(200, "Text/Event-Stream;charset=UTF-8", [b"data:" + jdump(resp).encode() + b"\n\n"], hd)
    h.reply(status or 200, jdump(resp), "Application/JSON; Charset=UTF-8", hd)


http("http-odd-names", "tools", tools=lambda c: [tool(n, {"text": S}) for n in ODD])
http("http-content-types", pre=picky, respond=odd_ctype)


def strict(h, raw):
    if picky(h, raw) == "done":
        return "done"
    sid = h.h("Mcp-Session-Id")
    m = json.loads(raw)
    if h.server.era == "legacy" and sid and m.get("method") != "initialize" and h.h("MCP-Protocol-Version") != h.server.sessions.get(sid):
        h.reply(400, jdump({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "Bad Request: MCP-Protocol-Version header missing or wrong"}}), "application/json")
        return "done"


http("http-strict-headers", pre=strict, session_header="mcp-session-id", delete=lambda h: h.reply(405))

# -- answers to notifications
http("http-notif-204", notified=lambda h: h.reply(204))
http("http-notif-200-null", notified=lambda h: h.reply(200, "null", "application/json"))
http("http-notif-202-text", notified=lambda h: h.reply(202, "Accepted", "text/plain; charset=utf-8"))
http("http-notif-200-chunked", notified=lambda h: h.chunks(200, None, []))


# -- SSE parsing
def sse(parts, delay=0.0, ctype="text/event-stream"):
    def respond(h, m, resp, hd, status):
        if m["method"] != "tools/call":
            return h.reply(status or 200, jdump(resp), "application/json", hd)
        h.chunks(200, ctype, parts(jdump(resp)), hd, delay)
    return respond


http("http-sse-crlf", respond=sse(lambda j: [b": ping - 2026\r\n\r\nevent: message\r\ndata: " + j.encode() + b"\r\n\r\n"]))
http("http-sse-cr-only", respond=sse(lambda j: [b"event: message\rdata: " + j.encode() + b"\r\r"]))


def byte_split(j):
    k = j.index(",") + 1                  # split the JSON over two data: lines at a legal place
    b = b"data: " + j[:k].encode() + b"\r\ndata: " + j[k:].encode() + b"\r\n\r\n"
    return [b[i:i + 1] for i in range(len(b))]


http("http-sse-byte-chunks", respond=sse(byte_split))


def multi(j):
    k = j.index(",") + 1
    return [("\ufeff:comment\n\nretry: 100\n\nid: 7\nevent: message\nfoo: bar\ndata:" + j[:k] + "\ndata: " + j[k:] + "\ndata\n\n").encode()]


http("http-sse-multiline", respond=sse(multi))
http("http-sse-eof-no-blank", respond=sse(lambda j: [b"event: message\ndata: " + j.encode() + b"\n"]))
http("http-sse-heartbeats", respond=sse(lambda j: [
    b'data: {"type":"heartbeat","ts":1}\n\n', b"event: ping\ndata: {}\n\n", b"data:\n\n", b"data: [DONE]\n\n",
    b"event: keepalive\ndata: not json\n\n", b": c\n\n", b"event: message\ndata: " + j.encode() + b"\n\n"], 0.01))
http("http-sse-big-event", respond=sse(lambda j: [b"data: " + j.encode() + b"\n\n"]), **{"tools/call": lambda c, m: text(HUGE[:2 * 1024 * 1024])})


def held(h, m, resp, hd, status):
    if m["method"] != "tools/call":
        return h.reply(status or 200, jdump(resp), "application/json", hd)
    h.send_response(200)
    h.send_header("Content-Type", "text/event-stream")
    h.send_header("Transfer-Encoding", "chunked")
    h.end_headers()

    def chunk(p):
        h.wfile.write(b"%x\r\n%s\r\n" % (len(p), p))
        h.wfile.flush()
    chunk(b"event: message\ndata: " + jdump(resp).encode() + b"\n\n")
    end = time.time() + h.server.life
    while time.time() < end:
        time.sleep(0.5)
        chunk(b": keep-alive\n\n")


http("http-sse-held-open", respond=held)


# -- streams that end early
def resumable(h, m, resp, hd, status):
    if m["method"] != "tools/call":
        return h.reply(status or 200, jdump(resp), "application/json", hd)
    h.server.core.state["later"] = resp
    h.chunks(200, "text/event-stream", [b"id: ev-1\nretry: 300\ndata:\n\n"], hd)
    h.server.core.state["closed"] = time.time()


def resume(h):
    st = h.server.core.state
    if h.h("Last-Event-ID") != "ev-1" or "later" not in st:
        return h.reply(405, headers=[("Allow", "POST")])
    h.server.log("resumed", after=round(time.time() - st["closed"], 3))
    h.chunks(200, "text/event-stream", [b"id: ev-2\ndata: " + jdump(st["later"]).encode() + b"\n\n"])


http("http-sse-resume", respond=resumable, get=resume, version="2025-11-25")
http("http-sse-ends-early", respond=sse(lambda j: [b": nothing more\n\n"]))
http("http-sse-cut", respond=lambda h, m, r, hd, s: cut(h, m, r, hd, s))


def cut(h, m, resp, hd, status):
    if m["method"] != "tools/call":
        return h.reply(status or 200, jdump(resp), "application/json", hd)
    h.send_response(200)
    h.send_header("Content-Type", "text/event-stream")
    h.send_header("Transfer-Encoding", "chunked")
    h.end_headers()
    h.wfile.write(b"30\r\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\"")
    h.wfile.flush()
    h.connection.shutdown(socket.SHUT_RDWR)
    h.close_connection = True


# -- sessions
def expiring(h, m):
    srv = h.server
    if srv.core.bump("calls") == 1:       # the first call finds its session gone
        srv.sessions.pop(h.h("Mcp-Session-Id"), None)
        h.reply(404, jdump({"jsonrpc": "2.0", "error": {"code": -32001, "message": "Session not found"}, "id": None}), "application/json")
        return "done"


def init_no_sid(h, raw):
    m = json.loads(raw)
    if m.get("method") == "initialize":
        h.server.log("init", with_session=bool(h.h("Mcp-Session-Id")))
        if h.h("Mcp-Session-Id"):
            h.reply(400, "initialize must not carry a session", "text/plain")
            return "done"


http("http-session-expired", pre=init_no_sid, **{"http:tools/call": expiring})


http("http-get-404", get=lambda h: h.reply(404, "<h1>nope</h1>", "text/html"))


# -- bodies
def gz(h, m, resp, hd, status):
    b = jdump(resp).encode()
    enc = (h.h("Accept-Encoding") or "gzip").lower()
    if "gzip" not in enc and "*" not in enc:
        return h.reply(status or 200, b, "application/json", hd)
    h.reply(status or 200, gzip.compress(b), "application/json", [*hd, ("Content-Encoding", "gzip")])


http("http-gzip", respond=gz)
http("http-json-chunked", respond=lambda h, m, r, hd, s: h.chunks(s or 200, "application/json", [bytes([b]) for b in jdump(r).encode()], hd))
LOGIN = "<!doctype html><html><head><title>Sign in</title></head><body>Please sign in to CorpProxy</body></html>"
http("http-html-200", pre=lambda h, raw: h.reply(200, LOGIN, "text/html; charset=utf-8") or "done",
     get=lambda h: h.reply(200, LOGIN, "text/html; charset=utf-8"))
http("http-502-html", pre=lambda h, raw: h.reply(502, "<html><head><title>502 Bad Gateway</title></head></html>", "text/html") or "done",
     get=lambda h: h.reply(502, "<html>502 Bad Gateway</html>", "text/html"))


def empty200(h, m):
    h.reply(200)
    return "done"


http("http-empty-200", **{"http:tools/call": empty200})


def accepted(h, m):
    h.reply(202)
    return "done"


http("http-202-for-request", **{"http:tools/call": accepted})


# -- server->client request on the POST stream (legacy)
def ping_on_stream(h, m):
    q = h.server.pending["srv-1"] = queue.Queue()
    h.send_response(200)
    h.send_header("Content-Type", "text/event-stream")
    h.send_header("Transfer-Encoding", "chunked")
    h.end_headers()

    def ev(o):
        p = b"event: message\ndata: " + jdump(o).encode() + b"\n\n"
        h.wfile.write(b"%x\r\n%s\r\n" % (len(p), p))
        h.wfile.flush()
    ev({"jsonrpc": "2.0", "id": "srv-1", "method": "ping"})
    try:
        r = q.get(timeout=8)
        t = "pong ok" if "result" in r else "ping failed"
    except queue.Empty:
        t = "ping unanswered"
    ev({"jsonrpc": "2.0", "id": m["id"], "result": h.server.core.fin("tools/call", text(t))})
    h.wfile.write(b"0\r\n\r\n")
    h.wfile.flush()
    return "done"


http("http-sse-server-ping", **{"http:tools/call": ping_on_stream})


# -- versions over HTTP
def synthetic(h, m):
    h.reply(400, jdump({"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32600, "message": "Bad Request: Unsupported protocol version: " + MODERN}}), "application/json")


http("ver-http-synthetic-id", "versions", http_modern_probe=synthetic)


def old_http(h, raw):
    m = json.loads(raw)
    v = h.h("MCP-Protocol-Version")
    want = (m.get("params") or {}).get("protocolVersion") if m.get("method") == "initialize" else None
    for x in (v, want):
        if x and x not in LEGACY[:3]:
            h.reply(400, jdump({"error": {"code": -32000, "message": "Bad Request: Unsupported protocol version (supported versions: 2025-06-18, 2025-03-26, 2024-11-05)"}, "jsonrpc": "2.0"}), "application/json")
            return "done"


http("ver-http-400-text", "versions", pre=old_http)
http("ver-http-modern-404", "versions")


# -- x-mcp-header (modern)
def hdr_tools(c):
    return [tool("sql", {"region": {"type": "string", "x-mcp-header": "Region"}, "limit": {"type": "integer", "x-mcp-header": "Limit"}, "query": S}), *TOOLS]


http("http-param-headers", tools=hdr_tools)
http("http-param-header-invalid", tools=lambda c: [
    tool("badhdr", {"x": {"type": "number", "x-mcp-header": "X"}}), tool("badhdr2", {"a": {"type": "string", "x-mcp-header": "Bad Name"}}),
    tool("badhdr3", {"a": {"type": "string", "x-mcp-header": "Dup"}, "b": {"type": "string", "x-mcp-header": "dup"}}), *TOOLS])

# -- name resolution, TLS
http("http-localhost-v4", bind="127.0.0.1")
http("http-localhost-v6", bind="::1")
http("http-self-signed", tls=True)


# ================================================================================================ legacy HTTP+SSE
def sse_server(endpoint, eol=b"\n", post="/messages", accept=(202, "Accepted")):
    def get(h):
        srv = h.server
        if not urllib.parse.urlsplit(h.path).path.endswith("/sse"):
            return h.reply(404)
        sid = secrets.token_hex(6)
        q = srv.sse[sid] = queue.Queue()
        h.send_response(200)
        h.send_header("Content-Type", "text/event-stream")
        h.send_header("Connection", "close")
        h.end_headers()
        h.close_connection = True

        def w(b):
            h.wfile.write(b)
            h.wfile.flush()
        w(b": ping" + eol + eol + b"event: endpoint" + eol + b"data: " + endpoint(h, sid).encode() + eol + eol)
        end = time.time() + srv.life
        while time.time() < end:
            try:
                o = q.get(timeout=0.5)
                w(b"event: message" + eol + b"data: " + jdump(o).encode() + eol + eol)
            except queue.Empty:
                w(b": ping - 2026-01-01 00:00:00" + eol + eol)

    def pre(h, raw):
        u = urllib.parse.urlsplit(h.path)
        sid = (urllib.parse.parse_qs(u.query).get("session_id") or [None])[0]
        q = h.server.sse.get(sid)
        if u.path != post or q is None:
            h.reply(405 if u.path.endswith("/sse") else 404, headers=[("Allow", "GET")])
            return "done"
        m = jload(raw)
        h.server.log.msg(raw, m)
        r, _ = h.server.core.answer(m)
        h.reply(accept[0], accept[1], "text/plain")
        if r:
            q.put(r)
        return "done"
    return dict(get=get, pre=pre)


case("sse-relative-endpoint", "legacy-sse", "http", path="/sse", **sse_server(lambda h, s: "/messages?session_id=%s&x=1%%202" % s))
case("sse-cross-origin-endpoint", "legacy-sse", "http", path="/sse", **sse_server(lambda h, s: other_origin(h.server) + "/messages?session_id=" + s))


# ================================================================================================ OAuth
class OAuth:
    """Resource server + authorization server on one port.  Options come from the case's `oauth` dict."""

    def __init__(self, srv):
        self.srv, self.o, self.lock = srv, srv.case["oauth"], threading.Lock()
        self.codes, self.access, self.refresh, self.dead, self.clients = {}, {}, {}, set(), {}
        b = srv.origin
        self.issuer = b + self.o.get("issuer_path", "")
        self.resource = self.o.get("resource", lambda b: b + "/mcp")(b)

    # -- resource server
    def challenge(self, h, status=401, extra=""):
        v = "Bearer" + (" " + extra if extra else "")
        if self.o.get("header_metadata", True):
            v += (", " if extra else " ") + 'resource_metadata="%s/meta/prm.json"' % self.srv.origin
        if status == 401 and self.o.get("scope"):
            v += ', scope="%s"' % self.o["scope"]
        h.reply(status, '{"error":"unauthorized"}', "application/json", [("WWW-Authenticate", v)])

    def post(self, h, raw):
        u = urllib.parse.urlsplit(h.path)
        if u.path == "/token":
            self.token(h, dict(urllib.parse.parse_qsl(raw)))
            return True
        if u.path == "/register":
            if not self.o.get("dcr", True):
                h.reply(404)
                return True
            d = json.loads(raw)
            cid = "dcr-" + secrets.token_hex(4)
            self.clients[cid] = d.get("redirect_uris", [])
            self.srv.log("register", redirect_uris=d.get("redirect_uris"))
            h.reply(201, json.dumps(dict(d, client_id=cid, token_endpoint_auth_method="none")), "application/json")
            return True
        if "access_token=" in u.query:
            self.srv.log("viol", what="token in query string")
        a = h.h("Authorization") or ""
        tok = self.access.get(a[7:]) if a.startswith("Bearer ") else None
        if not tok or tok["exp"] < time.time():
            self.challenge(h, extra='error="invalid_token"' if a else "")
            return True
        need = self.o.get("call_scope")
        if need and '"tools/call"' in raw and need not in tok["scope"].split():
            self.srv.core.bump("stepups")
            self.challenge(h, 403, 'error="insufficient_scope", scope="%s"' % need)
            return True
        return False

    # -- metadata and authorization
    def get(self, h):
        u = urllib.parse.urlsplit(h.path)
        prm = {"resource": self.resource, "authorization_servers": [self.o.get("as_listed", lambda i: i)(self.issuer)],
               **({"scopes_supported": ["mcp:read"]} if self.o.get("scopes", True) else {})}
        asm = {"issuer": self.o.get("as_issuer", lambda i: i)(self.issuer), "authorization_endpoint": self.srv.origin + "/authorize",
               "token_endpoint": self.srv.origin + "/token", "response_types_supported": ["code"],
               "grant_types_supported": ["authorization_code", "refresh_token"], "code_challenge_methods_supported": ["S256"],
               "token_endpoint_auth_methods_supported": ["none"],
               **({"registration_endpoint": self.srv.origin + "/register"} if self.o.get("dcr", True) else {})}
        if u.path in self.o.get("prm_at", ["/meta/prm.json"]):
            h.reply(200, json.dumps(prm), "application/json")
        elif u.path in self.o.get("as_at", ["/.well-known/oauth-authorization-server"]):
            h.reply(200, json.dumps(asm), "application/json")
        elif u.path == "/authorize":
            self.authorize(h, dict(urllib.parse.parse_qsl(u.query)))
        elif u.path.startswith("/.well-known/") or "/.well-known/" in u.path:
            h.reply(404)
        else:
            return False
        return True

    def authorize(self, h, q):
        why = None
        if q.get("response_type") != "code" or q.get("code_challenge_method") != "S256" or not q.get("code_challenge"):
            why = "invalid_request"
        elif q.get("resource") != self.resource:
            why = "invalid_target"
        elif self.clients and q.get("client_id") in self.clients and q.get("redirect_uri") not in self.clients[q["client_id"]]:
            why = "redirect_uri mismatch"
        elif not self.o.get("dcr", True) and q.get("client_id") != "pre-registered":
            why = "unauthorized_client"
        self.srv.log("authorize", ok=why is None, why=why or "", scope=q.get("scope", ""), resource=q.get("resource", ""))
        if why:
            return h.reply(400, why, "text/plain")
        code = secrets.token_hex(8)
        self.codes[code] = q
        d = {"code": code, **({"state": q["state"]} if "state" in q else {})}
        r = q["redirect_uri"]
        h.reply(302, headers=[("Location", r + ("&" if "?" in r else "?") + urllib.parse.urlencode(d))])

    def issue(self, h, fam, scope):
        a, r = "at-" + secrets.token_hex(8), "rt-" + secrets.token_hex(8)
        self.access[a] = {"fam": fam, "scope": scope, "exp": time.time() + self.o.get("ttl", 600)}
        self.refresh[r] = {"fam": fam, "scope": scope, "used": False}
        h.reply(200, json.dumps({"access_token": a, "token_type": "Bearer", "expires_in": self.o.get("ttl", 600),
                                 "refresh_token": r, "scope": scope}), "application/json", [("Cache-Control", "no-store")])

    def token(self, h, f):
        bad = lambda e: h.reply(400, json.dumps({"error": e}), "application/json")
        with self.lock:
            if f.get("grant_type") == "authorization_code":
                q = self.codes.pop(f.get("code"), None)
                ch = base64.urlsafe_b64encode(hashlib.sha256(f.get("code_verifier", "").encode()).digest()).rstrip(b"=").decode()
                if not q or ch != q["code_challenge"] or f.get("redirect_uri") != q["redirect_uri"]:
                    return bad("invalid_grant")
                if f.get("resource") != self.resource:
                    return bad("invalid_target")
                self.srv.log("grant", kind="code", scope=q.get("scope", ""))
                return self.issue(h, secrets.token_hex(4), q.get("scope", ""))
            if f.get("grant_type") == "refresh_token":
                t = self.refresh.get(f.get("refresh_token"))
                if not t or t["fam"] in self.dead:
                    self.srv.log("refresh", ok=False, why="unknown or revoked")
                    return bad("invalid_grant")
                if t["used"]:             # reuse detection: the whole family dies
                    self.dead.add(t["fam"])
                    for k in [k for k, v in self.access.items() if v["fam"] == t["fam"]]:
                        del self.access[k]
                    self.srv.log("refresh", ok=False, why="reuse")
                    return bad("invalid_grant")
                t["used"] = True
                time.sleep(0.2)           # widen the window
                self.srv.log("refresh", ok=True, why="")
                self.o = dict(self.o, ttl=600)
                return self.issue(h, t["fam"], t["scope"])
            return bad("unsupported_grant_type")


def oauth(cid, **o):
    case(cid, "oauth", "http", oauth=o, no_session=True)


oauth("oauth-401-noninteractive", scope="mcp:read")
oauth("oauth-prm-root-fallback", header_metadata=False, prm_at=["/.well-known/oauth-protected-resource"])
oauth("oauth-issuer-path-oidc", issuer_path="/tenant1", as_at=["/tenant1/.well-known/openid-configuration"])
oauth("oauth-issuer-slash", as_listed=lambda i: i + "/")
oauth("oauth-issuer-mismatch", as_issuer=lambda i: "https://honest.example")
oauth("oauth-resource-exact", resource=lambda b: b)
oauth("oauth-no-dcr", dcr=False)
oauth("oauth-step-up", scope="mcp:read", call_scope="mcp:write")
oauth("oauth-port-busy")


# ================================================================================================ main
def make_cert(d):
    crt, key = os.path.join(d, "c.pem"), os.path.join(d, "k.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", crt],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return crt, key


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("mode", choices=["stdio", "http", "list"])
    ap.add_argument("case", nargs="?")
    ap.add_argument("--era", choices=["legacy", "modern"], default="legacy")
    ap.add_argument("--port", type=int, default=0)
    ap.add_argument("--log", default=os.environ.get("FAKE_MCP_LOG"))
    ap.add_argument("--life", type=float, default=120)
    a = ap.parse_args()
    if a.mode == "list":
        for k, v in CASES.items():
            if v["kind"] != "internal":
                print(v["transport"], v["kind"], k)
        return 0
    if a.case not in CASES:
        ap.error("unknown case: %s" % a.case)
    c, log = CASES[a.case], Log(a.log)
    if c["transport"] != a.mode and not (a.mode == "http" and c.get("kind") in ("tools", "results", "pagination")):
        ap.error("case %s is for %s" % (a.case, c["transport"]))
    if a.mode == "stdio":
        Stdio(a.case, c, a.era, log, a.life).run()
        return 0
    srv = Http(a.case, c, a.era, log, (c.get("bind", "127.0.0.1"), a.port), a.life)
    scheme = "http"
    if c.get("tls"):
        import ssl
        import tempfile
        with tempfile.TemporaryDirectory() as d:
            crt, key = make_cert(d)
            ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            ctx.load_cert_chain(crt, key)
            srv.ca = open(crt).read()
        srv.socket = ctx.wrap_socket(srv.socket, server_side=True)
        scheme = "https"
    host = "localhost" if c.get("bind") or c.get("tls") else "127.0.0.1"
    print(json.dumps({"port": srv.server_port, "url": "%s://%s:%d%s" % (scheme, host, srv.server_port, c.get("path", "/mcp")),
                      **({"ca_pem": srv.ca} if c.get("tls") else {})}), flush=True)
    log("start", case=a.case, era=a.era, port=srv.server_port)
    t = threading.Timer(a.life, lambda: os._exit(70))
    t.daemon = True
    t.start()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    try:
        srv.serve_forever(poll_interval=0.1)
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        os._exit(0)
