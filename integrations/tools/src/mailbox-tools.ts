/**
 * The tools of one mailbox, for any program that gives tools to a model. Names, descriptions and schemas are those of the
 * MCP server of the service. Each call of a tool is one request to that server.
 */
import { ApiError, type Fetch } from '@agent-mailbox/client';
import { TOOL_DEFINITIONS, type ToolName } from './tool-definitions.ts';

export interface MailboxToolsOptions {
  /** Address of the service, e.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Token of the mailbox, `amt_…`. The tools open this mailbox and nothing else. */
  readonly token: string;
  /** Which tools; default: all. */
  readonly only?: readonly ToolName[];
  /** How a request is made; default: the global `fetch`. */
  readonly fetch?: Fetch;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** A tool, independent of the framework. */
export interface MailboxTool {
  readonly name: ToolName;
  readonly title: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: (typeof TOOL_DEFINITIONS)[number]['inputSchema'];
  /** Changes nothing, and sends nothing. */
  readonly readOnly: boolean;
  /**
   * @returns text for the model: the answer, or the reason of a refusal and what to do. Mail in it is marked as untrusted
   * @throws {ApiError} when the service cannot be reached or does not accept the token
   */
  run(input: unknown, options?: CallOptions): Promise<string>;
}

/** `send_message` waits as long as others; `wait_for_message` at most 50 s. */
const TIMEOUT_MS = 90_000;
/** Without a session, so that any replica answers. */
const PROTOCOL = '2025-06-18';

export function mailboxTools(options: MailboxToolsOptions): MailboxTool[] {
  const { only } = options;
  return TOOL_DEFINITIONS.filter(({ name }) => only === undefined || only.includes(name)).map((definition) => ({
    ...definition,
    run: (input, call) => callTool(options, definition.name, input, call?.signal),
  }));
}

async function callTool(
  { url, token, fetch = globalThis.fetch }: MailboxToolsOptions,
  name: string,
  input: unknown,
  signal: AbortSignal | undefined,
): Promise<string> {
  const address = `${url.replace(/\/+$/, '')}/mcp`;
  const late = AbortSignal.timeout(TIMEOUT_MS);
  let response: Response;
  let text: string;
  try {
    response = await fetch(address, {
      method: 'POST',
      // A redirect would carry the token to another place.
      redirect: 'error',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': PROTOCOL,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input ?? {} } }),
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    });
    text = await response.text();
  } catch (cause) {
    // Not repeated: a message may have been sent.
    const message = `No answer from ${url}.`;
    throw new ApiError({ code: 'unreachable', message, fix: 'Check the address.', status: null }, { cause });
  }
  return answerOf(parsed(text, response.headers.get('content-type') ?? ''), response);
}

interface Reply {
  readonly result?: { readonly content?: readonly { readonly type: string; readonly text?: string }[] };
  readonly error?: { readonly code: string | number; readonly message: string; readonly fix?: string };
}

/** JSON, or the last event of a stream. */
function parsed(text: string, contentType: string): Reply {
  const json = contentType.startsWith('text/event-stream') ? (/^data: (.+)$/gm.exec(text)?.[1] ?? '') : text;
  try {
    return JSON.parse(json) as Reply;
  } catch {
    return {};
  }
}

function answerOf({ result, error }: Reply, { status, headers }: Response): string {
  if (result?.content !== undefined)
    return result.content.map((part) => part.text ?? `(${part.type}: not shown to the model)`).join('\n');
  throw new ApiError({
    code: typeof error?.code === 'string' ? error.code : 'unexpected_answer',
    message: error?.message ?? `The service answered with status ${status}.`,
    fix: error?.fix ?? 'Check that the address is that of Agent Mailbox.',
    status,
    requestId: headers.get('x-request-id'),
  });
}
