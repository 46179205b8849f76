/**
 * What the tools share: how one is defined, its arguments checked (errors name the argument and the accepted values), its
 * person asked, and its answer written.
 */
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
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import Type, { type Static, type TObject } from 'typebox';
import { ApiError, type CallOptions, type MailboxClient } from '#client/index.ts';
import { fenced, fencedOutcome, MAIL_FOLLOWS, visible } from '#client/model-text.ts';
import { foldersOfRoots } from './local-file.ts';

export const closed = { additionalProperties: false } as const;
export const READS = { readOnlyHint: true, openWorldHint: false } as const;

/** Access of the credential: everything, only read, or only send. */
export type McpAccess = 'full' | 'read' | 'send';

/** The access that a tool needs; `any`: it is always listed. */
type ToolNeed = 'any' | 'read' | 'send' | 'change';
const ALLOWED: Readonly<Record<McpAccess, readonly ToolNeed[]>> = {
  full: ['any', 'read', 'send', 'change'],
  read: ['any', 'read'],
  send: ['any', 'send'],
};

export interface ToolCall extends CallOptions {
  /** Folders of this machine that the host shares. */
  readonly roots: readonly string[];
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
  /** Whether the host is asked first for the folders that it shares. */
  needsRoots?(input: Static<Input>): boolean;
  run(client: MailboxClient, input: Static<Input>, call: ToolCall): Promise<CallToolResult>;
}

export interface Tool {
  isFor(access: McpAccess): boolean;
  register(server: McpServer, client: MailboxClient): void;
}

/** The text of a refusal: never more than the API says. */
function refusal(error: ApiError): CallToolResult {
  const { code, sentence, fix, details, requestId, retryAfterSeconds } = error;
  const lines = [
    `${code}: ${sentence}`,
    ...details.map(({ path, message: detail }) => `- ${path}: ${detail}`),
    ...(fix === '' ? [] : [`What to do: ${fix}`]),
    ...(retryAfterSeconds === null ? [] : [`Try again after ${retryAfterSeconds} s.`]),
    ...(requestId === null ? [] : [`Request: ${requestId}`]),
  ];
  return { isError: true, ...texts(lines.join('\n')) };
}

const ASK = 'confirm';
const ROOTS = 'roots';

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** What the host has declared. Nothing that it did not declare is asked of it. */
function capabilitiesOf(server: McpServer, context: ServerContext): object {
  // Since 2026-07-28 each request declares the capabilities of its host; before, the first one of the connection did.
  const declared: unknown = Reflect.get(context.mcpReq.envelope ?? {}, CLIENT_CAPABILITIES_META_KEY);
  return isObject(declared) ? declared : (server.server.getClientCapabilities() ?? {});
}

/** Whether the host can show its user a form. */
function showsForms(capabilities: object): boolean {
  const elicitation: unknown = Reflect.get(capabilities, 'elicitation');
  return isObject(elicitation) && ('form' in elicitation || !('url' in elicitation));
}

const question = (message: string) =>
  inputRequired.elicit({
    message: String(visible(message)),
    requestedSchema: {
      type: 'object',
      properties: { send: { type: 'boolean', title: 'Send it', default: true } },
    },
  });

const DECLINED = 'declined: The person at this program did not want it sent. Nothing was sent; do not try again.';

/** What a call needs from the host: the answer of its user, and the folders that it shares. */
interface Wanted {
  readonly question: (() => Promise<string> | string) | undefined;
  readonly roots: boolean;
}

interface HostAnswer {
  /** The result of the call, which ends here. */
  readonly result?: CallToolResult | InputRequiredResult;
  readonly roots: readonly string[];
}

/** Asks the host for everything at once, or reads its answers. */
async function askHost(server: McpServer, context: ServerContext, wanted: Wanted): Promise<HostAnswer> {
  const capabilities = capabilitiesOf(server, context);
  const ask = wanted.question !== undefined && showsForms(capabilities) ? wanted.question : undefined;
  const list = wanted.roots && 'roots' in capabilities;
  const answer = inputResponse(context.mcpReq.inputResponses, ASK);
  const shared = inputResponse(context.mcpReq.inputResponses, ROOTS);
  if ((ask !== undefined && answer.kind !== 'elicit') || (list && shared.kind !== 'roots'))
    return {
      result: inputRequired({
        inputRequests: {
          ...(ask === undefined ? {} : { [ASK]: question(await ask()) }),
          ...(list ? { [ROOTS]: inputRequired.listRoots() } : {}),
        },
      }),
      roots: [],
    };
  const declined = answer.kind === 'elicit' && !(answer.action === 'accept' && answer.content?.['send'] !== false);
  if (ask !== undefined && declined) return { result: failed(DECLINED), roots: [] };
  return { roots: list && shared.kind === 'roots' ? foldersOfRoots(shared.roots) : [] };
}

/** Defines a tool. Errors of the API become tool errors that say what to do; wrong arguments never reach `run`. */
export function tool<Input extends TObject>(definition: ToolDefinition<Input>): Tool {
  const { name, title, description, annotations, needs, input, output, confirm, needsRoots, run } = definition;
  // Compiled once: over HTTP there is a server for each request.
  const inputSchema = fromJsonSchema<Static<Input>>({ ...input }, inputValidator);
  const outputSchema = fromJsonSchema<object>({ ...output }, inputValidator);
  return {
    isFor: (access) => ALLOWED[access].includes(needs),
    register(server, client) {
      const config = { title, description, annotations, inputSchema, outputSchema };
      server.registerTool(name, config, async (values, context) => {
        const { signal } = context.mcpReq;
        const reader = context.http?.authInfo?.clientId ?? '';
        try {
          const first = await askHost(server, context, {
            question: confirm === undefined ? undefined : () => confirm(client, values, { signal }),
            roots: needsRoots?.(values) === true,
          });
          return first.result ?? (await run(client, values, { signal, reader, roots: first.roots }));
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

type Validator = NonNullable<Parameters<typeof fromJsonSchema>[1]>;

const ERRORS_SHOWN_MAX = 10;
const ajv = new Ajv2020({ allErrors: true, strict: true });

function sentence({ keyword, instancePath, params, message = 'is not valid' }: ErrorObject): string {
  const { missingProperty, additionalProperty } = params as Record<string, string | undefined>;
  const place = [...instancePath.split('/').slice(1), missingProperty ?? additionalProperty ?? []].flat().join('.');
  if (keyword === 'required') return `${place} is required`;
  if (keyword === 'additionalProperties') return `${place} is not known; check for a typing error`;
  return `${place || 'the arguments'} ${message}`;
}

const inputValidator: Validator = {
  getValidator<Value>(schema: object) {
    // Compiled at its first use: two for each tool would be a fifth of what a process does at its start.
    let compiled: ValidateFunction<Value> | undefined;
    return (input: unknown) => {
      compiled ??= ajv.compile<Value>({ ...schema });
      return compiled(input)
        ? { valid: true, data: input, errorMessage: undefined }
        : {
            valid: false,
            data: undefined,
            errorMessage: (compiled.errors ?? []).slice(0, ERRORS_SHOWN_MAX).map(sentence).join('; '),
          };
    };
  },
};

export const LIST_DEFAULT = 20;

/** The input of tools that return a list in pages. */
export const pageInput = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: `Maximum number; default ${LIST_DEFAULT}.` }),
  ),
  cursor: Type.Optional(Type.String({ description: 'nextCursor of the previous page.' })),
};
