"""How a case becomes an mcpmini command line, and its output a result."""

import json
import shlex


class Adapter:
    """mcpmini."""

    has = {"cwd", "max_total", "kv", "args_stdin", "headers", "list_prompts",
           "oauth", "callback_port"}  # see "needs" in cases.json
    eras = {"legacy", "modern"}

    @staticmethod
    def argv(program, case, server):
        """The command line for a case."""
        drive = case["drive"]
        name = server.get("url") or "exec:" + shlex.join([server["command"], *server["args"]])
        words = {"call_tool": ["call", name, drive.get("tool")], "list_tools": ["tools", name],
                 "list_prompts": ["rpc", name, "prompts/list"]}[drive["op"]]
        if drive.get("args") is not None:
            words.append(json.dumps(drive["args"], ensure_ascii=False))
        words += [drive[form] for form in ("args_json",) if form in drive] + drive.get("kv", [])
        words += ["-"] if "args_stdin" in drive else []
        words += ["--json"] if drive["op"] != "list_prompts" else []
        words += ["--timeout", str(drive["timeout_s"])]
        words += ["--max-time", str(drive["max_total_s"])] if "max_total_s" in drive else []
        words += ["--cwd", server["cwd"]] if server.get("cwd") else []
        words += ["--callback-port", str(server["callback_port"])] if "callback_port" in server else []
        for header in server.get("headers", {}).items():
            words += ["-H", ": ".join(header)]
        return [program, *words]

    @staticmethod
    def result(case, out, load):
        """The result in an output: `tools --json` prints one tool a line, the rest one object."""
        if case["drive"]["op"] == "list_tools":
            return {"tools": [load(line) for line in out.splitlines()]}
        return load(out)
