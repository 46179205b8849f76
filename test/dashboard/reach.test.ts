/** Every operation that a signed-in person may call is called by a page, or listed below with the reason. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { AuthRule } from '#api/http/route.ts';
import { routes } from '#api/routes.ts';

const dashboard = fileURLToPath(new URL('../../dashboard', import.meta.url));

/** Operations without a page, by their id. */
const WITHOUT_PAGE: Readonly<Record<string, string>> = {
  listMailboxSnippets: 'The page makes the same texts by client/snippets.ts, so that a token just made stands in them.',
  waitForMailboxMessages: 'A long poll for programs; the pages listen to the stream.',
  sendMailboxMessage: 'People write a draft, which is saved as they type, and send that.',
  replyToMailboxMessage: 'An answer is a draft that is sent.',
  replyToAllOfMailboxMessage: 'An answer is a draft that is sent.',
  forwardMailboxMessage: 'A forwarded message is a draft that is sent.',
  getMailboxMessageStatus: 'The timeline of a message shows each recipient with its attempts.',
  getConsent: 'The pages ask for the request together with the whole message.',
  getKey: 'The list of keys has all of each key.',
  getMailboxAttachmentText: 'The pages show the attachment itself.',
  uploadMailboxFile: 'Files are for programs; the pages put what a person attaches into the draft.',
  createMailboxUpload: 'Files are for programs.',
  listMailboxFiles: 'Files are for programs, and gone after a day.',
  getMailboxFile: 'Files are for programs.',
  deleteMailboxFile: 'Files are for programs, and gone after a day.',
  changeMailboxMessages: 'People change the messages they see one by one.',
  listMessagesOfMailboxes: 'The reader shows one mailbox; people find mail of all of them on the page Activity.',
  searchMessagesOfMailboxes: 'The page Activity searches all mailboxes.',
  listThreadsOfMailboxes: 'The reader shows one mailbox.',
  rotateWebhookSigningKey: 'It concerns every endpoint of the organization at once: a step of its operator’s programs.',
  getRecovery: 'The list of recoveries has its progress.',
};

/** Names of parameters do not count: `/api/mailboxes/{}`. */
const shapeOf = (address: string): string =>
  address.replaceAll(/:[A-Za-z]+|\{[^}]*\}|\$\{[^}]*\}/g, '{}').split('?')[0] ?? '';

/** Whether a session is among what opens a route. */
function isForPeople(auth: AuthRule): boolean {
  if (typeof auth === 'object') return 'scope' in auth || 'role' in auth;
  return auth === 'session' || auth === 'approval_link';
}

const CALL = /(?:service|operator)\.(GET|POST|PUT|PATCH|DELETE)\(\s*'(\/[^']+)'/g;
/** The page of the lists makes the address of each from its direction and what it does. */
const LIST = '`/api/lists/${direction}/${action}`';
const LIST_CALL = /service\.(GET|POST|DELETE)\((`\$\{)?pathOf\(direction, action\)/g;
const LISTS = ['inbound', 'outbound'].flatMap((direction) =>
  ['allow', 'block'].map((action) => `/api/lists/${direction}/${action}`),
);

/** Method and address of every request the pages make. */
function requestsOfPages(): Set<string> {
  const found = new Set<string>();
  for (const file of globSync('**/*.{ts,tsx}', {
    cwd: dashboard,
    exclude: ['node_modules/**', 'dist/**', 'api/openapi.ts'],
  })) {
    const code = readFileSync(path.join(dashboard, file), 'utf8').replace(LIST, '');
    for (const [, method, inList] of code.matchAll(LIST_CALL))
      for (const list of LISTS) found.add(`${method} ${list}${inList === undefined ? '' : '/{}'}`);
    const others = code.replaceAll(CALL, (_, method: string, address: string) => {
      found.add(`${method} ${shapeOf(address)}`);
      return '';
    });
    // Streams and downloads are opened by their address.
    for (const [, address = ''] of others.matchAll(/[`'"](\/api\/(?:[^`'"$]|\$\{[^}]*\})+)[`'"]/g))
      found.add(`GET ${shapeOf(address)}`);
  }
  return found;
}

const forPeople = routes.filter(({ auth, path: address }) => address.startsWith('/api/') && isForPeople(auth));

test('every operation of a signed-in person is called by a page or listed as one without a page', () => {
  const requests = requestsOfPages();
  assert.ok(requests.size > 40, `${requests.size} requests were found in the code of the pages`);
  const unreached = forPeople.filter((route) => !requests.has(`${route.method} ${shapeOf(route.path)}`));
  const missing = unreached
    .filter(({ operationId }) => WITHOUT_PAGE[operationId] === undefined)
    .map(({ operationId, method, path: address }) => `${operationId}: ${method} ${address}`);
  assert.deepEqual(missing, [], 'no page makes these requests');
});

test('every operation that is listed as one without a page exists, and no page calls it', () => {
  const requests = requestsOfPages();
  const stale = Object.keys(WITHOUT_PAGE).filter((operationId) => {
    const route = forPeople.find((each) => each.operationId === operationId);
    return route === undefined || requests.has(`${route.method} ${shapeOf(route.path)}`);
  });
  assert.deepEqual(stale, []);
});

test('the pages ask for nothing that the API does not have', () => {
  const known = new Set(routes.map((route) => `${route.method} ${shapeOf(route.path)}`));
  assert.deepEqual(
    [...requestsOfPages()].filter((request) => !known.has(request)),
    [],
  );
});
