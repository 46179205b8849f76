/** Whatever a host answers, in whatever pieces, and wherever it ends: each recipient has the result of its own last answer. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { smtpSession } from '#sending/transports/smtp-session.ts';

/** What a host does with a command. */
const MOVES = {
  take: { reply: '250 2.0.0 ok', outcome: 'sent 2.0.0' },
  'take in lines': { reply: '250-2.0.0 well\r\n250-2.0.0 550 no\r\n250 2.0.0 ok', outcome: 'sent 2.0.0' },
  later: { reply: '450 4.2.1 later', outcome: 'deferred 4.2.1' },
  never: { reply: '550 5.1.1 never', outcome: 'failed 5.1.1' },
  'never in lines': { reply: '550-5.1.1 never\r\n550-250 and\r\n550 5.1.1 ever', outcome: 'failed 5.1.1' },
  'never, and close': { reply: '554 5.1.1 never', outcome: 'failed 5.1.1', ends: true },
  'later, and close': { reply: '450 4.2.1 later', outcome: 'deferred 4.2.1', ends: true },
  'shut down': { reply: '421 4.3.2 closing', outcome: 'deferred 4.3.2', ends: true },
  close: { reply: '', outcome: 'deferred 4.4.1', ends: true },
} as const;
type Move = keyof typeof MOVES;
const takes = (move: Move): boolean => MOVES[move].outcome.startsWith('sent');
const ends = (move: Move): boolean => 'ends' in MOVES[move];

interface Plan {
  readonly mail: Move;
  readonly recipients: readonly Move[];
  readonly data: Move;
  readonly message: Move;
  readonly pipelining: boolean;
  /** Sizes of the pieces of the answers, in turn. */
  readonly pieces: readonly number[];
}

/** The result of each recipient, by the words of RFC 5321. */
function expected({ mail, recipients, data, message }: Plan): string[] {
  if (!takes(mail)) return recipients.map(() => MOVES[mail].outcome);
  const last = recipients.findIndex(ends);
  const answered = last < 0 ? recipients : recipients.slice(0, last + 1);
  const at = last < 0 ? undefined : recipients[last];
  // 421 is the answer for those after it too.
  const rest =
    at === undefined
      ? MOVES[takes(data) ? message : data].outcome
      : at === 'shut down'
        ? MOVES[at].outcome
        : MOVES.close.outcome;
  return recipients.map((move, i) => (i < answered.length && !takes(move) ? MOVES[move].outcome : rest));
}

async function withHost<T>(serve: (socket: net.Socket) => void, use: (port: number) => Promise<T>): Promise<T> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use((server.address() as AddressInfo).port);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

const talk = (port: number, count: number, silenceMs = 10_000) =>
  smtpSession(
    { host: 'mx.test', address: '127.0.0.1', port, hostname: 'mail.test', tls: 'none', silenceMs },
    {
      sender: 'b@agents.test',
      recipients: Array.from({ length: count }, (_, i) => `to${i}@dest.test`),
      bytes: Buffer.from('Subject: s\r\n\r\n.words\r\n'),
    },
  );

/** Follows the plan; refuses what is out of order (RFC 5321 §4.1.4). */
function follow(plan: Plan, socket: net.Socket): void {
  let out = '';
  let over = false;
  let sending = false;
  let piece = 0;
  const flush = async () => {
    if (sending) return;
    sending = true;
    while (out !== '') {
      const size = plan.pieces[piece++ % plan.pieces.length] ?? 1;
      socket.write(out.slice(0, size));
      out = out.slice(size);
      await turn();
    }
    sending = false;
    if (over) socket.end();
  };
  const act = (move: Move) => {
    const { reply } = MOVES[move];
    if (reply !== '') out += `${reply}\r\n`;
    over ||= ends(move);
  };
  let mail = false;
  let asked = 0;
  let open = 0;
  let inData = false;
  let rest = '';
  socket.setNoDelay(true);
  out = '220 mx.test\r\n';
  void flush();
  socket.on('data', (chunk) => {
    rest += chunk.toString();
    for (let end = rest.indexOf('\r\n'); end >= 0 && !over; end = rest.indexOf('\r\n')) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 2);
      if (inData) {
        if (line !== '.') continue;
        inData = false;
        act(plan.message);
      } else if (line.startsWith('EHLO'))
        out += `250-mx.test\r\n${plan.pipelining ? '250-PIPELINING\r\n' : ''}250 HELP\r\n`;
      else if (line.startsWith('MAIL')) {
        mail = takes(plan.mail);
        act(plan.mail);
      } else if (line.startsWith('RCPT') && mail) {
        const move = plan.recipients[asked++] ?? 'never';
        if (takes(move)) open++;
        act(move);
      } else if (line === 'DATA' && open > 0) {
        inData = takes(plan.data);
        if (inData) out += '354 go on\r\n';
        else act(plan.data);
      } else if (line === 'QUIT') {
        out += '221 bye\r\n';
        over = true;
      } else out += '503 5.5.1 out of order\r\n';
    }
    void flush();
  });
}

const move = fc.constantFrom(...(Object.keys(MOVES) as Move[]));
const mostlyTaken = fc.oneof({ weight: 2, arbitrary: fc.constant<Move>('take') }, { weight: 1, arbitrary: move });
const plan: fc.Arbitrary<Plan> = fc.record({
  mail: fc.oneof({ weight: 5, arbitrary: fc.constant<Move>('take') }, { weight: 1, arbitrary: move }),
  recipients: fc.array(mostlyTaken, { minLength: 1, maxLength: 5 }),
  data: mostlyTaken,
  message: move,
  pipelining: fc.boolean(),
  pieces: fc.array(fc.constantFrom(1, 2, 7, 30, 10_000), { minLength: 1, maxLength: 4 }),
});

test('each recipient has the result of its own last answer', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (each) => {
      const end = await withHost(
        (socket) => follow(each, socket),
        (port) => talk(port, each.recipients.length),
      );
      assert.ok(end.asked);
      assert.deepEqual(
        end.results.map(({ kind, code }) => `${kind} ${code}`),
        expected(each),
      );
    }),
    { numRuns: 300 },
  );
});

const WORDS = [
  '220 hi',
  '250 ok',
  '250-more',
  '250 PIPELINING',
  '354 go',
  '421 bye',
  '450 later',
  '550 never',
  '221 x',
  '',
  'x',
  '2',
  '25',
  '999 what',
  '-',
  '\0',
  '250',
  '550',
  '354',
];

test('nobody is sent or given up without an answer that says so, in whatever order a host answers', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 10 }),
      fc.boolean(),
      async (turns, pipelining) => {
        let said = '';
        let heard = '';
        const end = await withHost(
          (socket) => {
            const say = (text: string) => {
              said += text;
              socket.write(text);
            };
            say(`220 mx.test\r\n`);
            const left = [...turns];
            let greeted = false;
            socket.on('data', (chunk) => {
              heard += chunk.toString();
              if (!greeted) say(pipelining ? '250-mx.test\r\n250 PIPELINING\r\n' : '250 mx.test\r\n');
              else {
                const words = left.shift();
                if (words === undefined) socket.end();
                else say(words.map((word) => `${word}\r\n`).join(''));
              }
              greeted = true;
            });
          },
          (port) => talk(port, 2, 60),
        );
        if (!end.asked) return;
        assert.equal(end.results.length, 2);
        for (const { kind } of end.results) {
          if (kind === 'sent') {
            assert.match(heard, /\r\n\.\r\n/);
            assert.match(said, /^354[^]*^2\d\d/m);
          }
          if (kind === 'failed') assert.match(said, /^550/m);
        }
      },
    ),
    { numRuns: 100 },
  );
});
