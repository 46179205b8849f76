/** `prove`: load on this installation while parts of it are killed, and an account of what was lost. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { integer, text, url } from '#core/platform/settings/setting-forms.ts';
import { certificateFiles } from '#core/platform/settings/settings.ts';
import { passingStep } from '#operations/backup/described.ts';
import { CommandError, command } from '#operations/command.ts';
import { hostAndPort } from '#operations/host-and-port.ts';
import { eraseProofOrganization, makeProofOrganization } from '#operations/prove/proof-organization.ts';
import { startProofReceiver } from '#operations/prove/receiver.ts';
import { type Latency, type ProofReport, runProof } from '#operations/prove/run-proof.ts';

const RATE_MAX = 1_000;
const SECONDS_MAX = 86_400;

const shownLatency = ({ p50, p95, max }: Latency): string => `p50 ${p50} ms, p95 ${p95} ms, most ${max} ms`;

function reportText(report: ProofReport): string {
  const { account, kills, wrong } = report;
  const { begun, accepted } = Object.values(account.kinds).reduce(
    (sum, of) => ({ begun: sum.begun + of.begun, accepted: sum.accepted + of.accepted }),
    { begun: 0, accepted: 0 },
  );
  const failedKills = kills.filter(({ exitCode }) => exitCode !== 0).length;
  return [
    `${report.perSecond} operations a second for ${report.seconds.toFixed(0)} s on ${report.cores} cores; ${kills.length} kills${failedKills === 0 ? '' : `, of which ${failedKills} failed`}`,
    `  accepted    ${accepted} of ${begun}; ${report.acceptedPerSecond.toFixed(1)} a second, ${report.acceptedPerSecondAndCore.toFixed(1)} a second and core`,
    `  lost        ${report.lost}`,
    `  duplicated  ${report.duplicated}`,
    `  acceptance  ${shownLatency(report.acceptance)}`,
    `  webhook     ${shownLatency(report.delivery)} after the acceptance`,
    `  invariants  ${report.invariants.filter(({ atFault }) => atFault === 0).length} of ${report.invariants.length} kept`,
    '',
    ...(wrong.length === 0 ? ['✔ Nothing was lost.'] : wrong.map((each) => `✖ ${each}`)),
  ].join('\n');
}

export const proveCommand = command({
  name: 'prove',
  summary: 'load on this installation, with kills, and a report of what was lost',
  description:
    'Makes an organization for itself, starts a receiver, and for some time brings mail by SMTP and makes mailboxes by REST, each of which must become a webhook. Meanwhile it runs the command that you give, which kills a part of the installation; without one it only makes load. At the end it compares the answers that it got with the rows and with the requests at the receiver, checks the invariants of the mail store, and erases the organization. It takes capacity from tenants. Findings: something was lost, or an invariant is violated. Duplicates of webhooks are counted and are no finding: delivery is at least once.',
  arguments: {},
  options: {
    seconds: { text: 'length of the load', value: 'number', form: integer(1, SECONDS_MAX), fallback: '60' },
    rate: { text: 'operations a second', value: 'number', form: integer(1, RATE_MAX), fallback: '10' },
    killCommand: {
      text: 'command for a shell that kills a part, such as `systemctl kill -s KILL agent-mailbox-worker`; its supervisor starts it again',
      value: 'command',
      form: text,
    },
    killEvery: { text: 'seconds from kill to kill', value: 'number', form: integer(1, SECONDS_MAX), fallback: '20' },
    finish: {
      text: 'seconds for what is open after the load',
      value: 'number',
      form: integer(1, SECONDS_MAX),
      fallback: '300',
    },
    api: {
      text: 'address of the API (default: that of `npm start`, or API_PUBLIC_URL)',
      value: 'url',
      form: url('http:', 'https:'),
    },
    smtp: {
      text: 'listener for mail from other hosts (default: that of this machine)',
      value: 'host:port',
      form: hostAndPort,
    },
    serverName: { text: 'name in the certificate of the listener (default: MAIL_HOSTNAME)', value: 'name', form: text },
    ca: { text: 'file with a root certificate that the system does not trust', value: 'file', form: text },
    receiverPort: {
      text: 'port of the receiver; 0: a free one',
      value: 'number',
      form: integer(0, 65_535),
      fallback: '0',
    },
    receiverUrl: {
      text: 'address by which the service reaches the receiver, which has the certificate of TLS_CERT (default: localhost with its port; in production it must be public)',
      value: 'url',
      form: url('https:'),
    },
    keep: { text: 'do not erase the organization afterwards' },
  },
  examples: ['prove', 'prove --seconds 600 --rate 50 --kill-command "systemctl kill -s KILL agent-mailbox-worker"'],
  async run(context) {
    const { options } = context;
    const settings = context.settings();
    const started = startedFacts(settings.DATA_DIR);
    const apiUrl = options.api ?? started?.apiUrl ?? settings.API_PUBLIC_URL;
    if (apiUrl === undefined) throw new CommandError('API_PUBLIC_URL is not set: say --api');
    const files = certificateFiles(settings);
    const caFile = options.ca ?? started?.caFile ?? undefined;
    const tls = { cert: readOf(files.certFile), key: readOf(files.keyFile) };
    const services = await context.services();
    const receiver = await startProofReceiver(tls, options.receiverPort);
    try {
      const organization = await makeProofOrganization(services);
      try {
        const report = await passingStep(context, 'Load', (note) =>
          runProof(
            services,
            organization,
            receiver,
            {
              apiUrl,
              smtp: options.smtp ?? started?.smtp ?? { host: '127.0.0.1', port: settings.SMTP_PORT },
              serverName: options.serverName ?? started?.smtp?.host ?? settings.MAIL_HOSTNAME,
              ca: caFile === undefined ? undefined : readOf(caFile).toString(),
              receiverUrl: options.receiverUrl ?? `https://localhost:${receiver.port}/proof`,
              perSecond: options.rate,
              seconds: options.seconds,
              killCommand: options.killCommand,
              killEverySeconds: options.killEvery,
              finishSeconds: options.finish,
            },
            context.signal,
            note,
          ),
        );
        context.output(report, reportText(report));
        return report.wrong.length === 0 ? 'done' : 'findings';
      } finally {
        if (options.keep) context.progress.say(`The organization ${organization.id} is kept.`);
        else
          await context.progress
            .step('Erasing the organization of the proof', () => eraseProofOrganization(services, organization.id))
            .catch((error: unknown) =>
              context.progress.warn(
                `${organization.id} was not erased (${reasonOf(error)}): \`organizations delete ${organization.id} --yes\``,
              ),
            );
      }
    } finally {
      await receiver.close();
    }
  },
});

function readOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${reasonOf(error)}`);
  }
}

interface StartedFacts {
  readonly apiUrl: string;
  readonly smtp: { readonly host: string; readonly port: number } | null;
  readonly caFile: string | null;
}

/** Of a running `npm start`. */
function startedFacts(dataDir: string): StartedFacts | undefined {
  const file = path.join(dataDir, 'service.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as StartedFacts) : undefined;
}
