/** Every key of SEARCH over a message with parts in parts; the same on PostgreSQL in `test/mailstore/search-keys.test.ts`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loggedIn } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { appendBoth, askSearchKeys, missingKeys } from './search-key-cases.ts';

test('every key of SEARCH finds what its definition says in parts, nested messages and their headers', async () => {
  assert.deepEqual(missingKeys(), []);
  const store = new MemoryStore();
  await appendBoth(store);
  const client = await loggedIn(store);
  await askSearchKeys(client);
  await client.close();
});
