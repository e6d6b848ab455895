// usage: node server.mjs MODULES
//
// An MCP server that takes tokens of oidc-provider, a certified authorization server, and that
// authorization server, both on one port of this machine. Prints the URL of the MCP server.

import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const modules = process.argv[2];
const { Provider } = await import(pathToFileURL(`${modules}/oidc-provider/lib/index.js`));

const server = createServer();
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const origin = `http://127.0.0.1:${server.address().port}`;
const resource = `${origin}/mcp`;

const provider = new Provider(origin, {
  features: {
    devInteractions: { enabled: true },
    deviceFlow: { enabled: true },
    dPoP: { enabled: true },
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, indicator) => {
        if (indicator !== resource) throw new Error(`unknown resource ${indicator}`);
        return { scope: 'mcp:read mcp:write', audience: indicator, accessTokenFormat: 'opaque' };
      },
    },
  },
  pkce: { required: () => true },
  rotateRefreshToken: true,
  issueRefreshToken: () => true,
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
});
const authorize = provider.callback();

function json(response, status, body, headers = {}) {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

async function mcp(request, response) {
  const [scheme, value] = (request.headers.authorization ?? '').split(' ');
  const token = value && (await provider.AccessToken.find(value));
  // A token that is bound to a key comes with a proof of that key.
  const proven = token && (token.jkt ? scheme === 'DPoP' && request.headers.dpop : scheme === 'Bearer');
  if (!proven || token.aud !== resource) {
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
    const challenge = `Bearer scope="mcp:read", resource_metadata="${metadata}"`;
    return json(response, 401, {}, { 'WWW-Authenticate': challenge });
  }
  let body = '';
  for await (const chunk of request) body += chunk;
  const { id, method } = JSON.parse(body);
  const results = {
    'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
    'tools/list': { tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: `${token.accountId} ${scheme} ${token.scope}` }] },
  };
  const result = { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...results[method] };
  return json(response, 200, { jsonrpc: '2.0', id, result });
}

server.on('request', (request, response) => {
  const path = new URL(request.url, origin).pathname;
  if (path === '/mcp') return mcp(request, response);
  if (path === '/.well-known/oauth-protected-resource/mcp') {
    return json(response, 200, { resource, authorization_servers: [origin] });
  }
  return authorize(request, response);
});

console.log(resource);
