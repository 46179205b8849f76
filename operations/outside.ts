/**
 * Ports as another machine sees them. That machine runs `answer-probes`:
 *
 *   doctor ──GET /?ports=25,465,993──▶ answer-probes
 *     ▲                                    │ connects to the address that the request came from, and to no other
 *     └──{ address, ports: [{ port, open, greeting, reason }] }
 *
 * So it needs no credential: it can be used to look at oneself only, and at known ports of mail and web only. Behind a
 * proxy it would look at the proxy; it must be reached directly.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { askDns } from '#core/mailboxes/domain-records.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import { type Finding, findingsOf } from '#core/process/diagnosis/finding.ts';
import { greetingOf, mailListeners } from '#core/process/diagnosis/host-findings.ts';

/** Ports that are looked at, whether they speak TLS from the first byte, and whether they greet. */
type Probed = ReadonlyMap<number, { readonly tls: boolean; readonly greets: boolean }>;
const PROBED: Probed = new Map<number, { readonly tls: boolean; readonly greets: boolean }>([
  ...[25, 587, 143, 110].map((port) => [port, { tls: false, greets: true }] as const),
  ...[465, 993, 995].map((port) => [port, { tls: true, greets: true }] as const),
  [443, { tls: true, greets: false }],
]);
const REQUESTS_AT_ONCE = 20;
const ANSWER_WITHIN_MS = 20_000;
const ANSWER_MAX_CHARACTERS = 20_000;

interface ProbedPort {
  readonly port: number;
  readonly open: boolean;
  /** The first line; null: none is expected, or none came. */
  readonly greeting: string | null;
  readonly reason: string | null;
}

/** What `answer-probes` answers. */
export interface ProbeAnswer {
  /** The address it connected to. */
  readonly address: string;
  readonly ports: readonly ProbedPort[];
}

async function probe(address: string, port: number, tls: boolean, greets: boolean): Promise<ProbedPort> {
  try {
    const { line } = await greetingOf(address, { port, tls, greets });
    return { port, open: true, greeting: greets ? line : null, reason: null };
  } catch (error) {
    return { port, open: false, greeting: null, reason: reasonOf(error) };
  }
}

/**
 * Serves probes until it is closed.
 *
 * @param ports those that may be asked for; tests have others than the known ones
 */
export async function answerProbes(
  host: string,
  port: number,
  ports: Probed = PROBED,
): Promise<{ readonly server: Server; readonly port: number }> {
  let running = 0;
  const server = createServer(
    { requestTimeout: ANSWER_WITHIN_MS, headersTimeout: ANSWER_WITHIN_MS },
    (request, response) => {
      const send = (status: number, body: object) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
      const address = request.socket.remoteAddress?.replace(/^::ffff:/, '');
      // Whatever a stranger asks for is no reason to end: `//` is no URL.
      const query = URL.parse(request.url ?? '/', 'http://localhost')?.searchParams.get('ports') ?? '';
      const asked = [...new Set(query.split(',').map(Number))].filter((each) => ports.has(each));
      if (request.method !== 'GET' || address === undefined || asked.length === 0)
        return void send(400, { error: `ask GET /?ports=${[...ports.keys()].join(',')}` });
      if (running >= REQUESTS_AT_ONCE) return void send(503, { error: 'busy; ask again' });
      running++;
      Promise.all(
        asked.map((each) => {
          const { tls, greets } = ports.get(each) ?? { tls: false, greets: false };
          return probe(address, each, tls, greets);
        }),
      )
        .then((found) => send(200, { address, ports: found } satisfies ProbeAnswer))
        .catch(() => response.destroy())
        .finally(() => {
          running--;
        });
    },
  );
  server.listen(port, host);
  await once(server, 'listening');
  const bound = server.address();
  return { server, port: typeof bound === 'object' && bound !== null ? bound.port : port };
}

/** Reads an answer that a helper of somebody else may have written. */
function readAnswer(text: string): ProbeAnswer {
  const read: unknown = JSON.parse(text);
  if (typeof read !== 'object' || read === null || !('address' in read) || !('ports' in read))
    throw new Error('it is no agent-mailbox-admin answer-probes');
  const { address, ports } = read;
  if (typeof address !== 'string' || !Array.isArray(ports)) throw new Error('its answer has another form');
  return {
    address,
    ports: ports.map((each: Partial<ProbedPort>) => ({
      port: Number(each.port),
      open: each.open === true,
      greeting: typeof each.greeting === 'string' ? each.greeting.slice(0, 80) : null,
      reason: typeof each.reason === 'string' ? each.reason.slice(0, 200) : null,
    })),
  };
}

/**
 * Findings about the ports of this machine as the helper sees them. Never throws.
 *
 * @param helper address of an `answer-probes`
 * @param ports the public ones
 */
export async function outsideFindings(
  helper: string,
  settings: Settings,
  ports: readonly number[] = [...PROBED.keys()],
): Promise<Finding[]> {
  const { ok, note, warning, error } = findingsOf('outside');
  let seen: ProbeAnswer;
  try {
    const response = await fetch(new URL(`/?ports=${ports.join(',')}`, helper), {
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      redirect: 'error',
    });
    const text = (await response.text()).slice(0, ANSWER_MAX_CHARACTERS);
    if (!response.ok) throw new Error(`it answers ${response.status}`);
    seen = readAnswer(text);
  } catch (failure) {
    return [note(`${helper} gave no answer: ${reasonOf(failure)}.`, 'Look whether it can be reached from here.')];
  }
  const ask = askDns(settings);
  const name = settings.MAIL_HOSTNAME;
  const addresses = [
    ...((await ask((dns) => dns.resolve4(name))) ?? []),
    ...((await ask((dns) => dns.resolve6(name))) ?? []),
  ];
  const sameAddress = addresses.includes(seen.address)
    ? ok(`From outside this machine has the address ${seen.address}, one of ${name}.`)
    : warning(
        `From outside this machine has the address ${seen.address}, but ${name} has ${addresses.join(', ') || 'none'}.`,
        'If mail is sent from it directly, give it the name of this host, or let mail leave by the address of the name.',
      );
  const greetings = new Map(mailListeners(settings).map(({ publicPort, greeting }) => [publicPort, greeting]));
  return [
    sameAddress,
    ...seen.ports.map(({ port, open, greeting, reason }) => {
      if (!open)
        return error(
          `Port ${port} of ${seen.address} cannot be reached from outside: ${reason ?? 'no reason given'}.`,
          'Open it in the firewall of the machine and of the provider, and map it to the listener.',
        );
      const expected = greetings.get(port);
      if (expected !== undefined && !expected.test(greeting ?? ''))
        return error(`Port ${port} of ${seen.address} is another program: "${greeting}".`, 'Look at the port mapping.');
      return ok(`Port ${port} of ${seen.address} can be reached from outside.`);
    }),
  ];
}
