/** The operations of the OpenAPI document that a client has methods for. */
import type { OpenApiDocument } from '#api/documents/openapi.ts';
import { isJson, type Json } from './schema-as-python.ts';

export interface ApiOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Json;
}

/**
 * Without those of `/api/mailboxes/{id}` that are there for the own mailbox too: the client asks both by the same method.
 */
export function operationsOf(document: OpenApiDocument): ApiOperation[] {
  const found: ApiOperation[] = [];
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const own = path.replace(/^\/api\/mailboxes\/\{id\}/, '/api/mailbox');
      const isTwin = own !== path && own !== '/api/mailbox' && document.paths[own]?.[method] !== undefined;
      if (!isTwin) found.push({ id: String(operation['operationId']), method: method.toUpperCase(), path, operation });
    }
  return found;
}

/** The schema of a JSON body or answer. */
export function jsonSchemaOf(content: unknown): Json | undefined {
  const types = isJson(content) ? content['content'] : undefined;
  const json = isJson(types) ? types['application/json'] : undefined;
  return isJson(json) && isJson(json['schema']) ? json['schema'] : undefined;
}
