/** Routes, methods of the client, commands and MCP tools, against each other. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { routes } from '#api/routes.ts';
import { outdatedPythonFiles } from '#dev/generate/python-client/python-files.ts';
import { type CoverageRow, coverageDocument, holes, routeRows, withPython } from '#dev/generate/route-coverage.ts';

let rows: CoverageRow[];
before(() => {
  rows = withPython(routeRows());
});

const rowOf = (operationId: string): CoverageRow | undefined => rows.find((row) => row.operationId === operationId);

test('a route that a client, the command line or MCP does not reach has a written reason', () => {
  assert.deepEqual(holes(rows), []);
  assert.equal(rows.length, routes.length);
  const send = routes.filter(({ operationId }) => operationId === 'sendMessage');
  assert.deepEqual(
    holes([], send),
    ['client', 'python', 'cli', 'mcp'].map((column) => `sendMessage: ${column}`),
  );
});

test('a reason that nothing needs any more is named', () => {
  const reached = routes
    .filter(({ operationId }) => operationId === 'sendMessage')
    .map((route) => ({ ...route, withoutCall: { cli: 'It once had no command.' } }));
  assert.deepEqual(holes(rows, reached), ['sendMessage: needs no reason for cli']);
});

test('what is recorded is what runs', () => {
  assert.deepEqual(rowOf('sendMessage'), {
    operationId: 'sendMessage',
    method: 'POST',
    path: '/api/mailbox/messages',
    client: ['mailbox.sendMessage'],
    cli: ['mail send'],
    mcp: ['send_message'],
    python: ['mailbox.send_message'],
  });
  assert.deepEqual(rowOf('replyToAllOfMessage')?.cli, ['mail reply']);
  assert.deepEqual(rowOf('approveConsent')?.client, ['service.consents.approve']);
  assert.deepEqual(rowOf('listMailboxMessages')?.cli, ['mail inbox']);
});

test('the Python package is made of the same routes: npm run generate', () => {
  assert.deepEqual(outdatedPythonFiles(rows), []);
});

test('docs/coverage.md is up to date: npm run generate', () => {
  const file = new URL('../../docs/coverage.md', import.meta.url);
  assert.equal(readFileSync(file, 'utf8'), coverageDocument(rows));
});
