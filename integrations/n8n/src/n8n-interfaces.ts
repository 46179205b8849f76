/**
 * The parts of n8n's interface for nodes that this package uses, written from its public documentation
 * (https://docs.n8n.io/integrations/creating-nodes/). n8n's own package of types has a licence that is not permissive,
 * so nothing is imported from it. n8n looks at names and shapes only.
 */
export type Fields = Record<string, unknown>;
export type HttpMethod = 'DELETE' | 'GET' | 'PATCH' | 'POST';

/** `manual`: the editor tests a workflow; `webhook`, `trigger`, `internal`: an active workflow. */
export type Mode = 'manual' | 'trigger' | 'webhook' | 'internal' | (string & {});

export interface HttpRequest {
  readonly method: HttpMethod;
  readonly url: string;
  readonly qs?: Fields;
  readonly body?: Fields | Buffer;
  headers?: Record<string, string>;
  readonly json?: boolean;
  readonly encoding?: 'arraybuffer';
  readonly returnFullResponse: true;
  readonly ignoreHttpStatusErrors: true;
  readonly disableFollowRedirect: true;
  /** Milliseconds. */
  readonly timeout: number;
}

export interface HttpAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body?: unknown;
}

export interface BinaryData {
  readonly mimeType: string;
  readonly fileName?: string;
  /** Base64. */
  readonly data: string;
}

export interface Item {
  readonly json: Fields;
  readonly binary?: Readonly<Record<string, BinaryData>>;
  readonly pairedItem?: { readonly item: number };
}

/** What every function of a node gets as `this`. */
export interface Host {
  getCredentials(name: string): Promise<Fields>;
  getInstanceId(): string;
  getMode(): Mode;
  getNode(): { readonly id: string; readonly name: string };
  getWorkflow(): { readonly id?: string | undefined; readonly name?: string | undefined };
  readonly helpers: {
    httpRequestWithAuthentication(this: unknown, credential: string, request: HttpRequest): Promise<unknown>;
  };
  readonly logger: { warn(message: string): void };
}

/** `this` of the functions of a trigger. */
export interface TriggerHost extends Host {
  getNodeParameter(name: string, fallback?: unknown): unknown;
  /** Stored with the workflow: after `webhookMethods`, and after a `webhook` that starts no execution. Not after `poll`. */
  getWorkflowStaticData(type: 'node'): Fields;
  /** Only in `webhookMethods` and `webhook`. While a test of the editor is prepared or ended, that of the test. */
  getNodeWebhookUrl?(name: 'default'): string | undefined;
}

export interface HookHost extends TriggerHost {
  getNodeWebhookUrl(name: 'default'): string | undefined;
}

export interface WebhookHost extends TriggerHost {
  getHeaderData(): Readonly<Record<string, string | string[] | undefined>>;
  getRequestObject(): { rawBody?: Buffer; readRawBody?(): Promise<void> };
  getResponseObject(): { status(code: number): { json(body: unknown): unknown } };
}

export interface WebhookAnswer {
  readonly workflowData?: Item[][];
  readonly webhookResponse?: unknown;
  /** The node has answered the request itself. */
  readonly noWebhookResponse?: true;
}

export interface ExecuteHost extends Host {
  continueOnFail(): boolean;
  getInputData(): Item[];
  /** That of the workflow, as an IANA name. */
  getTimezone(): string;
  getNodeParameter(name: string, itemIndex: number, fallback?: unknown): unknown;
  readonly helpers: Host['helpers'] & {
    getBinaryDataBuffer(itemIndex: number, field: string): Promise<Buffer>;
    prepareBinaryData(data: Buffer, fileName?: string, mimeType?: string): Promise<BinaryData>;
  };
}

export interface Choice {
  readonly name: string;
  readonly value: string;
  readonly description?: string;
  readonly action?: string;
}

export interface Property {
  readonly displayName: string;
  readonly name: string;
  readonly type: 'boolean' | 'collection' | 'dateTime' | 'multiOptions' | 'number' | 'options' | 'string';
  readonly default: unknown;
  readonly required?: boolean;
  readonly description?: string;
  readonly placeholder?: string;
  readonly noDataExpression?: boolean;
  readonly typeOptions?: Fields;
  readonly options?: readonly (Choice | Property)[];
  readonly displayOptions?: { readonly show: Readonly<Record<string, readonly string[]>> };
}

export interface Icon {
  readonly light: `file:${string}.svg`;
  readonly dark: `file:${string}.svg`;
}

export interface NodeDescription {
  readonly displayName: string;
  readonly name: string;
  readonly icon: Icon;
  readonly group: readonly string[];
  readonly version: number;
  readonly subtitle: string;
  readonly description: string;
  readonly defaults: { readonly name: string };
  readonly inputs: readonly 'main'[];
  readonly outputs: readonly 'main'[];
  readonly usableAsTool?: true;
  /** n8n adds the field `pollTimes` and calls `poll` at these times. */
  readonly polling?: true;
  readonly webhooks?: readonly Fields[];
  readonly credentials: readonly { readonly name: string; readonly required: true }[];
  readonly properties: readonly Property[];
}
