import type { StreamOrganizationEventsEvent } from './api-types.ts';
import { followStream, type StreamOptions } from './event-stream.ts';
import { type ClientOptions, credentialHeaders, HttpTransport, type OrganizationCredential } from './http.ts';
import { MailboxClient } from './mailbox-client.ts';
import { OperationCall } from './operation-call.ts';
import { Deputies, Keys, Members, Notices, Organizations, Sessions } from './organization/administration.ts';
import { Mailboxes, MailOfMailboxes } from './organization/mailboxes.ts';
import {
  Consents,
  DecisionRules,
  Domains,
  Lists,
  StandingApprovals,
  Suppressions,
} from './organization/sending-rules.ts';
import { Deliveries, Recoveries, Webhooks } from './organization/webhooks.ts';

export type OrganizationClientOptions = ClientOptions & OrganizationCredential;

/**
 * An organization, managed by an API key within its scopes, or by a person's session. Every method rejects with
 * {@link ApiError}.
 *
 *   const service = new OrganizationClient({ url: 'http://127.0.0.1:8080', apiKey: 'amk_…' });
 *   const { id, address } = await service.mailboxes.create({ localPart: 'hello' });
 *   const { data } = await service.mailbox(id).waitForMessages({ extract: 'otp' });
 */
export class OrganizationClient {
  readonly mailboxes: Mailboxes;
  readonly mail: MailOfMailboxes;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly recoveries: Recoveries;
  readonly consents: Consents;
  readonly lists: Lists;
  readonly standingApprovals: StandingApprovals;
  readonly decisionRules: DecisionRules;
  readonly deputies: Deputies;
  readonly suppressions: Suppressions;
  readonly domains: Domains;
  readonly members: Members;
  readonly keys: Keys;
  readonly sessions: Sessions;
  readonly notices: Notices;
  readonly organization: Organizations;
  readonly #options: OrganizationClientOptions;
  readonly #http: HttpTransport;
  readonly #call: OperationCall;

  constructor(options: OrganizationClientOptions) {
    this.#options = options;
    this.#http = new HttpTransport(options, credentialHeaders(options));
    this.#call = new OperationCall(this.#http);
    const call = this.#call;
    this.mailboxes = new Mailboxes(call);
    this.mail = new MailOfMailboxes(call);
    this.webhooks = new Webhooks(call);
    this.deliveries = new Deliveries(call);
    this.recoveries = new Recoveries(call);
    this.consents = new Consents(call);
    this.lists = new Lists(call);
    this.standingApprovals = new StandingApprovals(call);
    this.decisionRules = new DecisionRules(call);
    this.deputies = new Deputies(call);
    this.suppressions = new Suppressions(call);
    this.domains = new Domains(call);
    this.members = new Members(call);
    this.keys = new Keys(call);
    this.sessions = new Sessions(call);
    this.notices = new Notices(call);
    this.organization = new Organizations(call);
  }

  /** The mail of one of its mailboxes, with the credential of this client. */
  mailbox(mailboxId: string): MailboxClient {
    return new MailboxClient({ ...this.#options, mailboxId });
  }

  /**
   * What changes in the organization, by names and ids, across lost connections; ends when the signal aborts, or after
   * `closed`. Store the `id` of an event to continue after it later.
   */
  events(options: StreamOptions = {}): AsyncGenerator<StreamOrganizationEventsEvent, void, undefined> {
    return followStream<StreamOrganizationEventsEvent>(
      this.#http,
      this.#call.request('streamOrganizationEvents', []),
      options,
    );
  }
}
