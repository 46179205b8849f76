import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  fromJsonSchema,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
  type ToolAnnotations,
} from '@modelcontextprotocol/server';
import type { Static, TObject } from 'typebox';
import { ApiError, type CallOptions, type MailboxClient } from '#client/index.ts';
import { inputValidator } from './input-validator.ts';
import { fenced, fencedOutcome, MAIL_FOLLOWS, visible } from './untrusted.ts';

/** Access of the credential: everything, only read, or only send. */
export type McpAccess = 'full' | 'read' | 'send';

/** The access that a tool needs; `any`: it is always listed. */
type ToolNeed = 'any' | 'read' | 'send' | 'change';
const ALLOWED: Readonly<Record<McpAccess, readonly ToolNeed[]>> = {
  full: ['any', 'read', 'send', 'change'],
  read: ['any', 'read'],
  send: ['any', 'send'],
};

interface ToolCall extends CallOptions {
  /** The credential of a request over HTTP, in a form that opens nothing; empty over stdio, where there is one. */
  readonly reader: string;
}

/** One tool: its input and output, and what it does with the mailbox. */
interface ToolDefinition<Input extends TObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly needs: ToolNeed;
  readonly input: Input;
  /** Of `structuredContent`. */
  readonly output: TObject;
  /** Question that the host asks its user before the tool runs, if it can. The consent gate decides in any case. */
  confirm?(client: MailboxClient, input: Static<Input>, call: CallOptions): Promise<string> | string;
  run(client: MailboxClient, input: Static<Input>, call: ToolCall): Promise<CallToolResult>;
}

export interface Tool {
  isFor(access: McpAccess): boolean;
  register(server: McpServer, client: MailboxClient): void;
}

/** The text of a refusal: never more than the API says. */
function refusal(error: ApiError): CallToolResult {
  const { code, message, fix, details, requestId, retryAfterSeconds } = error;
  const lines = [
    `${code}: ${message}`,
    ...details.map(({ path, message: detail }) => `- ${path}: ${detail}`),
    ...(fix === '' ? [] : [`What to do: ${fix}`]),
    ...(retryAfterSeconds === null ? [] : [`Try again after ${retryAfterSeconds} s.`]),
    ...(requestId === null ? [] : [`Request: ${requestId}`]),
  ];
  return { isError: true, ...texts(lines.join('\n')) };
}

const ASK = 'confirm';

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Whether the host can show its user a form. Hosts that do not declare it get no question. */
function canAsk(server: McpServer, context: ServerContext): boolean {
  // Since 2026-07-28 each request declares the capabilities of its host; before, the first one of the connection did.
  const declared: unknown = Reflect.get(context.mcpReq.envelope ?? {}, CLIENT_CAPABILITIES_META_KEY);
  const capabilities = isObject(declared) ? declared : (server.server.getClientCapabilities() ?? {});
  const elicitation: unknown = Reflect.get(capabilities, 'elicitation');
  return isObject(elicitation) && ('form' in elicitation || !('url' in elicitation));
}

const question = (message: string): InputRequiredResult =>
  inputRequired({
    inputRequests: {
      [ASK]: inputRequired.elicit({
        message: String(visible(message)),
        requestedSchema: {
          type: 'object',
          properties: { send: { type: 'boolean', title: 'Send it', default: true } },
        },
      }),
    },
  });

const DECLINED = 'declined: The person at this program did not want it sent. Nothing was sent; do not try again.';

/** Asks the user of the host, or reads the answer. @returns undefined: continue */
async function asked(
  server: McpServer,
  context: ServerContext,
  message: () => Promise<string> | string,
): Promise<CallToolResult | InputRequiredResult | undefined> {
  if (!canAsk(server, context)) return undefined;
  const answer = inputResponse(context.mcpReq.inputResponses, ASK);
  if (answer.kind !== 'elicit') return question(await message());
  if (answer.action === 'accept' && answer.content?.['send'] !== false) return undefined;
  return { isError: true, ...texts(DECLINED) };
}

/** Defines a tool. Errors of the API become tool errors that say what to do; wrong arguments never reach `run`. */
export function tool<Input extends TObject>(definition: ToolDefinition<Input>): Tool {
  const { name, title, description, annotations, needs, input, output, confirm, run } = definition;
  // Compiled once: over HTTP there is a server for each request.
  const inputSchema = fromJsonSchema<Static<Input>>({ ...input }, inputValidator);
  const outputSchema = fromJsonSchema<object>({ ...output }, inputValidator);
  return {
    isFor: (access) => ALLOWED[access].includes(needs),
    register(server, client) {
      const config = { title, description, annotations, inputSchema, outputSchema };
      server.registerTool(name, config, async (values, context) => {
        const call = { signal: context.mcpReq.signal, reader: context.http?.authInfo?.clientId ?? '' };
        try {
          const first =
            confirm === undefined ? undefined : await asked(server, context, () => confirm(client, values, call));
          return first ?? (await run(client, values, call));
        } catch (error) {
          if (error instanceof ApiError) return refusal(error);
          throw error;
        }
      });
    },
  };
}

const texts = (...all: readonly string[]): Pick<CallToolResult, 'content'> => ({
  content: all.map((text) => ({ type: 'text', text })),
});

const asStructured = (value: object): Record<string, unknown> => ({ ...value });

/** An error in words. */
export const failed = (text: string): CallToolResult => ({ isError: true, ...texts(text) });

/** An answer of this service alone. */
export const answer = (value: object): CallToolResult => ({
  ...texts(json(value)),
  structuredContent: asStructured(value),
});

/** Untrusted content: between markers as text, with a notice as structure. */
export const mail = (value: object): CallToolResult => ({
  ...texts(fenced(value)),
  structuredContent: { notice: MAIL_FOLLOWS, ...asStructured(visible(value) as object) },
});

/** The result of sending, which contains untrusted text. @param first explanation of the API, if there is one */
export const outcome = (value: object, first?: string): CallToolResult => ({
  ...texts(...(first === undefined ? [] : [first]), fencedOutcome(value)),
  structuredContent: { notice: MAIL_FOLLOWS, ...asStructured(visible(value) as object) },
});

/** Like `answer`, after the explanation of the API, if there is one. */
export const answerAfter = (first: string | undefined, value: object, structured: object): CallToolResult => ({
  ...texts(...(first === undefined ? [] : [first]), json(value)),
  structuredContent: asStructured(structured),
});

const json = (value: unknown): string => JSON.stringify(value, null, 1);
