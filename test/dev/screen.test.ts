/** The last screen of `npm start`: its commands work as they are copied. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ScreenFacts, screen } from '#dev/launcher/screen.ts';

const shown = (apiUrl: string): string => {
  const facts: ScreenFacts = {
    apiUrl,
    email: 'owner@agents.test',
    password: 'secret',
    apiKey: null,
    organizationId: 'org_1',
    smtp: null,
    submission: null,
    submissionStarttls: null,
    imap: null,
    imapStarttls: null,
    pop3: null,
    pop3Starttls: null,
    temporalAddress: '127.0.0.1:7233',
    temporalUiUrl: null,
    databaseUrl: 'postgres://127.0.0.1/x',
    caFile: null,
    pid: 1,
    startedAt: '2026-11-22T00:00:00.000Z',
    version: '1.0.0',
    mode: 'development',
    projectFolder: '/project',
    dataDir: undefined,
    serviceFile: '/data/service.json',
    logFile: '/data/service.log',
    mailDomain: 'agents.test',
    receiverAllowed: true,
    notes: [],
  };
  return screen(facts, false);
};

test('the login command names the API where it does not listen at the default address', () => {
  assert.match(shown('http://127.0.0.1:9080'), /agent-mailbox login --token=… --url=http:\/\/127\.0\.0\.1:9080$/m);
  assert.match(shown('http://127.0.0.1:8080'), /agent-mailbox login --token=…$/m);
});
