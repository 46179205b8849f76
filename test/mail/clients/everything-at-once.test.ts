/**
 * More than twenty clients of one mailbox do everything at once, on all listeners of two mail processes and by REST. In
 * the end the store's invariants must hold, and each client's view must be correct.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { ImapFlow } from 'imapflow';
import Pop3Command from 'node-pop3';
import { type MailListeners, startMail } from '#mail/start.ts';
import { openMailNotifier } from '#mailstore/changes/notifier.ts';
import { openMailStore } from '#mailstore/mail-store.ts';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import { ClientView, checkView, MODES, type Mode, type ViewClient } from '#packages/imap/test/client-view.ts';
import { apiWorld, at, textAt } from '#test/support/api-world.ts';
import { LineClient } from '#test/support/line-client.ts';
import { dnsStub, letter } from '#test/support/mail-world.ts';
import { testTls } from '#test/support/services.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';

/** Longer hunts: `TEST_MAIL_LOAD_MS=180000 npm test -- test/mail/clients/everything-at-once.test.ts`. */
const FOR_MS = Number(process.env['TEST_MAIL_LOAD_MS'] ?? 20_000);
const LIBRARY_CLIENTS = 6;
const VIEW_CLIENTS = 8;
const POP3_CLIENTS = 3;
const SMTP_CLIENTS = 3;
const REST_CLIENTS = 1;
const FOLDERS = ['INBOX', 'Archive', 'Trash', 'Work'];

const world = await apiWorld();
/** Each with a store and a notifier of its own, as in two processes. */
const listeners: readonly MailListeners[] = [
  await startMail(world.services, { lookup: dnsStub() }),
  await startMail(world.services, { lookup: dnsStub() }),
];
const notifier = openMailNotifier(world.services);
const store = openMailStore(world.services, notifier);
after(async () => {
  for (const each of listeners) await each.close();
  await store.close();
  await notifier.close();
  await world.close();
});
const ca = readFileSync(testTls().caFile);

const pick = <Value>(values: readonly Value[]): Value => {
  const value = values[Math.floor(Math.random() * values.length)];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
};

test('clients that do everything at once leave a mailbox whose rules hold, and believe what is true', {
  timeout: FOR_MS * 2 + 160_000,
}, async () => {
  const box = await world.newMailbox(world.organization);
  const token = (box.token['authorization'] ?? '').replace('Bearer ', '');
  const until = Date.now() + FOR_MS;
  const goesOn = () => Date.now() < until;
  const done = new Map<string, number>();
  const count = (what: string) => done.set(what, (done.get(what) ?? 0) + 1);
  const problems: string[] = [];

  async function imapLine(): Promise<LineClient> {
    const client = await LineClient.open(pick(listeners).imap.port, { secure: true });
    await client.line();
    assert.match((await client.tagged('l', `LOGIN ${box.address} "${token}"`)).at(-1) ?? '', /^l OK/);
    return client;
  }

  async function libraryClient(): Promise<void> {
    const client = new ImapFlow({
      host: 'localhost',
      port: pick(listeners).imap.port,
      secure: true,
      auth: { user: box.address, pass: token },
      tls: { ca },
      logger: false,
      // With QRESYNC it does not decrease its count at VANISHED, and then requests numbers that do not exist.
      qresync: false,
      disableCompression: Math.random() < 0.5,
    });
    client.on('error', (error: Error) => problems.push(`connection: ${error.message}`));
    await client.connect();
    let open = '';
    const actions: Record<string, () => Promise<unknown>> = {
      append: () => client.append(pick(FOLDERS), letter('appended').replaceAll('\n', '\r\n'), ['\\Seen']),
      flags: () => client.messageFlagsAdd('1:3', [pick(['\\Flagged', '\\Seen', 'blue', 'red'])]),
      unflag: () => client.messageFlagsRemove('*', ['\\Flagged', 'blue']),
      copy: () => client.messageCopy('1', pick(FOLDERS)),
      move: () => client.messageMove('*', pick(FOLDERS)),
      expunge: () => client.messageDelete('2'),
      search: () => client.search({ or: [{ flagged: true }, { subject: 'sent' }] }),
      // Of another folder: it would take the count for that of its session, which may not have been notified yet.
      status: () =>
        client.status(pick(FOLDERS.filter((name) => name !== open)), {
          messages: true,
          unseen: true,
          highestModseq: true,
        }),
      noop: () => client.noop(),
      async fetch() {
        for await (const message of client.fetch('1:*', { envelope: true, flags: true, uid: true, size: true }))
          if (message.uid <= 0) problems.push('a message without a UID');
      },
      async source() {
        const message = await client.fetchOne('*', { source: true, size: true });
        if (message && message.source?.length !== message.size) problems.push('a size that is not that of the source');
      },
    };
    while (goesOn()) {
      open = pick(FOLDERS);
      await client.mailboxOpen(open);
      for (let steps = 0; steps < 12 && goesOn(); steps++) {
        const [name, action] = pick(Object.entries(actions));
        // In a folder without messages imapflow itself answers some of these with false.
        await action();
        count(name);
      }
    }
    await client.logout();
  }

  /** Says nothing that is BAD: what it believes of numbers must be right at all times. */
  const viewCommand = (view: ClientView): string => {
    const total = view.messages.length;
    const numbers = total === 0 ? '1:*' : pick(['1', '*', `1:${Math.min(3, total)}`, `${total}`, '1:*']);
    const few = total === 0 ? '1:*' : pick(['1', '*', `1:${Math.min(3, total)}`]);
    const uids = pick(['1:*', '*', '1:20', String(view.messages.at(-1)?.uid ?? 1)]);
    const item = `${pick(['', '+', '-'])}FLAGS${pick(['', '.SILENT'])}`;
    const flags = `(${pick(['\\Seen', '\\Deleted', '\\Flagged', 'green', '\\Answered \\Seen', ''])})`;
    return pick([
      `STORE ${few} ${item} ${flags}`,
      `UID STORE ${uids} ${item} ${flags}`,
      `STORE ${few} (UNCHANGEDSINCE ${pick([1, 50, 5_000])}) ${item} ${flags}`,
      'EXPUNGE',
      `UID EXPUNGE ${uids}`,
      `COPY ${few} ${pick(FOLDERS)}`,
      `UID COPY * ${pick(FOLDERS)}`,
      `MOVE ${few} ${pick(FOLDERS)}`,
      `UID MOVE ${uids} ${pick(FOLDERS)}`,
      `UID REPLACE ${view.messages.at(-1)?.uid ?? 1} ${pick(FOLDERS)} {6+}\r\nA: b\r\n`,
      `APPEND ${pick(FOLDERS)} (\\Flagged) {6+}\r\nA: b\r\n {6+}\r\nC: d\r\n`,
      `FETCH ${numbers} (UID FLAGS)`,
      `FETCH ${few} (ENVELOPE BODYSTRUCTURE BODY[] SAVEDATE EMAILID THREADID PREVIEW)`,
      `UID FETCH ${uids} (FLAGS RFC822.SIZE BODY.PEEK[HEADER.FIELDS (Subject)])`,
      `FETCH ${numbers} (FLAGS) (CHANGEDSINCE ${pick([1, 50, 5_000])})`,
      'SEARCH RETURN (SAVE COUNT) OR FLAGGED TEXT words',
      'UID STORE $ +FLAGS (saved)',
      `MOVE $ ${pick(FOLDERS)}`,
      'SEARCH SUBJECT sent NOT SEEN',
      'SORT (REVERSE DATE SUBJECT) UTF-8 ALL',
      'THREAD REFERENCES UTF-8 ALL',
      'NOOP',
      'CHECK',
      'IDLE\r\nDONE',
      `STATUS ${view.folder} (MESSAGES UNSEEN SIZE)`,
      'LIST "" * RETURN (STATUS (MESSAGES) SUBSCRIBED)',
      'GETQUOTAROOT INBOX',
    ]);
  };

  interface Viewer {
    readonly views: Map<string, ClientView<LineClient & ViewClient>>;
    line: LineClient & ViewClient;
  }
  const viewers: Viewer[] = [];
  const viewLine = async (mode: Mode): Promise<LineClient & ViewClient> => {
    const line = await imapLine();
    if (mode !== '') assert.match((await line.tagged('e', `ENABLE ${mode}`)).at(-1) ?? '', /^e OK/);
    return Object.assign(line, { command: line.tagged.bind(line) });
  };

  async function viewClient(number: number): Promise<void> {
    const mode = MODES[number % MODES.length] ?? '';
    const viewer: Viewer = { views: new Map(), line: await viewLine(mode) };
    viewers.push(viewer);
    while (goesOn()) {
      const name = pick(FOLDERS);
      let view = viewer.views.get(name);
      if (Math.random() < 0.3) {
        // The connection is lost in the middle of any response; another one continues from there.
        viewer.line.close();
        viewer.line = await viewLine(mode);
        for (const each of viewer.views.values()) each.client = viewer.line;
        count('lost line');
      }
      if (view === undefined) {
        view = await ClientView.on(viewer.line, mode, name);
        viewer.views.set(name, view);
      } else await view.reselect('SELECT');
      for (let steps = 0; steps < 15 && goesOn(); steps++) {
        const command = viewCommand(view);
        const answer = await view.run(command);
        if (answer.includes(' BAD ')) problems.push(`${command} → ${answer}`);
        await view.learn();
        count(/^(?:UID )?\w+/.exec(command)?.[0] ?? '');
      }
    }
  }

  /** Folders come, go and change their names; INBOX is emptied by RENAME. */
  async function folderClient(): Promise<void> {
    const line = await imapLine();
    for (let round = 1; goesOn(); round++) {
      for (const command of [
        `CREATE Temp${round}/a`,
        `SUBSCRIBE Temp${round}/a`,
        `APPEND Temp${round}/a {6+}\r\nA: b\r\n`,
        'SELECT INBOX',
        `MOVE 1:* Temp${round}`,
        `RENAME Temp${round} Moved${round}`,
        `RENAME INBOX Old${round}`,
        `SELECT Old${round}`,
        'COPY 1:* INBOX',
        `DELETE Old${round}`,
        'LIST (SUBSCRIBED RECURSIVEMATCH) "" % RETURN (CHILDREN SPECIAL-USE STATUS (MESSAGES))',
        'LSUB "" *',
        'XLIST "" *',
        `STATUS Moved${round} (MESSAGES RECENT UIDNEXT UIDVALIDITY UNSEEN DELETED SIZE HIGHESTMODSEQ MAILBOXID)`,
        'GETQUOTA ""',
        `EXAMINE Moved${round}/a`,
        'FETCH 1:* (FLAGS)',
        'CLOSE',
        `DELETE Moved${round}/a`,
        `DELETE Moved${round}`,
        `UNSUBSCRIBE Temp${round}/a`,
      ]) {
        const answer = (await line.tagged(`f${round}`, command)).at(-1) ?? '';
        // Another client may have removed a message in the very moment.
        if (!/^f\d+ OK/.test(answer) && !(/^(COPY|MOVE)/.test(command) && answer.includes('[EXPUNGEISSUED]')))
          problems.push(`${command} → ${answer}`);
        count(`folder ${command.split(' ')[0]}`);
      }
    }
    line.close();
  }

  async function pop3Client(): Promise<void> {
    while (goesOn()) {
      const client = new Pop3Command({
        host: 'localhost',
        port: pick(listeners).pop3.port,
        tls: true,
        user: box.address,
        password: token,
        servername: 'localhost',
        tlsOptions: { ca },
      });
      const { length } = await client.UIDL();
      await client.STAT();
      await client.LIST();
      // Others may have taken it away since login; then RETR says so.
      if (length > 0) await client.RETR(1).catch(() => count('pop3 gone'));
      if (length > 0) await client.TOP(length, 0).catch(() => count('pop3 gone'));
      if (length > 1) await client.DELE(2);
      if (Math.random() < 0.3) await client.RSET();
      await client.QUIT();
      count('pop3');
    }
  }

  async function smtpClient(): Promise<void> {
    while (goesOn()) {
      const { smtp } = pick(listeners);
      const client = await SmtpClient.open(smtp.host, smtp.port);
      assert.match(await client.send('bob@example.com', [box.address], letter('sent')), /^250/);
      client.close();
      count('smtp');
    }
  }

  async function restClient(): Promise<void> {
    const call = async (method: string, path: string, body?: object) => {
      const answer = await world.call(method, `/api/mailbox${path}`, {
        as: box.token,
        ...(body === undefined ? {} : { body }),
      });
      // Gone meanwhile, or asked too often.
      if (answer.status >= 400 && ![404, 429].includes(answer.status))
        problems.push(`${method} ${path}: ${answer.text}`);
      return answer;
    };
    while (goesOn()) {
      const listed = await call('GET', '/messages?limit=10&folder=*');
      const data = at(listed.body, 'data');
      if (!Array.isArray(data) || data.length === 0) continue;
      const id = textAt(pick(data), 'id');
      const method = await pick([
        () => call('PATCH', `/messages/${id}`, { seen: Math.random() < 0.5, labels: [pick(['agent', 'green'])] }),
        () => call('PATCH', `/messages/${id}`, { folder: pick(FOLDERS) }),
        () => call('DELETE', `/messages/${id}`),
        () => call('GET', `/messages/${id}`),
        () => call('GET', `/messages/search?q=words`),
      ])();
      count(`rest ${method.status}`);
    }
  }

  const first = await imapLine();
  assert.match((await first.tagged('c', 'CREATE Work')).at(-1) ?? '', /^c OK/);
  first.close();
  await Promise.all([
    ...Array.from({ length: LIBRARY_CLIENTS }, libraryClient),
    ...Array.from({ length: VIEW_CLIENTS }, (_, i) => viewClient(i)),
    folderClient(),
    ...Array.from({ length: POP3_CLIENTS }, pop3Client),
    ...Array.from({ length: SMTP_CLIENTS }, smtpClient),
    ...Array.from({ length: REST_CLIENTS }, restClient),
  ]);
  assert.deepEqual(problems, []);
  for (const what of ['append', 'flags', 'copy', 'move', 'expunge', 'fetch', 'source', 'pop3', 'smtp', 'folder DELETE'])
    assert.ok((done.get(what) ?? 0) > 0, what);
  const mailbox = store.openMailbox({ mailboxId: box.id, address: box.address });
  for (const { views, line } of viewers) {
    for (const [name, view] of views) {
      await view.reselect('SELECT');
      await checkView(view, mailbox, (await mailbox.folder(name))?.id ?? assert.fail(name));
    }
    line.close();
  }
  const faults = await checkMailStore(world.services.db, { all: true });
  assert.deepEqual(
    faults.flatMap(({ examples }) => examples),
    [],
  );
  if (process.env['TEST_MAIL_LOAD_MS'] !== undefined) process.stderr.write(`${JSON.stringify([...done])}\n`);
});
