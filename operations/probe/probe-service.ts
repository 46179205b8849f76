/**
 * A probe from outside, as customers and other hosts see the service: a mail comes in, is read by IMAP, and becomes a
 * webhook; a mail to a stranger is held, and a decision ends it. It works by the public interfaces alone, as an
 * organization of its own.
 *
 *   prober ──SMTP──▶ mailbox ──IMAP──▶ prober
 *                       └─ event ─▶ worker ─▶ built-in receiver ──REST──▶ prober
 *   prober ──REST──▶ held message ─▶ decision ─▶ its end
 *
 * Each leg fails by itself: without SMTP the webhook is that of a test event, and IMAP is a login.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import type { MailboxClient } from '#client/mailbox-client.ts';
import { OrganizationClient } from '#client/organization-client.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { PROBE_LEGS } from '#core/platform/log/metrics.ts';
import { readByImap } from './imap-session.ts';

export type ProbeLeg = (typeof PROBE_LEGS)[number];

interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

export interface ProbeTarget {
  /** Address of the API. */
  readonly api: string;
  /** Of an organization for probes alone. */
  readonly apiKey: string;
  readonly smtp: HostAndPort;
  /** TLS from the first byte. */
  readonly imap: HostAndPort;
  readonly serverName: string;
  readonly ca: string | undefined;
  /** Envelope sender. */
  readonly from: string;
  /** Who gets the approved mail; undefined: it is denied, and nobody gets one. */
  readonly approveTo: string | undefined;
  /** Each leg. */
  readonly withinMs: number;
}

export interface LegResult {
  readonly leg: ProbeLeg;
  readonly ok: boolean;
  readonly seconds: number;
  /** Why it failed. */
  readonly reason: string | null;
}

const SUBJECT_BEGIN = 'Probe of the service';
const CLIENT_ID = 'agent-mailbox-prober';
const ENDPOINT_DESCRIPTION = 'Prober';
/** Reserved (RFC 2606): no mail ever goes there, since what is written to it is denied. */
const NOBODY = 'prober@example.org';
const ASKED_EVERY_MS = 250;

/** A mailbox with its endpoint, made once. */
interface Prepared {
  readonly mailboxId: string;
  readonly address: string;
  readonly token: string;
}

export class Prober {
  readonly #target: ProbeTarget;
  readonly #service: OrganizationClient;
  #prepared: Prepared | undefined;

  constructor(target: ProbeTarget) {
    this.#target = target;
    const { api: url, apiKey, withinMs: timeoutMs } = target;
    // A probe that repeats what failed would hide it.
    this.#service = new OrganizationClient({ url, apiKey, timeoutMs, attempts: 1 });
  }

  /** Probes once. Never rejects because of the service. @param withApproval whether the decision is part of it */
  async run(withApproval: boolean): Promise<readonly LegResult[]> {
    const mark = randomBytes(12).toString('hex');
    let prepared: Prepared | undefined;
    let unprepared = '';
    try {
      prepared = await this.#prepare();
    } catch (error) {
      unprepared = `API: ${reasonOf(error)}`;
    }
    const mailbox = async (): Promise<Prepared> => {
      if (prepared === undefined) throw new Error(unprepared);
      return prepared;
    };
    const smtp = await this.#leg('smtp', async () => this.#send((await mailbox()).address, mark));
    const legs = [
      this.#leg('imap', async (signal) => this.#read(await mailbox(), smtp.ok ? mark : undefined, signal)),
      this.#leg('webhook', async (signal) => this.#receive(await mailbox(), smtp.ok ? mark : undefined, signal)),
      ...(withApproval
        ? [this.#leg('approval', async (signal) => this.#decide((await mailbox()).mailboxId, mark, signal))]
        : []),
    ];
    return [smtp, ...(await Promise.all(legs))];
  }

  async #leg(leg: ProbeLeg, work: (signal: AbortSignal) => Promise<void>): Promise<LegResult> {
    const startedAt = performance.now();
    const seconds = () => (performance.now() - startedAt) / 1_000;
    try {
      await work(AbortSignal.timeout(this.#target.withinMs));
      return { leg, ok: true, seconds: seconds(), reason: null };
    } catch (error) {
      return { leg, ok: false, seconds: seconds(), reason: reasonOf(error) };
    }
  }

  async #prepare(): Promise<Prepared> {
    if (this.#prepared !== undefined) return this.#prepared;
    const { mailboxes } = this.#service;
    const fields = { localPart: `prober-${randomBytes(4).toString('hex')}`, name: 'Prober' };
    // The one of an earlier start has another name, and the same id of ours.
    const [known] = (await mailboxes.list({ limit: 100 })).data.filter(({ name }) => name === fields.name);
    const { id, address } = known ?? (await mailboxes.create({ ...fields, clientId: CLIENT_ID }));
    const { token } = await mailboxes.rotateToken(id);
    if (token === null) throw new Error('the mailbox of the prober has no token');
    const prepared = { mailboxId: id, address, token };
    this.#prepared = prepared;
    return prepared;
  }

  async #send(to: string, mark: string): Promise<void> {
    const { smtp, serverName, from, withinMs } = this.#target;
    const transport = createTransport({
      ...smtp,
      name: 'prober.invalid',
      connectionTimeout: withinMs,
      greetingTimeout: withinMs,
      socketTimeout: withinMs,
      // As most hosts: encrypted, with a certificate of any issuer. The leg by IMAP checks it.
      tls: { servername: serverName, rejectUnauthorized: false },
    });
    try {
      const subject = `${SUBJECT_BEGIN} ${mark}`;
      await transport.sendMail({ envelope: { from, to }, from, to, subject, text: `Sent by a prober: ${mark}\n` });
    } finally {
      transport.close();
    }
  }

  #read({ address, token }: Prepared, mark: string | undefined, signal: AbortSignal): Promise<void> {
    const { imap, serverName, ca } = this.#target;
    const reading = { user: address, token, subjectBegin: SUBJECT_BEGIN, mark };
    return readByImap({ ...imap, serverName, ca }, reading, signal);
  }

  /** @param mark of the mail whose event must come; undefined: a test event is asked for */
  async #receive({ mailboxId }: Prepared, mark: string | undefined, signal: AbortSignal): Promise<void> {
    const { webhooks } = this.#service;
    const { url } = await webhooks.openReceiver({ signal });
    const endpoints = (await webhooks.list({ limit: 100 }, { signal })).data.filter(
      ({ description }) => description === ENDPOINT_DESCRIPTION,
    );
    // Receivers last a day.
    for (const old of endpoints.filter((each) => each.url !== url)) await webhooks.delete(old.id, { signal });
    let endpoint = endpoints.find((each) => each.url === url);
    const isNew = endpoint === undefined;
    endpoint ??= await webhooks.create(
      { url, eventTypes: ['email_received'], mailboxId, description: ENDPOINT_DESCRIPTION },
      { signal },
    );
    // The event of a mail that came before the endpoint is not sent to it.
    const deliveryId =
      mark === undefined || isNew ? (await webhooks.trigger(endpoint.id, {}, { signal })).id : undefined;
    await this.#until('the webhook did not come', signal, async () => {
      const { requests } = await webhooks.receiver({ signal });
      const request = requests.find(({ headers, body }) =>
        deliveryId === undefined ? body.includes(mark ?? '') : headers['webhook-id'] === deliveryId,
      );
      if (request !== undefined && request.signature !== 'verified') throw new Error('the signature is not valid');
      return request !== undefined;
    });
  }

  async #decide(mailboxId: string, mark: string, signal: AbortSignal): Promise<void> {
    const mailbox = this.#service.mailbox(mailboxId);
    const { approveTo } = this.#target;
    const subject = `${SUBJECT_BEGIN} ${mark}`;
    const message = { to: approveTo ?? NOBODY, subject, text: `Sent by a prober: ${mark}\n` };
    const submitted = await mailbox.sendMessage(message, { signal });
    if (!submitted.held)
      throw new Error('the mail was not held: the organization of probes must ask for consent for first contacts');
    try {
      const { consents } = this.#service;
      if (approveTo === undefined) await consents.deny(submitted.consentId, 'A probe', { signal });
      else await consents.approve(submitted.consentId, { scope: 'message' }, { signal });
      await this.#until('the decision had no effect', signal, () => this.#ended(mailbox, submitted.id, signal));
    } finally {
      // What is left of it is the status, for as long as that of every sent message.
      await mailbox.deleteMessage(submitted.id, { permanent: true }).catch(() => {});
    }
  }

  async #ended(mailbox: MailboxClient, id: string, signal: AbortSignal): Promise<boolean> {
    const { status } = await mailbox.messageStatus(id, { signal });
    if (status === 'bounced' || status === 'suppressed') throw new Error(`the approved mail is ${status}`);
    return this.#target.approveTo === undefined ? status === 'denied' : status === 'sent' || status === 'captured';
  }

  /** Asks until it is so. @throws {Error} `otherwise`, at the end of the time */
  async #until(otherwise: string, signal: AbortSignal, isSo: () => Promise<boolean>): Promise<void> {
    try {
      while (!(await isSo())) await delay(ASKED_EVERY_MS, undefined, { signal });
    } catch (error) {
      throw signal.aborted ? new Error(`${otherwise} within ${this.#target.withinMs / 1_000} s`) : error;
    }
  }
}
