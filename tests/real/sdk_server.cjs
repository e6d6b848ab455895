// A server of the TypeScript SDK on 127.0.0.1, with its guard against DNS rebinding or without.
//
//   node sdk_server.cjs MODULES PORT guarded|open
//
// MODULES is the node_modules directory in which the SDK and express are. Without the guard it is
// what the conformance suite keeps as its example of a server that fails dns-rebinding-protection.

const { createRequire } = require("node:module");

const [modules, port, guard] = process.argv.slice(2);
const load = createRequire(`${modules}/`);
const { McpServer } = load("@modelcontextprotocol/sdk/server/mcp.js");
const { StreamableHTTPServerTransport } = load("@modelcontextprotocol/sdk/server/streamableHttp.js");
const { createMcpExpressApp } = load("@modelcontextprotocol/sdk/server/express.js");
const express = load("express");

function bare() {
  const app = express();
  app.use(express.json());
  return app;
}

const app = guard === "guarded" ? createMcpExpressApp() : bare();

// Without sessions: every message has a server of its own.
app.post("/mcp", async (request, response) => {
  const server = new McpServer({ name: "sdk-server", version: "1.0.0" });
  server.registerTool("hello", { description: "Greets" }, async () => ({
    content: [{ type: "text", text: "hello" }],
  }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  response.on("close", () => transport.close());
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
});

app.listen(Number(port), "127.0.0.1");
