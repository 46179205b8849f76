/** Makes a Temporal server know our search attributes. */
import { Connection } from '@temporalio/client';
import type { temporalConnectionOptions } from '../core/temporal-client.ts';
import { SEARCH_ATTRIBUTES } from '../domain/search-attributes.ts';

const ANSWER_WITHIN_MS = 3_000;
/** temporal.api.enums.v1.IndexedValueType */
const INDEXED_VALUE_TYPE = { Keyword: 2, KeywordList: 7 } as const;

export type TemporalConnectionOptions = ReturnType<typeof temporalConnectionOptions>;

async function withConnection<Result>(
  options: TemporalConnectionOptions,
  use: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const connection = await Connection.connect({ ...options, connectTimeout: ANSWER_WITHIN_MS });
  try {
    return await connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, () => use(connection));
  } finally {
    await connection.close();
  }
}

/**
 * Adds the search attributes a server does not know yet. Servers we start know them from their command line.
 *
 * @returns names of those that were added
 * @throws when the server does not let us, e.g. Temporal Cloud, naming what to add
 */
export async function addSearchAttributes(options: TemporalConnectionOptions, namespace: string): Promise<string[]> {
  return withConnection(options, async ({ operatorService }) => {
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
    const missing = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => customAttributes[name] === undefined);
    if (missing.length === 0) return [];
    try {
      await operatorService.addSearchAttributes({
        namespace,
        searchAttributes: Object.fromEntries(missing.map(([name, type]) => [name, INDEXED_VALUE_TYPE[type]])),
      });
    } catch (error) {
      throw new Error(
        `The Temporal namespace "${namespace}" lacks search attributes and does not let them be added ` +
          `(${error instanceof Error ? error.message : error}). Add them yourself: ` +
          `temporal operator search-attribute create --namespace ${namespace} ` +
          missing.map(([name, type]) => `--name ${name} --type ${type}`).join(' '),
      );
    }
    return missing.map(([name]) => name);
  });
}
