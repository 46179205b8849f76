import {
  type CallToolResult,
  fromJsonSchema,
  type McpServer,
  type ToolAnnotations,
} from '@modelcontextprotocol/server';
import type { Static, TObject } from 'typebox';
import { ApiError, type CallOptions, type MailboxClient } from '../client/index.ts';
import { inputValidator } from './input-validator.ts';

/** One tool: what it takes, and what it does with the mailbox. */
interface ToolDefinition<Input extends TObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly input: Input;
  run(client: MailboxClient, input: Static<Input>, call: CallOptions): Promise<CallToolResult>;
}

export type Tool = (server: McpServer, client: MailboxClient) => void;

/** What a reader is told of a refusal: never more than the API says. */
function refusal(error: ApiError): CallToolResult {
  const { code, message, fix, details, requestId, retryAfterSeconds } = error;
  const lines = [
    `${code}: ${message}`,
    ...details.map(({ path, message: detail }) => `- ${path}: ${detail}`),
    ...(fix === '' ? [] : [`What to do: ${fix}`]),
    ...(retryAfterSeconds === null ? [] : [`Try again after ${retryAfterSeconds} s.`]),
    ...(requestId === null ? [] : [`Request: ${requestId}`]),
  ];
  return { isError: true, content: [{ type: 'text', text: lines.join('\n') }] };
}

/** Defines a tool. Errors of the API become tool errors that say what to do; wrong arguments never reach `run`. */
export function tool<Input extends TObject>(definition: ToolDefinition<Input>): Tool {
  const { name, title, description, annotations, input, run } = definition;
  // Compiled once: over HTTP there is a server for each request.
  const inputSchema = fromJsonSchema<Static<Input>>({ ...input }, inputValidator);
  return (server, client) => {
    server.registerTool(name, { title, description, annotations, inputSchema }, async (values, context) => {
      try {
        return await run(client, values, { signal: context.mcpReq.signal });
      } catch (error) {
        if (error instanceof ApiError) return refusal(error);
        throw error;
      }
    });
  };
}

/** An answer of texts. */
export const texts = (...all: readonly string[]): CallToolResult => ({
  content: all.map((text) => ({ type: 'text', text })),
});

export const json = (value: unknown): string => JSON.stringify(value, null, 1);
