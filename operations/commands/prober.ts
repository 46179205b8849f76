/** `prober`: the service as its users see it, again and again, as metrics. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { register } from '@prometheus-io/client';
import { METRICS, probeDuration, probeLastSuccess, probeSuccess } from '#core/platform/log/metrics.ts';
import { integer, text, url } from '#core/platform/settings/setting-forms.ts';
import { CommandError, command } from '#operations/command.ts';
import { hostAndPort } from '#operations/host-and-port.ts';
import { type LegResult, Prober, type ProbeTarget } from '#operations/probe/probe-service.ts';

const REQUEST_WITHIN_MS = 10_000;
const CONNECTIONS_MAX = 50;
const KEY_VARIABLE = 'PROBE_API_KEY';

const resultsText = (results: readonly LegResult[]): string =>
  results
    .map(
      ({ leg, ok, seconds, reason }) =>
        `${ok ? '✔' : '✖'} ${leg.padEnd(8)} ${seconds.toFixed(2)} s${ok ? '' : `  ${reason}`}`,
    )
    .join('\n');

function record(results: readonly LegResult[]): void {
  for (const { leg, ok, seconds } of results) {
    probeSuccess.set({ leg }, ok ? 1 : 0);
    probeDuration.set({ leg }, seconds);
    if (ok) probeLastSuccess.set({ leg }, Date.now() / 1_000);
  }
}

/** `/metrics`, and `/healthz` and `/readyz` for the supervisor of containers. */
async function serveMetrics(host: string, port: number): Promise<Server> {
  const names = METRICS.filter(({ of }) => of.includes('prober')).map(({ name }) => name);
  const server = createServer(
    { requestTimeout: REQUEST_WITHIN_MS, headersTimeout: REQUEST_WITHIN_MS },
    (request, response) => {
      const { pathname } = URL.parse(request.url ?? '/', 'http://localhost') ?? {};
      if (pathname === '/healthz' || pathname === '/readyz')
        return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"ok"}\n');
      if (pathname !== '/metrics') return void response.writeHead(404).end();
      Promise.all(names.map((name) => register.getSingleMetricAsString(name)))
        .then((texts) => response.writeHead(200, { 'content-type': register.contentType }).end(`${texts.join('\n')}\n`))
        .catch(() => response.destroy());
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  server.listen(port, host);
  await once(server, 'listening');
  return server;
}

export const proberCommand = command({
  name: 'prober',
  summary: 'watch the service from outside: mail in, IMAP, webhook, approval; as metrics',
  description: `Runs until Ctrl-C. Each time it sends a mail to a mailbox of its own by SMTP, reads it by IMAP, and waits for its webhook; now and then it writes to a stranger, and decides about the held mail. Results are metrics (agent_mailbox_probe_…) on a port. It uses the public interfaces alone, so it can run anywhere. It needs the API key of an organization for probes alone, in the variable ${KEY_VARIABLE} or a file: with the scopes mailbox:create, mailbox:read, mailbox:write, webhook:create, webhook:read and webhook:manage, and with the setting consentByApiKey of the organization. One prober for each such organization. Findings with --once (exit code 3): a leg that failed.`,
  arguments: {},
  options: {
    api: { text: 'address of the API (default: API_PUBLIC_URL)', value: 'url', form: url('https:', 'http:') },
    smtp: {
      text: 'listener for mail from other hosts (default: MAIL_HOSTNAME:25)',
      value: 'host:port',
      form: hostAndPort,
    },
    imap: { text: 'listener of IMAP with TLS (default: MAIL_HOSTNAME:993)', value: 'host:port', form: hostAndPort },
    serverName: {
      text: 'name in the certificate of the listeners (default: MAIL_HOSTNAME)',
      value: 'name',
      form: text,
    },
    ca: { text: 'file with a root certificate that the system does not trust', value: 'file', form: text },
    keyFile: { text: `file with the API key (default: the variable ${KEY_VARIABLE})`, value: 'file', form: text },
    from: { text: 'envelope sender of the mail', value: 'address', form: text, fallback: 'prober@probe.invalid' },
    approveTo: {
      text: 'approve the held mail, which is then sent to this address, and must be accepted; without it, it is denied, and nothing is sent',
      value: 'address',
      form: text,
    },
    every: { text: 'seconds from probe to probe', value: 'seconds', form: integer(5, 3_600), fallback: '60' },
    approvalEvery: {
      text: 'seconds from decision to decision',
      value: 'seconds',
      form: integer(5, 86_400),
      fallback: '900',
    },
    within: { text: 'seconds that a leg may take', value: 'seconds', form: integer(1, 120), fallback: '20' },
    port: { text: 'port of /metrics', value: 'number', form: integer(0, 65_535), fallback: '9464' },
    bind: { text: 'address of /metrics', value: 'address', form: text, fallback: '::' },
    once: { text: 'probe once, show the results, and end' },
  },
  examples: ['prober --once', 'prober --approve-to reader@agents.example.org'],
  async run({ options, settings, environment, progress, signal, output }) {
    const { API_PUBLIC_URL, MAIL_HOSTNAME } = settings();
    const apiKey = (
      options.keyFile === undefined ? (environment[KEY_VARIABLE] ?? '') : readFileSync(options.keyFile, 'utf8')
    ).trim();
    if (apiKey === '')
      throw new CommandError(`${KEY_VARIABLE} is not set: make an API key for an organization of probes`);
    const api = options.api ?? API_PUBLIC_URL;
    if (api === undefined) throw new CommandError('API_PUBLIC_URL is not set: say --api');
    const target: ProbeTarget = {
      api,
      apiKey,
      smtp: options.smtp ?? { host: MAIL_HOSTNAME, port: 25 },
      imap: options.imap ?? { host: MAIL_HOSTNAME, port: 993 },
      serverName: options.serverName ?? MAIL_HOSTNAME,
      ca: options.ca === undefined ? undefined : readFileSync(options.ca, 'utf8'),
      from: options.from,
      approveTo: options.approveTo,
      withinMs: options.within * 1_000,
    };
    const prober = new Prober(target);
    if (options.once) {
      const results = await prober.run(true);
      output({ results }, resultsText(results));
      return results.every(({ ok }) => ok) ? 'done' : 'findings';
    }
    const server = await serveMetrics(options.bind, options.port);
    const bound = server.address();
    progress.say(`Metrics on port ${typeof bound === 'object' ? bound?.port : options.port}; Ctrl-C ends.`);
    let [probes, decidedAt] = [0, Number.NEGATIVE_INFINITY];
    let failed = '';
    while (!signal.aborted) {
      const startedAt = performance.now();
      const withApproval = startedAt - decidedAt >= options.approvalEvery * 1_000;
      if (withApproval) decidedAt = startedAt;
      const results = await prober.run(withApproval);
      record(results);
      probes += 1;
      const faults = results.filter(({ ok }) => !ok).map(({ leg, reason }) => `${leg}: ${reason}`);
      // A fault is a line when it begins or changes, and so is its end.
      if (faults.join('; ') !== failed) {
        failed = faults.join('; ');
        if (failed === '') progress.say('Every leg works.');
        else progress.warn(failed);
      }
      const left = options.every * 1_000 - (performance.now() - startedAt);
      if (left > 0) await delay(left, undefined, { signal }).catch(() => {});
    }
    server.close();
    server.closeAllConnections();
    output({ probes }, `Ended after ${probes} ${probes === 1 ? 'probe' : 'probes'}.`);
    return 'done';
  },
});
