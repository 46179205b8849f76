import { type Html, html } from './html.ts';

/** What every reader needs to know before the first request. */
export const guide = (publicUrl: string): Html => html`
<h1>Agent Mailbox API</h1>
<p class="lead">Real mailboxes for software agents, with signed, durable webhooks. This page is made from
<a href="/openapi.json">the OpenAPI document</a>.</p>

<h2 id="first-steps">First steps</h2>
<p>Create a mailbox with an API key. The answer holds its address, its token (this once) and the settings for mail clients.</p>
<pre><code>curl ${publicUrl}/api/mailboxes \\
  -H "x-organization-key: $API_KEY" \\
  -H "content-type: application/json" \\
  -d '{"name": "Order desk"}'</code></pre>
<p>Have a server of yours told about every mail that arrives:</p>
<pre><code>curl ${publicUrl}/api/webhooks \\
  -H "x-organization-key: $API_KEY" \\
  -H "content-type: application/json" \\
  -d '{"url": "https://example.com/hooks", "eventTypes": ["email_received"]}'</code></pre>

<p>Read it with the mailbox token, on the command line (<code>npx agent-mailbox login --token=amt_…</code>), or as an agent's tools:</p>
<pre><code>{"mcpServers": {"mailbox": {"type": "http", "url": "${publicUrl}/mcp",
  "headers": {"Authorization": "Bearer amt_…"}}}}</code></pre>

<h2 id="credentials">Credentials</h2>
<div class="scroll"><table><thead><tr><th>Credential</th><th>Sent as</th><th>Opens</th></tr></thead><tbody>
<tr><td>API key</td><td><code>x-organization-key: amk_…</code></td><td>what its scopes say, in its organization</td></tr>
<tr><td>Session</td><td><code>Authorization: Bearer ams_…</code></td><td>what the member's role says; with several organizations
<code>x-organization-id</code> chooses</td></tr>
<tr><td>Mailbox token</td><td><code>Authorization: Bearer amt_…</code></td><td>its own mailbox, by REST and MCP; also the password for IMAP, POP3 and SMTP</td></tr>
<tr><td>Operator key</td><td><code>x-operator-key: …</code></td><td>plans of organizations, for whoever runs the instance</td></tr>
</tbody></table></div>
<p>Credentials end in a checksum: a mistyped one is told as not well-formed. Unknown, revoked and expired ones answer alike.</p>

<h2 id="conventions">Conventions</h2>
<ul>
<li>JSON in camelCase and UTF-8. Times are ISO 8601 in UTC with milliseconds. Fields the API does not know are rejected,
so a typing error never passes silently.</li>
<li>Lists answer <code>{"data": […], "nextCursor": …}</code>; give <code>nextCursor</code> as <code>cursor</code> for the next page.</li>
<li>Every answer carries <code>X-Request-Id</code>; send your own to find it again in the audit log.</li>
<li>Single resources carry an <code>ETag</code>; with <code>If-None-Match</code> an unchanged one answers 304.</li>
</ul>

<h2 id="idempotency">Repeating a request</h2>
<p>Send <code>Idempotency-Key</code> with a POST to make it safe to repeat. For 24 hours the same key and body answer what the first
request did, with <code>Idempotent-Replayed: true</code>; another body, or a request that is still running, answers 409. A request that
failed changed nothing and may be made again with the same key. Only where the service lost its database in the middle (503) nobody
knows: then the same request answers 409 for five minutes, so that it is not done twice, and is made anew after that; look meanwhile
whether it was done. Secrets are in a replayed answer for ten minutes only, afterwards
they are null.</p>

<h2 id="rate-limits">Rate limits</h2>
<p>On plans with a limit every answer carries <code>RateLimit-Limit</code>, <code>RateLimit-Remaining</code> and
<code>RateLimit-Reset</code> (seconds). Above it the answer is 429 with <code>Retry-After</code>.</p>

<h2 id="errors">Errors</h2>
<p>One shape everywhere. <code>code</code> is stable, <code>fix</code> says what to do, <code>details</code> names the fields;
<a href="/docs/errors">all codes</a>.</p>
<pre><code>{
  "error": {
    "code": "invalid_request",
    "message": "The request does not have the expected form.",
    "fix": "Correct the fields named in details. …",
    "docs": "${publicUrl}/docs/errors#invalid_request",
    "requestId": "req_01k8e8f2c0e4x9w2v7a3r5t6y8",
    "details": [{ "path": "/name", "message": "must be string" }]
  }
}</code></pre>`;
